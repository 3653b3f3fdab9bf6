internal import Model

/// The names of inputs as parameters and environment variables: an input's name, or its whole path if two are equal.
///
/// A class, because all bridges of a connector share the environment.
final class InputNames {
    private var paths: [String: [String]] = [:]
    /// The credentials that the document holds literally.
    private var literals: [[String]: String] = [:]

    /// Returns the path of a credential that the document holds literally: equal ones share it, others have one each.
    ///
    /// - Parameter further: The path of another credential with the same path; nil for the same one with a number.
    func path(_ path: [String], or further: [String]? = nil, ofLiteral value: String) -> [String] {
        var own = path
        var number = further == nil ? 2 : 1
        while let other = literals[own], other != value {
            own = (further ?? path) + (number == 1 ? [] : [String(number)])
            number += 1
        }
        literals[own] = value
        return own
    }

    func name(of path: [String]) -> String {
        let long = LocalNames.identifier(path.isEmpty ? "input" : path.joined(separator: "_"))
        // A number alone says nothing.
        let short = path.last.flatMap { Int($0) == nil ? LocalNames.identifier($0) : nil } ?? long
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
