internal import Digests
package import Model
internal import TextFormats
package import WebServer

/// The check of a webhook's signature against one hook's secret.
package struct HookSignature: Sendable {
    /// The result of a check.
    package enum Verdict: Sendable, Equatable {
        /// The signature is right.
        case valid(Proof)
        /// The request lacks the signature, or the time that it covers.
        case missing
        /// The signature is not that of the body and the secret.
        case wrong
        /// The signature is right, but covers a time that stands in the body.
        case timeInBody
        /// The signature is right, but the time is not a time.
        case noTime
        /// The signature is right, but the request was sent too long ago, or in the future.
        case late
    }

    /// A right signature.
    package struct Proof: Sendable, Equatable {
        /// The signature in hexadecimal digits.
        package let code: String
        /// When it was sent, in seconds since 1970; nil if the sender gives no time.
        package let sent: Int64?
    }

    /// How far the time of sending may differ from the time here, in seconds.
    package static let tolerance: Int64 = 300

    private let configuration: HookConfiguration
    private let secret: @Sendable () -> String

    /// Creates a check.
    ///
    /// - Parameter secret: The secret, which is asked for with each request.
    package init(_ configuration: HookConfiguration, secret: @escaping @autoclosure @Sendable () -> String) {
        self.configuration = configuration
        self.secret = secret
    }

    /// Checks a request.
    ///
    /// - Parameter now: The time here, in seconds since 1970.
    package func verdict(on request: WebRequest, now: Int64) -> Verdict {
        guard let field = request.header(configuration.signature.lowercased()) else { return .missing }
        if let signed = Self.timedCodes(in: field) { return verdict(on: request, signed, now: now) }
        var message: [UInt8] = []
        var time: String?
        if let name = configuration.timestamp {
            guard let text = request.header(name.lowercased()) else { return .missing }
            time = text
            message = Array("\(text).".utf8)
        }
        let code = code(of: message + request.body)
        guard let given = Self.code(in: field), !code.isEmpty, ConstantTime.equal(code, given) else { return .wrong }
        guard let time else {
            // The time of a recorded field `t=TIME,v1=CODE`, moved to where no rule limits it.
            return Self.beginsWithTime(request.body) ? .timeInBody : .valid(Proof(code: code, sent: nil))
        }
        guard let sent = Self.seconds(time) else { return .noTime }
        return (now - Self.tolerance...now + Self.tolerance).contains(sent)
            ? .valid(Proof(code: code, sent: sent)) : .late
    }

    /// Returns the code that the secret gives a message, in hexadecimal digits.
    private func code(of message: [UInt8]) -> String {
        Hexadecimal.text(MessageAuthentication.code(of: message, secret: Array(secret().utf8)))
    }

    /// Checks codes that cover the time in the same field.
    private func verdict(on request: WebRequest, _ signed: (time: String, codes: [String]), now: Int64) -> Verdict {
        let message = Array("\(signed.time).".utf8) + request.body
        let code = code(of: message)
        var isRight = false
        // A sender that changes its secret signs with both for a while.
        for given in signed.codes where ConstantTime.equal(code, given) { isRight = true }
        guard isRight, !code.isEmpty else { return .wrong }
        guard let sent = Self.seconds(signed.time) else { return .noTime }
        return (now - Self.tolerance...now + Self.tolerance).contains(sent)
            ? .valid(Proof(code: code, sent: sent)) : .late
    }

    /// Returns the time and the codes of a field such as `t=1767225600,v1=CODE,v1=CODE`, as Stripe sends it; nil if the
    /// field has another form.
    private static func timedCodes(in field: String) -> (time: String, codes: [String])? {
        guard field.utf8.count <= 1024 else { return nil }
        let parts = field.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        guard let time = parts.first(where: { $0.count == 2 && $0[0] == "t" })?[1] else { return nil }
        return (time, parts.filter { $0.count == 2 && $0[0] == "v1" }.compactMap { code(in: $0[1]) })
    }

    /// Returns the code of a header field in hexadecimal digits; nil if the field has another form.
    ///
    /// Senders write hexadecimal digits or Base64, with or without the algorithm before it.
    private static func code(in field: String) -> String? {
        let prefix = ["sha256=", "v1=", "v1,"].first { field.lowercased().hasPrefix($0) } ?? ""
        let text = field.dropFirst(prefix.count)
        if text.utf8.count == 64, text.allSatisfy(\.isHexDigit) { return text.lowercased() }
        guard text.utf8.count <= 44, let bytes = Base64.decode(String(text)), bytes.count == 32 else { return nil }
        return Hexadecimal.text(bytes)
    }

    /// Whether a body begins with a time and a dot before JSON.
    ///
    /// Any other body may begin with a number and a dot, such as a line of CSV.
    private static func beginsWithTime(_ body: [UInt8]) -> Bool {
        let start = body.prefix(42)
        let brackets = [UInt8(ascii: "{"), UInt8(ascii: "[")]
        guard let json = start.firstIndex(where: { brackets.contains($0) }), json > 0,
            start[json - 1] == UInt8(ascii: ".")
        else { return false }
        let text = String(decoding: start[..<(json - 1)], as: UTF8.self)
        let isNumber = text.utf8.allSatisfy { (48...57).contains($0) }
        // Seconds since 1970, or milliseconds.
        return isNumber ? [10, 11, 13].contains(text.utf8.count) : ISODate(text) != nil
    }

    /// Returns the seconds since 1970 of a number of them, or of a time in ISO 8601.
    private static func seconds(_ text: String) -> Int64? {
        if text.utf8.count <= 11, let number = Int64(text) { return number }
        return text.utf8.count <= 40 ? ISODate(text).map { $0.microseconds / 1_000_000 } : nil
    }
}
