internal import TextFormats

/// Warns of literal texts where requests carry secrets: in headers, parameters and members of bodies with telling names,
/// and in URLs.
///
/// Only a warning, because a name is a hint, and some such values are public.
struct LiteralSecrets {
    private(set) var diagnostics: [Diagnostic] = []
    private let file: ConfigurationFile

    init(_ configuration: Configuration, _ file: ConfigurationFile) {
        self.file = file
        for bridge in configuration.bridges {
            let what = "bridge \(quoted(bridge.name))"
            look(at: bridge.options, ["bridges", bridge.name, "options"], of: what, at: bridge.location)
        }
        for entity in configuration.model.entities {
            let home = ["entities", entity.name]
            let what = "entity \(quoted(entity.name))"
            let plugin = configuration.bridge(named: entity.bridge)?.plugin ?? ""
            look(at: entity.section, home + [plugin], of: what, at: entity.location)
            look(at: entity.readOne ?? .null, home + ["read_one"], of: "\(what), read_one", at: entity.location)
            for source in entity.sources {
                let plugin = configuration.bridge(named: source.bridge)?.plugin ?? ""
                look(
                    at: source.section, home + ["sources", source.name, plugin],
                    of: "\(what), source \(quoted(source.name))", at: source.location)
            }
        }
    }

    /// Checks `headers`, `query` and bodies, and the queries of URLs and of `path`, at any depth.
    private mutating func look(at value: ConfigValue, _ path: [String], of what: String, at place: SourceLocation) {
        for (name, member) in value.members ?? [] {
            let path = path + [name]
            switch (name, member) {
            case ("headers", .object(let fields)), ("query", .object(let fields)):
                for (field, value) in fields {
                    guard let text = value.string, Self.isSecret(field, text, isHeader: name == "headers") else {
                        continue
                    }
                    warn("\(quoted(field)) under \(name) of \(what)", path + [field], place)
                }
            case ("body", .object), ("body", .array), ("variables", .object):
                look(inBody: member, path, under: name, of: what, at: place)
            case ("url", .string(let text)), ("path", .string(let text)), ("wsdl", .string(let text)),
                ("endpoint", .string(let text)):
                for field in Self.secretParameters(of: text) {
                    warn("\(quoted(field)) in the query of \(name) of \(what)", path, place)
                }
            default: look(at: member, path, of: what, at: place)
            }
        }
    }

    /// Checks the members of a body at any depth.
    private mutating func look(
        inBody value: ConfigValue, _ path: [String], under body: String, of what: String, at place: SourceLocation
    ) {
        for (name, member) in value.members ?? [] {
            let path = path + [name]
            if let text = member.string, SecretNames.certain.contains(SecretNames.plain(name)),
                Self.isSecret(name, text, isHeader: false)
            {
                warn("\(quoted(name)) under \(body) of \(what)", path, place)
            }
            look(inBody: member, path, under: body, of: what, at: place)
        }
        for (index, element) in (value.array ?? []).enumerated() {
            look(inBody: element, path + ["\(index)"], under: body, of: what, at: place)
        }
    }

    private mutating func warn(_ place: String, _ path: [String], _ fallback: SourceLocation) {
        diagnostics.append(
            Diagnostic(
                location: file.location(of: path) ?? fallback, severity: .warning,
                message: "\(place) looks like a secret in this file",
                remedy:
                    "let it come from {env: NAME} or {file: PATH}: under auth of the bridge's options, or under their "
                    + "parameters, as NAME, which is {NAME} in a section"))
    }

    private static func isSecret(_ name: String, _ value: String, isHeader: Bool) -> Bool {
        // A placeholder refers to a value elsewhere.
        guard !value.isEmpty, !value.contains("{") else { return false }
        let plain = SecretNames.plain(name)
        // `key` has many meanings, but a long value is usually a secret.
        if plain == "key" { return value.utf8.count >= 16 }
        if isHeader { return ["cookie", "sig", "signature"].contains(plain) || SecretNames.suggests(plain) }
        return SecretNames.certain.contains(plain) || ["sig", "signature"].contains(plain)
    }

    private static func secretParameters(of url: String) -> [String] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 && isSecret(parts[0], parts[1], isHeader: false) ? parts[0] : nil
        }
    }
}
