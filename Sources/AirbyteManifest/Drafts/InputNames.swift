internal import Model

/// The names of inputs as parameters and environment variables: an input's own name, or its whole path where two are alike.
///
/// A reference: all bridges of a connector share the environment.
final class InputNames {
    private var paths: [String: [String]] = [:]

    func name(of path: [String]) -> String {
        let short = LocalNames.identifier(path.last ?? "input")
        let long = LocalNames.identifier(path.isEmpty ? "input" : path.joined(separator: "_"))
        var name = claims(short, path) ? short : long
        var number = 2
        while !claims(name, path) {
            name = "\(long)_\(number)"
            number += 1
        }
        return name
    }

    /// Environment variables are upper-case, so that names which differ in their case only are alike.
    private func claims(_ name: String, _ path: [String]) -> Bool {
        let name = name.lowercased()
        if let owner = paths[name] { return owner == path }
        paths[name] = path
        return true
    }
}
