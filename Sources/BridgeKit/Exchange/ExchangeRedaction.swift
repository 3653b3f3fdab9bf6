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
        "binarysecuritytoken", "nonce",
    ]
    /// Further names of parameters in URLs and forms.
    private static let parameters: Set<String> = [
        "key", "token", "auth", "authorization", "signature", "sig", "code", "session", "credential", "xamzsignature",
        "xamzcredential", "xamzsecuritytoken", "xamzdate",
    ]
    /// What a reply with a token tells besides.
    private static let harmless: Set<String> = ["tokentype", "scope", "expiresin", "error", "errordescription"]

    /// Each form of a secret, the longest first, with what stands for it.
    private let known: Mutex<[(form: String, mark: String)]>
    private let learned = Mutex(0)

    init(secrets: [String]) {
        known = Mutex(Self.sorted(secrets.flatMap { Self.forms(of: $0, mark: Self.mark) }))
    }

    private static func sorted(_ forms: [(form: String, mark: String)]) -> [(form: String, mark: String)] {
        forms.sorted { ($1.form.utf8.count, $0.form) < ($0.form.utf8.count, $1.form) }
    }

    private static func forms(of secret: String, mark: String) -> [(form: String, mark: String)] {
        // A secret of one or two characters would tear every text apart and is none anyway.
        guard secret.utf8.count > 2, !secret.hasPrefix(Self.mark) else { return [] }
        var json = ""
        json.appendJSONString(secret)
        let xml = secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        let base64 = Array(secret.utf8).withUnsafeBytes { Base64.encode($0) }
        return Set([secret, String(json.dropFirst().dropLast()), xml, percentEncoded(secret), base64]).map {
            ($0, mark)
        }
    }

    private static func percentEncoded(_ text: String) -> String {
        let kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8
        return text.utf8.map { byte in
            kept.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    /// Takes this out from now on, too; what stands for it.
    private func learn(_ secret: String) -> String {
        let number = learned.withLock { count in
            count += 1
            return count
        }
        let mark = "\(Self.mark)\(number)"
        known.withLock { $0 = Self.sorted($0 + Self.forms(of: secret, mark: mark)) }
        return mark
    }

    /// The text without known secrets.
    func clean(_ text: String) -> String {
        var text = text
        for (form, mark) in known.withLock({ $0 }) where text.contains(form) { text.replace(form, with: mark) }
        return text
    }

    /// The bytes without known secrets, each overwritten: a format with lengths stays readable.
    func clean(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for (form, _) in known.withLock({ $0 }) {
            let form = Array(form.utf8)
            var start = 0
            while let range = bytes[start...].firstRange(of: form) {
                bytes.replaceSubrange(range, with: repeatElement(UInt8(ascii: "*"), count: form.count))
                start = range.upperBound
            }
        }
        return bytes
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
    func clean(_ headers: [Exchange.Field]) -> [Exchange.Field] {
        headers.map { field in
            let name = field.name.lowercased()
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
        let body = ExchangeText.body(bytes) { name, value in
            let plain = Self.plain(name.split(separator: ":").last.map(String.init) ?? name)
            if Self.names.contains(plain) { return value.isEmpty ? nil : isReply ? self.learn(value) : Self.mark }
            // WS-Security's timestamps, which no two requests share.
            if name == "wsu:Created" || name == "wsu:Expires" { return Self.mark }
            // WS-Addressing's message identifier.
            if plain == "messageid" { return Self.mark }
            guard isToken, value.utf8.count >= 8, !Self.harmless.contains(plain) else { return nil }
            return self.learn(value)
        }
        return switch body {
        case .none: .none
        case .text(let text): .text(clean(text))
        case .bytes(let bytes): .bytes(clean(bytes))
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
