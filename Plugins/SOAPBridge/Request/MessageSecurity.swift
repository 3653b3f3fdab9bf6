internal import BridgeKit
internal import Digests
internal import Glibc
internal import RecordBatch
internal import TextFormats

/// The WS-Security header block: a UsernameToken (Username Token Profile 1.0) and a Timestamp.
struct MessageSecurity: Sendable {
    enum PasswordType: String, Sendable {
        case text, digest
    }

    var username: String
    var password: String
    var type = PasswordType.text
    /// Whether a password sent as text also gets a nonce and the time of creation.
    var hasNonce = false
    /// The validity of the Timestamp in seconds; nil for no Timestamp.
    var timestampSeconds: Int?
    var mustUnderstand = true

    static let schema = #"""
        {
          "type": "object",
          "description": "WS-Security: a UsernameToken and a Timestamp in each request's header.",
          "additionalProperties": false,
          "properties": {
            "username": {"type": "string", "description": "The user's name; without it, only a timestamp is sent."},
            "password": {"type": "string", "writeOnly": true, "description": "The password."},
            "password_type": {"type": "string", "enum": ["text", "digest"], "default": "text", "description": "How the password is sent: as text (use https), or as a digest with nonce and time."},
            "nonce": {"type": "boolean", "default": false, "description": "Send nonce and time with a text password too."},
            "timestamp": {"type": "integer", "minimum": 1, "maximum": 86400, "description": "Send a Timestamp that is valid for this many seconds."},
            "must_understand": {"type": "boolean", "default": true, "description": "Whether the service must understand the block."}
          }
        }
        """#

    /// Reads the option; returns nil if it is not set.
    ///
    /// - Throws: ``BridgeError`` configuration for an empty block.
    init?(_ options: BridgeOptions?) throws(BridgeError) {
        guard let options else { return nil }
        username = options.string("username") ?? ""
        password = options.string("password") ?? ""
        if let text = options.string("password_type") {
            guard let type = PasswordType(rawValue: text) else {
                throw BridgeError(
                    .configuration, "security.password_type is \"\(text)\"", remedy: "write text or digest")
            }
            self.type = type
        }
        hasNonce = options.bool("nonce") ?? false
        timestampSeconds = options.integer("timestamp")
        mustUnderstand = options.bool("must_understand") ?? true
        guard !username.isEmpty || timestampSeconds != nil else {
            throw BridgeError(
                .configuration, "security has neither username nor timestamp", remedy: "add one, or remove security")
        }
    }

    /// Returns the block; it uses the namespace prefix `soap` of the envelope.
    ///
    /// - Parameters:
    ///   - now: Seconds since 1970.
    ///   - nonce: A value that is never reused.
    func block(_ version: SOAPVersion, now: Int64, nonce: [UInt8]) throws(BridgeError) -> String {
        let understood = mustUnderstand ? " soap:mustUnderstand=\"\(version == .v11 ? "1" : "true")\"" : ""
        var text =
            "<wsse:Security xmlns:wsse=\"\(Namespace.security)\" xmlns:wsu=\"\(Namespace.securityUtility)\"\(understood)>"
        let created = Self.time(now)
        if let timestampSeconds {
            text += "<wsu:Timestamp wsu:Id=\"Timestamp-1\"><wsu:Created>\(created)</wsu:Created>"
            text += "<wsu:Expires>\(Self.time(now + Int64(timestampSeconds)))</wsu:Expires></wsu:Timestamp>"
        }
        if !username.isEmpty {
            text += try token(created: created, nonce: nonce)
        }
        return text + "</wsse:Security>"
    }

    private func token(created: String, nonce: [UInt8]) throws(BridgeError) -> String {
        let profile = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0"
        var secret = password
        if type == .digest {
            // Section 3.1: Base64(SHA-1(nonce + created + password)), with the decoded bytes of the nonce.
            secret = Self.base64(MessageDigest.digest(of: nonce + Array(created.utf8) + Array(password.utf8), .sha1))
        }
        var text = "<wsse:UsernameToken wsu:Id=\"UsernameToken-1\"><wsse:Username>"
        text += "\(try XMLText.escaped(username, at: "security.username"))</wsse:Username>"
        text += "<wsse:Password Type=\"\(profile)#Password\(type == .digest ? "Digest" : "Text")\">"
        text += "\(try XMLText.escaped(secret, at: "security.password"))</wsse:Password>"
        if type == .digest || hasNonce {
            text += "<wsse:Nonce EncodingType=\"http://docs.oasis-open.org/wss/2004/01/"
            text += "oasis-200401-wss-soap-message-security-1.0#Base64Binary\">\(Self.base64(nonce))</wsse:Nonce>"
            text += "<wsu:Created>\(created)</wsu:Created>"
        }
        return text + "</wsse:UsernameToken>"
    }

    /// Formats a time as `2026-11-21T07:08:09Z`.
    static func time(_ seconds: Int64) -> String {
        // The batch's format has a fraction, which some services reject.
        let text = Timestamp.text(microseconds: seconds * 1_000_000)
        return text.prefix { $0 != "." && $0 != "Z" } + "Z"
    }

    private static func base64(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { Base64.encode($0) } }
}
