internal import Model

/// The names of inputs as parameters and environment variables: an input's name, or its whole path if two are equal.
///
/// A class, because all bridges of a connector share the environment.
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

    /// Environment variables are in upper case, so names that differ only in case are equal.
    private func claims(_ name: String, _ path: [String]) -> Bool {
        let name = name.lowercased()
        if let owner = paths[name] { return owner == path }
        paths[name] = path
        return true
    }
}
