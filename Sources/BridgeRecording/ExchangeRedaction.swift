internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// Removes secrets from exchanges, identically when they are written and when they are looked up.
///
/// Known secrets are removed everywhere. Header fields, parameters, members and elements are removed if their names are
/// used only for secrets. Every text in the reply to a token request is removed, and is a known secret from then on.
final class ExchangeRedaction: Sendable {
    static let mark = "***"
    /// Header fields that hold credentials by definition or by convention, in lower case.
    private static let headers: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "x-access-token", "x-csrf-token",
        "x-amz-security-token", "x-amz-date", "x-amz-content-sha256", "api-key", "apikey",
    ]
    /// Header fields whose values differ in each request.
    private static let passing: Set<String> = ["idempotency-key", "x-request-id", "x-correlation-id", "traceparent"]
    /// Members and elements whose values differ in each request.
    private static let passingMembers: Set<String> = ["nonce"]
    /// Parameters whose values differ in each request.
    private static let passingParameters: Set<String> = ["nonce", "xamzdate"]
    /// Members of a token reply that are not secret.
    private static let harmless: Set<String> = ["tokentype", "scope", "expiresin", "error", "errordescription"]

    /// The least length of a text that is a secret only by its place, in bytes.
    private static let shortestToken = 8

    private let known: Mutex<SecretFinder>
    /// Header fields that the bridge's options name, in lower case.
    private let hidden = Mutex<Set<String>>([])
    private let learned = Mutex(0)

    init(secrets: [String]) {
        known = Mutex(
            SecretFinder(Set(secrets).filter(Self.isSecret).map { ($0, Self.mark) }, wholeWordsBelow: 0))
    }

    /// Whether a text is long enough to be a secret: removing one or two characters would destroy every text.
    private static func isSecret(_ text: String) -> Bool { text.utf8.count > 2 && !text.hasPrefix(mark) }

    /// Adds a known secret; returns its placeholder, which is the same each time.
    private func learn(_ secret: String) -> String {
        let bytes = Array(secret.utf8)
        let match = known.withLock { $0.matches(in: bytes).first }
        if let match, match.range == bytes.indices { return match.mark }
        let number = learned.withLock { count in
            count += 1
            return count
        }
        let mark = "\(Self.mark)\(number)"
        // The spelling in the body, and the unescaped value.
        let spellings = Set([secret, SecretFinder.unescaped(secret)]).filter(Self.isSecret)
        known.withLock { known in
            for spelling in spellings { known.add(spelling, mark: mark) }
        }
        return mark
    }

    /// Adds a known secret of the configuration.
    func hide(secret: String) {
        guard Self.isSecret(secret) else { return }
        known.withLock { $0.add(secret, mark: Self.mark) }
    }

    /// Adds the name of a header field whose values are removed.
    func hide(header: String) { hidden.withLock { _ = $0.insert(header.lowercased()) } }

    private func isHidden(_ name: String) -> Bool { hidden.withLock { $0.contains(name.lowercased()) } }

    /// Adds the credentials that a reply's header fields give as known secrets.
    func learn(from headers: [Exchange.Field]) {
        for field in headers {
            if isHidden(field.name) {
                _ = mark(of: field.value)
            } else if let given = Self.credential(of: field) {
                _ = placeholder(of: given)
            }
        }
    }

    /// Returns the cookie's value, token or key in a reply's header field; nil if its name promises none.
    private static func credential(of field: Exchange.Field) -> String? {
        let name = field.name.lowercased()
        if name == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }
            return pair.firstIndex(of: "=").map { String(pair[pair.index(after: $0)...]) }
        }
        guard SecretNames.suggests(name) || name.contains("session") else { return nil }
        // As in `Bearer TOKEN`.
        let words = field.value.split(separator: " ")
        return words.count < 3 ? words.last.map { String($0) } : nil
    }

    /// Returns the placeholder of a credential in a header field.
    ///
    /// A short text, such as a cookie's `true`, or a number occurs in other texts, so it is not searched for elsewhere.
    private func placeholder(of credential: String) -> String {
        let text = credential.filter { $0 != "\"" }
        let isNumber = text.utf8.allSatisfy { "0123456789.-".utf8.contains($0) }
        return isNumber || text.utf8.count < Self.shortestToken ? Self.mark : learn(text)
    }

    /// Returns the placeholder of a value.
    ///
    /// Equal values have equal placeholders, because a replay must tell a new value from the last one.
    private func mark(of value: String) -> String {
        let known = clean(value)
        return known == value ? learn(value) : known
    }

    /// Returns the text without known secrets.
    func clean(_ text: String) -> String { known.withLock { $0 }.replacing(in: text) }

    /// Returns the text without known secrets and fragments of them: a remote may echo a secret in two parts.
    private func mask(_ text: String) -> String { SecretFinder.masking(text, [known.withLock { $0 }]) }

    /// Returns the bytes with each known secret overwritten in place: a format with lengths stays readable.
    func clean(_ bytes: [UInt8]) -> [UInt8] {
        var clean = bytes
        for match in known.withLock({ $0 }).matches(in: bytes) {
            for index in match.range { clean[index] = UInt8(ascii: "*") }
        }
        return clean
    }

    /// Returns a URL or path without user info, secret parameters and known secrets.
    func clean(target: String) -> String {
        var text = target
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") { text.removeSubrange(scheme.upperBound...at) }
        }
        if let mark = text.firstIndex(of: "?") {
            text = text[...mark] + parameters(text[text.index(after: mark)...])
        }
        return clean(text)
    }

    /// Returns the fields that are part of the request, by name, without credentials and values that differ in each
    /// request.
    func clean(_ headers: [Exchange.Field], isReply: Bool = false) -> [Exchange.Field] {
        headers.map { field in
            let name = field.name.lowercased()
            if isHidden(name) { return Exchange.Field(field.name, isReply ? mark(of: field.value) : Self.mark) }
            if name == "set-cookie" { return Exchange.Field(field.name, cookie(field)) }
            if Self.headers.contains(name) || SecretNames.isHeader(name) {
                let given = isReply ? Self.credential(of: field) : nil
                return Exchange.Field(field.name, given.map(placeholder) ?? Self.mark)
            }
            if Self.passing.contains(name) { return Exchange.Field(field.name, "(another each time)") }
            return Exchange.Field(field.name, clean(field: field.value))
        }.sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
    }

    private func cookie(_ field: Exchange.Field) -> String {
        guard let value = Self.credential(of: field) else { return Self.mark }
        let name = field.value.prefix { $0 != "=" }
        let attributes = field.value.drop { $0 != ";" }
        return "\(name)=\(placeholder(of: value))\(attributes)"
    }

    /// Returns a header field's value without known secrets, and its URLs without user info and secret parameters.
    ///
    /// A field may have several URLs, and text after them, as `Link` has.
    private func clean(field value: String) -> String {
        var text = ""
        var rest = value[...]
        while let scheme = rest.firstRange(of: "://") {
            text += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let authority = rest.prefix { !"/?#<>\" ".contains($0) }
            if let at = authority.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        }
        text += rest
        return clean(Self.withoutParameters(text, isField: true))
    }

    /// Formats a body and removes its secrets.
    ///
    /// All secrets of a request get the same placeholder. Those of a reply get distinct ones, so that they can be told
    /// apart.
    ///
    /// - Parameters:
    ///   - isReply: Whether the body came from the remote.
    ///   - isToken: Whether it answers a token request: every text in it may be a token.
    func clean(body bytes: [UInt8], type: String, isReply: Bool, isToken: Bool = false) -> ExchangeFile.Body {
        if type.lowercased().hasPrefix("application/x-www-form-urlencoded"),
            let text = String(validUTF8: bytes)
        {
            return text.isEmpty ? .none : .text(clean(parameters(text[...])))
        }
        // Text that is not data, such as an error page or broken JSON; pieces of secrets in data may be a coincidence.
        let masks = isReply && !type.lowercased().hasPrefix("text/csv")
        let body = ExchangeText.body(bytes, plain: { masks ? mask($0) : $0 }) { name, value, isNumber in
            let plain = SecretNames.plain(name.split(separator: ":").last.map(String.init) ?? name)
            if SecretNames.certain.contains(plain) || Self.passingMembers.contains(plain) {
                // The digits of a number also occur in other numbers, so it is not searched for elsewhere.
                return value.isEmpty ? nil : isReply && !isNumber ? self.learn(value) : Self.mark
            }
            if isNumber { return nil }
            // Timestamps of WS-Security, which differ in each request.
            if name == "wsu:Created" || name == "wsu:Expires" { return Self.mark }
            // WS-Addressing's message identifier.
            if plain == "messageid" { return Self.mark }
            guard isToken, value.utf8.count >= Self.shortestToken, !Self.harmless.contains(plain) else { return nil }
            return self.learn(value)
        }
        return switch body {
        case .none: .none
        case .text(let text): .text(clean(Self.withoutParameters(text)))
        case .bytes(let bytes): .bytes(clean(bytes))
        }
    }

    /// Removes the values of secret parameters from the URLs in a text.
    ///
    /// - Parameter isField: Whether the text is a header field's value, in which URLs end otherwise than in a body.
    private static func withoutParameters(_ text: String, isField: Bool = false) -> String {
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "=") && index >= start {
            var name = bytes[start..<index].suffix(60).reversed().prefix { isNameByte($0) }.reversed()[...]
            let before = index - name.count - 1
            guard before >= 0 else { continue }
            // An ampersand may be escaped for JSON.
            let escape = Array("u0026".utf8)
            if bytes[before] == UInt8(ascii: "\\"), name.map({ $0 | 0x20 }).starts(with: escape.map { $0 | 0x20 }) {
                name = name.dropFirst(escape.count)
            } else if !"?&;#".utf8.contains(bytes[before]) {
                continue
            }
            let text = String(decoding: name, as: UTF8.self)
            guard isSecretParameter(text), isField || !["code", "session"].contains(SecretNames.plain(text))
            else { continue }
            let end = isField ? "&\"<>#" : "&\"'<>\\;#,)"
            var value = bytes[(index + 1)...].prefix { $0 > 0x20 && !end.utf8.contains($0) }
            // What separates a list's members belongs to the list.
            while isField, let last = value.last, ",;".utf8.contains(last) { value.removeLast() }
            guard !value.isEmpty else { continue }
            out += bytes[start...index] + Array(mark.utf8)
            start = value.endIndex
        }
        return start == 0 ? text : String(decoding: out + bytes[start...], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Returns a body that must stay byte-exact, as text if that preserves all bytes.
    func clean(exact bytes: [UInt8]) -> ExchangeFile.Body {
        let bytes = clean(bytes)
        if bytes.isEmpty { return .none }
        guard !bytes.contains(0x0D), !bytes.contains(0), let text = String(validUTF8: bytes) else {
            return .bytes(bytes)
        }
        return .text(text)
    }

    private func parameters(_ query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            return Self.isSecretParameter(pair[..<equals]) ? pair[...equals] + Self.mark : String(pair)
        }.joined(separator: "&")
    }

    private static func isSecretParameter(_ name: some StringProtocol) -> Bool {
        SecretNames.isParameter(name) || passingParameters.contains(SecretNames.plain(name))
    }
}
