internal import Model

/// The address of a requester: a known part, which becomes the bridge's url, and the path below it.
struct RequestAddress {
    /// The known beginning, up to the end of a whole path segment.
    let base: String
    /// The user and the password that the address has before the host; nil if it has none.
    let user: String?
    /// The parts of the path.
    let path: [Template.Part]
    /// The inputs in the base that have no value; the base has a placeholder for each.
    let placeholders: [Inputs.Open]

    /// - Throws: ``Untranslatable`` if the host is not known before a sync.
    init(_ requester: ConfigValue, _ scope: Scope, _ inputs: Inputs) throws {
        let given = requester["url"] ?? requester["url_base"]
        guard let given, given.isTruthy else { throw Untranslatable("its requester has no url_base") }
        var parts = try Template(given.printed, scope).parts
        let path = requester["path"]?.printed ?? ""
        if !path.isEmpty {
            var below = try Template(path, scope).parts
            if case .text(let text)? = below.first {
                if text.contains("://") { parts = [] }
                below[0] = .text(String(text.drop { $0 == "/" }))
            }
            if case .text(let text)? = parts.last { parts[parts.count - 1] = .text(Self.withoutSlash(text)) }
            parts += (parts.isEmpty ? [] : [.text("/")]) + below
        }
        var open: [Inputs.Open] = []
        var texts: [Template.Part] = []
        // Inputs in the host become placeholders; those in the path stay variables.
        for (index, part) in parts.enumerated() {
            var part = part
            let soFar = texts.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
            let isHost = !soFar.contains("://") || !soFar.drop(while: { $0 != ":" }).dropFirst(3).contains("/")
            if case .expression(let expression) = part {
                if let known = expression.known {
                    part = .text(known == .null ? "" : known.printed)
                } else if case .input(let input) = expression, isHost {
                    open.append(input)
                    var next = ""
                    if index + 1 < parts.count, case .text(let text) = parts[index + 1] { next = text }
                    let word = LocalNames.identifier(input.path.last ?? "host").replacing("_", with: "-").lowercased()
                    part = .text((soFar.isEmpty ? "https://" : "") + word + (next.hasPrefix(".") ? "" : ".example"))
                }
            }
            if case .text(let more) = part, case .text(let text)? = texts.last {
                texts[texts.count - 1] = .text(text + more)
            } else {
                texts.append(part)
            }
        }
        guard case .text(let first)? = texts.first else {
            throw Untranslatable("the address \(given.printed)\(path) is known only during a sync")
        }
        var text = Functions.trimmed(first)
        if !text.contains("://"), !text.hasPrefix("/"), !text.isEmpty { text = "https://" + text }
        guard let mark = text.firstRange(of: "://") else {
            throw Untranslatable("the address \(given.printed) is known only during a sync")
        }
        let authority = text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains(" ") else {
            throw Untranslatable("the address \(given.printed) has no host; give its inputs with --set")
        }
        (base, user) = LiteralCredentials.parts(String(text[..<authority.endIndex]))
        let rest = String(text[authority.endIndex...])
        self.path = (rest.isEmpty ? [] : [.text(rest)]) + texts.dropFirst()
        placeholders = open
    }

    /// Returns the path below a bridge's url, as for a login; nil if it is not known, or not below the url.
    func below(_ url: String) -> String? {
        guard base == url else { return nil }
        var text = ""
        for part in path {
            guard case .text(let piece) = part else { return nil }
            text += piece
        }
        return text
    }

    private static func withoutSlash(_ text: String) -> String {
        var text = Functions.trimmed(text)
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
