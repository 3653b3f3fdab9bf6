internal import BridgeJSON
internal import Inference
internal import TextFormats

/// Tells by their names which values of a request are credentials, so that no draft has them.
enum SecretGuess {
    /// Words beside "token" that make it a place in a listing, a number of tokens or a kind of them.
    private static let others: Set<String> = [
        "page", "next", "continuation", "continue", "skip", "sync", "delta", "resumption", "resume", "cursor", "scroll",
        "max", "type",
    ]
    /// Texts in a body with these names are credentials too; `key` and `code` are often something else there.
    private static let members: Set<String> = ["auth", "sig", "signature"]

    /// Last words of the names of header fields whose values are credentials too.
    private static let fields: Set<String> = ["key", "pass", "pin", "license", "sig"]

    /// Whether the value of a header field is a credential.
    static func isHeader(_ name: String) -> Bool {
        SecretNames.isHeader(name) || NameWords.lower(name).last.map(fields.contains) ?? false
    }

    /// Whether the value of a parameter in the query is a credential.
    static func isParameter(_ name: String) -> Bool { SecretNames.suggestsParameter(name) && !isOther(name) }

    /// Whether a text in a body is a credential.
    static func isMember(_ name: String) -> Bool {
        members.contains(SecretNames.plain(name)) || SecretNames.suggests(name) && !isOther(name)
    }

    private static func isOther(_ name: String) -> Bool {
        let plain = SecretNames.plain(name)
        if SecretNames.certain.contains(plain) { return false }
        for word in others where plain.hasSuffix(word + "token") || [word + "tokens", "token" + word].contains(plain) {
            return true
        }
        return !others.isDisjoint(with: NameWords.lower(name))
    }

    /// Whether a listing's parameter is a credential: one that the request must have, and whose value is free.
    static func isCredential(_ parameter: QueryParameter) -> Bool {
        guard parameter.isRequired, isParameter(parameter.name), parameter.shape.values.isEmpty else { return false }
        let solid = parameter.shape.solid
        let isCertain = SecretNames.certain.contains(SecretNames.plain(parameter.name))
        let kinds: Set<ValueShape.Kind> = isCertain ? [.string, .integer, .number] : [.string]
        return solid.isSubset(of: kinds)
    }

    /// Returns the variable of a section for a credential, which the bridge's options list under `parameters`.
    ///
    /// - Parameter path: The names that lead to the credential: one of a parameter, several of a member.
    static func variable(_ path: [String]) -> String {
        let words = path.flatMap { NameWords.split($0, isASCII: true) }.map { $0.lowercased() }
        return words.isEmpty ? "secret" : words.joined(separator: "_")
    }

    /// Returns a body with variables in place of its credentials.
    ///
    /// - Parameters:
    ///   - path: The names that lead to the body's place; numbers for elements.
    ///   - found: Receives the path of each credential.
    ///   - variable: Returns the variable for a path.
    static func hiding(
        _ body: JSONTree, at path: [String] = [], _ found: inout [[String]], variable: ([String]) -> String
    ) -> JSONTree {
        let name = path.last { Int($0) == nil } ?? ""
        switch body {
        case .object(let members):
            var all: [(String, JSONTree)] = []
            for (name, value) in members.all {
                all.append((name, hiding(value, at: path + [name], &found, variable: variable)))
            }
            return .object(all)
        case .array(let elements):
            var all: [JSONTree] = []
            for (index, element) in elements.enumerated() {
                let place = elements.count > 1 ? path + [String(index + 1)] : path
                all.append(hiding(element, at: place, &found, variable: variable))
            }
            return .array(all)
        case .text(let text) where !text.isEmpty && isMember(name):
            if !found.contains(path) { found.append(path) }
            return .text("{\(variable(path))}")
        // A number of `max_tokens` is none, that of `password` is one.
        case .number where SecretNames.certain.contains(SecretNames.plain(name)):
            if !found.contains(path) { found.append(path) }
            return .text("{\(variable(path))}")
        case .null, .bool, .number, .text: return body
        }
    }
}
