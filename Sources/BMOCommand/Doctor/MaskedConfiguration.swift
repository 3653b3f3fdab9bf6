internal import BMO
internal import Foundation
internal import Model
internal import TextFormats

/// A configuration for a support request: its structure, without values that are or may be secrets.
///
/// Of the options of bridges, and of header fields, parameters and bodies anywhere, only numbers, Booleans and the words
/// of closed sets are shown; a URL is shown up to its host. Comments are left out.
struct MaskedConfiguration {
    /// The configuration as YAML.
    private(set) var text = ""
    /// What was masked, and the secrets that the file refers to; they must not show elsewhere either.
    private(set) var secrets: Set<String> = []

    private let directory: String

    /// Objects whose values may be secrets whatever their names are.
    private static let hiding: Set = [
        "options", "headers", "query", "body", "next_body", "form", "cookies", "parameters", "variables", "params",
        "input", "soap_headers", "request_fields",
    ]
    /// Members of such objects whose values are words of closed sets.
    private static let open: Set = ["type", "algorithm", "method", "format", "style", "encoding", "isolation", "in"]
    private static let mark = "***"

    /// - Parameter directory: The folder in which relative paths of secrets begin.
    init(_ value: ConfigValue, directory: String) {
        self.directory = directory
        write(value, name: "", isHidden: false, isSecret: false, indent: "")
    }

    // MARK: Structure

    private mutating func write(
        _ value: ConfigValue, name: String, isHidden: Bool, isSecret: Bool, indent: String
    ) {
        if let reference = reference(value) {
            learn(reference)
            text += " \(reference)\n"
            return
        }
        switch value {
        case .object(let members) where !members.isEmpty:
            if !text.isEmpty, text.last != "\n" { text += "\n" }
            for (key, member) in members {
                text += "\(indent)\(Self.key(key)):"
                let isSecret = isSecret || SecretNames.suggests(key) || isHidden && SecretNames.isHeader(key)
                write(
                    member, name: key, isHidden: isHidden || Self.hiding.contains(key), isSecret: isSecret,
                    indent: indent + "  ")
            }
        case .array(let elements) where !elements.isEmpty:
            if !text.isEmpty, text.last != "\n" { text += "\n" }
            for element in elements {
                text += "\(indent)-"
                write(element, name: name, isHidden: isHidden, isSecret: isSecret, indent: indent + "  ")
            }
        default: text += " \(scalar(value, name: name, isHidden: isHidden, isSecret: isSecret))\n"
        }
    }

    private mutating func scalar(_ value: ConfigValue, name: String, isHidden: Bool, isSecret: Bool) -> String {
        switch value {
        case .null: return "null"
        case .object: return "{}"
        case .array: return "[]"
        case .bool(let value): return String(value)
        case .int(let number): return isSecret ? hide(String(number), from: 4) : String(number)
        case .double(let number): return isSecret ? hide("\(number)", from: 4) : "\(number)"
        case .decimal(let number): return isSecret ? hide(number, from: 4) : number
        case .secret(let reference): return reference.description
        case .string(let text):
            // The type of `auth` is not a secret, although everything else there may be.
            if isHidden, Self.open.contains(name), text.wholeMatch(of: /[a-zA-Z0-9_]{1,24}/) != nil { return text }
            if isSecret { return hide(text, from: 4) }
            if text.contains("://") { return shown(url: text, isHidden: isHidden || name == "database").jsonQuoted }
            return isHidden ? hide(text, from: 8) : shown(text).jsonQuoted
        }
    }

    private static func key(_ name: String) -> String {
        name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_-]*/) != nil ? name : name.jsonQuoted
    }

    // MARK: Secrets

    /// Masks a value here, and elsewhere too if it is so long that it is not just any word.
    private mutating func hide(_ value: String, from length: Int) -> String {
        if value.utf8.count >= length { secrets.insert(value) }
        return Self.mark
    }

    private func reference(_ value: ConfigValue) -> SecretReference? {
        guard case .object(let members) = value, members.count == 1, let member = members.first,
            let text = member.value.string
        else { return nil }
        return Self.reference(member.key, text)
    }

    private static func reference(_ kind: some StringProtocol, _ name: String) -> SecretReference? {
        switch kind {
        case "env": .env(name)
        case "file": .file(name)
        default: nil
        }
    }

    private mutating func learn(_ reference: SecretReference) {
        let secret = try? reference.resolve(relativeTo: directory, environment: Workspace.environment)
        if let secret, !ConfigEncoder.isPlainURL(secret) { secrets.insert(secret) }
    }

    /// Returns the part of a URL that may be shown: the scheme and the host.
    private mutating func shown(url: String, isHidden: Bool) -> String {
        for match in url.matches(of: /\{(env|file): *([^}]+)\}/) {
            if let reference = Self.reference(match.1, String(match.2)) { learn(reference) }
        }
        guard isHidden || url.contains("@") || url.contains("?"),
            let match = url.wholeMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*:\/\/)(?:(.*)@)?([^\/?#@]*)(.*)/)
        else { return isHidden ? hide(url, from: 8) : url }
        if let user = match.2 {
            for part in user.split(separator: ":") { _ = hide(String(part), from: 4) }
        }
        for value in match.4.split(whereSeparator: { "?&#".contains($0) }).dropFirst() {
            _ = hide(value.split(separator: "=", maxSplits: 1).last.map(String.init) ?? "", from: 4)
        }
        return match.1 + (match.2 == nil ? "" : "\(Self.mark)@") + match.3 + (match.4.isEmpty ? "" : "/\(Self.mark)")
    }

    /// Returns a text outside of options, without the query of a path, which may begin without a slash.
    private mutating func shown(_ text: String) -> String {
        guard let mark = text.firstIndex(of: "?"), text[mark...].contains("=") else { return text }
        for value in text[mark...].split(whereSeparator: { "?&".contains($0) }) {
            _ = hide(value.split(separator: "=", maxSplits: 1).last.map(String.init) ?? "", from: 8)
        }
        return "\(text[...mark])\(Self.mark)"
    }
}
