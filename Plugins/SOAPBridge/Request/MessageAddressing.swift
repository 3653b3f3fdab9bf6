internal import BridgeKit
internal import TextFormats

/// The WS-Addressing header blocks (version 1.0 or the submission of 2004) of a request answered on its connection.
struct MessageAddressing: Sendable {
    enum Version: String, Sendable {
        case v1 = "1.0"
        case v2004 = "2004/08"
    }

    var version = Version.v1
    /// The destination in place of the endpoint's URL.
    var to: String?

    static let schema = #"""
        {
          "type": "object",
          "description": "WS-Addressing: Action, To, MessageID and an anonymous ReplyTo in each request's header.",
          "additionalProperties": false,
          "properties": {
            "version": {"type": "string", "enum": ["1.0", "2004/08"], "default": "1.0", "description": "1.0 (2005/08), or the submission of 2004/08."},
            "to": {"type": "string", "description": "The To; default: the endpoint's URL."}
          }
        }
        """#

    /// Reads the option; returns nil if it is not set.
    init?(_ options: BridgeOptions?) throws(BridgeError) {
        guard let options else { return nil }
        if let text = options.string("version") {
            guard let version = Version(rawValue: text) else {
                throw BridgeError(
                    .configuration, "addressing.version is \"\(text)\"", remedy: "write \"1.0\" or \"2004/08\"")
            }
            self.version = version
        }
        to = options.string("to")
    }

    init() {}

    private var namespace: String { version == .v1 ? Namespace.addressing : Namespace.addressing2004 }

    private var anonymous: String {
        version == .v1 ? "\(namespace)/anonymous" : "\(namespace)/role/anonymous"
    }

    /// Returns the header blocks.
    ///
    /// - Parameter id: A value that is never reused.
    func blocks(_ operation: WSDLOperation, endpoint: String, id: String) throws(BridgeError) -> String {
        let action = operation.action.isEmpty ? operation.addressingAction : operation.action
        func element(_ name: String, _ text: String) throws(BridgeError) -> String {
            let text = try XMLText.escaped(text, at: "addressing")
            return "<wsa:\(name) xmlns:wsa=\"\(namespace)\">\(text)</wsa:\(name)>"
        }
        return try element("Action", action) + element("To", to ?? endpoint) + element("MessageID", "urn:uuid:\(id)")
            + "<wsa:ReplyTo xmlns:wsa=\"\(namespace)\"><wsa:Address>\(anonymous)</wsa:Address></wsa:ReplyTo>"
    }

    /// Returns a random UUID (RFC 9562, section 5.4).
    static func identifier() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        return groups.joined(separator: "-")
    }
}
