internal import RecordBatch
internal import Synchronization

/// Takes secrets out of exchanges, in the same way when they are written as when they are looked up.
///
/// Known secrets go wherever they stand; header fields, parameters, members and elements go by names that are only used for
/// secrets. What a reply to a request for a token brings goes as a whole, and is known from then on.
final class ExchangeRedaction: Sendable {
    static let mark = "***"
    /// Header fields that hold credentials by definition or by custom, in lower case.
    private static let headers: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "x-access-token", "x-csrf-token",
        "x-amz-security-token", "x-amz-date", "x-amz-content-sha256", "api-key", "apikey",
    ]
    private static let headerHints = ["auth", "token", "secret", "password", "session", "signature", "credential"]
    /// Header fields that differ each time.
    private static let passing: Set<String> = ["idempotency-key", "x-request-id", "x-correlation-id", "traceparent"]
    /// Members, elements and parameters; in lower case, without `-` and `_`.
    private static let names: Set<String> = [
        "accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken", "sessionid", "apikey", "apitoken",
        "password",
        "passwd", "pwd", "secret", "clientsecret", "secretkey", "privatekey", "clientassertion", "assertion", "jwt",
        "binarysecuritytoken", "nonce", "token", "authorization", "secretaccesskey", "sessionkey", "xapikey",
    ]
    /// Further names of parameters in URLs and forms.
    private static let parameters: Set<String> = [
        "key", "token", "auth", "authorization", "signature", "sig", "code", "session", "credential", "xamzsignature",
        "xamzcredential", "xamzsecuritytoken", "xamzdate",
    ]
    /// What a reply with a token tells besides.
    private static let harmless: Set<String> = ["tokentype", "scope", "expiresin", "error", "errordescription"]

    private let known: Mutex<SecretFinder>
    /// Header fields that the bridge's options name, in lower case.
    private let hidden = Mutex<Set<String>>([])
    private let learned = Mutex(0)

    init(secrets: [String]) {
        known = Mutex(
            SecretFinder(Set(secrets).filter(Self.isSecret).map { ($0, Self.mark) }, wholeWordsBelow: 0))
    }

    /// A secret of one or two characters would tear every text apart and is none anyway.
    private static func isSecret(_ text: String) -> Bool { text.utf8.count > 2 && !text.hasPrefix(mark) }

    /// Takes this out from now on, too; what stands for it.
    private func learn(_ secret: String) -> String {
        let number = learned.withLock { count in
            count += 1
            return count
        }
        let mark = "\(Self.mark)\(number)"
        // As the body spells it, and as it means it.
        let spellings = Set([secret, SecretFinder.unescaped(secret)]).filter(Self.isSecret)
        known.withLock { known in
            for spelling in spellings { known.add(spelling, mark: mark) }
        }
        return mark
    }

    /// Strikes out a header field of this name from now on, too.
    func hide(header: String) { hidden.withLock { _ = $0.insert(header.lowercased()) } }

    private func isHidden(_ name: String) -> Bool { hidden.withLock { $0.contains(name.lowercased()) } }

    /// Takes what a reply's hidden header fields hold out from now on, too.
    func learn(from headers: [Exchange.Field]) {
        for field in headers where isHidden(field.name) { _ = mark(of: field.value) }
    }

    /// What stands for a value: the same for the same one, as a replay has to tell a new one from the last.
    private func mark(of value: String) -> String {
        let known = clean(value)
        return known == value ? learn(value) : known
    }

    /// The text without known secrets.
    func clean(_ text: String) -> String { known.withLock { $0 }.replacing(in: text) }

    /// The bytes without known secrets, each overwritten: a format with lengths stays readable.
    func clean(_ bytes: [UInt8]) -> [UInt8] {
        var clean = bytes
        for match in known.withLock({ $0 }).matches(in: bytes) {
            for index in match.range { clean[index] = UInt8(ascii: "*") }
        }
        return clean
    }

    /// A URL or path without user info, secret parameters and known secrets.
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

    /// The fields that say what is asked, by name, without credentials and what differs each time.
    func clean(_ headers: [Exchange.Field], isReply: Bool = false) -> [Exchange.Field] {
        headers.map { field in
            let name = field.name.lowercased()
            if isHidden(name) { return Exchange.Field(field.name, isReply ? mark(of: field.value) : Self.mark) }
            if name == "set-cookie" { return Exchange.Field(field.name, cookie(field.value)) }
            if Self.headers.contains(name) || Self.headerHints.contains(where: { name.contains($0) }) {
                return Exchange.Field(field.name, Self.mark)
            }
            if Self.passing.contains(name) { return Exchange.Field(field.name, "(another each time)") }
            return Exchange.Field(field.name, clean(target: field.value))
        }.sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }
    }

    private func cookie(_ value: String) -> String {
        let parts = value.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return Self.mark }
        let mark = learn(String(pair[pair.index(after: equals)...]))
        return pair[...equals] + mark + (parts.count > 1 ? ";" + parts[1] : "")
    }

    /// A body, laid out, without secrets.
    ///
    /// What a request sends is struck out alike each time, what a reply brings so that one secret can be told from another.
    ///
    /// - Parameters:
    ///   - isReply: It came from the remote.
    ///   - isToken: It answers a request for a token: every text in it may be one.
    func clean(body bytes: [UInt8], type: String, isReply: Bool, isToken: Bool = false) -> ExchangeFile.Body {
        if type.lowercased().hasPrefix("application/x-www-form-urlencoded"),
            let text = String(validating: bytes, as: UTF8.self)
        {
            return text.isEmpty ? .none : .text(clean(parameters(text[...])))
        }
        let body = ExchangeText.body(bytes) { name, value, isNumber in
            let plain = Self.plain(name.split(separator: ":").last.map(String.init) ?? name)
            if Self.names.contains(plain) {
                // A number's digits stand in other numbers, too: it is not looked for elsewhere.
                return value.isEmpty ? nil : isReply && !isNumber ? self.learn(value) : Self.mark
            }
            if isNumber { return nil }
            // WS-Security's timestamps, which no two requests share.
            if name == "wsu:Created" || name == "wsu:Expires" { return Self.mark }
            // WS-Addressing's message identifier.
            if plain == "messageid" { return Self.mark }
            guard isToken, value.utf8.count >= 8, !Self.harmless.contains(plain) else { return nil }
            return self.learn(value)
        }
        return switch body {
        case .none: .none
        case .text(let text): .text(clean(Self.withoutParameters(text)))
        case .bytes(let bytes): .bytes(clean(bytes))
        }
    }

    /// A text whose URLs have no values of parameters that are secrets by their names.
    private static func withoutParameters(_ text: String) -> String {
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
            let plain = plain(String(decoding: name, as: UTF8.self))
            guard names.contains(plain) || parameters.contains(plain), !["code", "session"].contains(plain) else {
                continue
            }
            let value = bytes[(index + 1)...].prefix { $0 > 0x20 && !"&\"'<>\\;#,)".utf8.contains($0) }
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

    /// A body whose bytes count, as text where that keeps them all.
    func clean(exact bytes: [UInt8]) -> ExchangeFile.Body {
        let bytes = clean(bytes)
        if bytes.isEmpty { return .none }
        guard !bytes.contains(0x0D), !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            return .bytes(bytes)
        }
        return .text(text)
    }

    private func parameters(_ query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
            let name = Self.plain(String(pair[..<equals]))
            let isSecret = Self.names.contains(name) || Self.parameters.contains(name)
            return isSecret ? pair[...equals] + Self.mark : String(pair)
        }.joined(separator: "&")
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
}
