internal import BridgeKit
internal import RecordBatch

/// How a request says who asks.
enum HTTPAuthentication: Sendable {
    case none
    case basic(user: String, password: String)
    case bearer(token: String)
    case apiKeyHeader(name: String, value: String)
    case apiKeyQuery(name: String, value: String)

    static let schema = #"""
        {
          "type": "object",
          "description": "How requests say who asks. Credentials go to the origin of the configured URL only.",
          "additionalProperties": false,
          "required": ["type"],
          "properties": {
            "type": {"type": "string", "enum": ["none", "basic", "bearer", "api_key"], "description": "none; basic: user and password; bearer: token; api_key: value, in the named header or query parameter."},
            "user": {"type": "string", "description": "basic: the user's name."},
            "password": {"type": "string", "writeOnly": true, "description": "basic: the password."},
            "token": {"type": "string", "writeOnly": true, "description": "bearer: the token."},
            "header": {"type": "string", "description": "api_key: the header's name, such as X-API-Key."},
            "query": {"type": "string", "description": "api_key: the query parameter's name, instead of a header."},
            "value": {"type": "string", "writeOnly": true, "description": "api_key: the key itself."}
          }
        }
        """#

    private static let members: [String: [String]] = [
        "none": [], "basic": ["user", "password"], "bearer": ["token"], "api_key": ["header", "query", "value"],
    ]

    init(_ options: BridgeOptions?) throws {
        guard let options else {
            self = .none
            return
        }
        let type = options.string("type") ?? ""
        guard let known = Self.members[type] else {
            throw BridgeError(
                .configuration, "auth.type is \"\(type)\"",
                remedy: "use one of: \(Self.members.keys.sorted().joined(separator: ", "))")
        }
        if let stranger = options.names.first(where: { $0 != "type" && !known.contains($0) && options.has($0) }) {
            throw BridgeError(
                .configuration, "auth.\(stranger) has no meaning with auth.type \(type)",
                remedy: known.isEmpty ? "remove it" : "auth.type \(type) takes: \(known.joined(separator: ", "))")
        }
        func value(_ name: String) throws -> String {
            if let value = options.string(name), !value.isEmpty { return value }
            throw BridgeError(.configuration, "auth.\(name) is missing", remedy: "auth.type \(type) needs it")
        }
        switch type {
        case "basic":
            let user = try value("user")
            // RFC 7617, section 2: the first colon ends the user.
            guard !user.contains(":") else {
                throw BridgeError(.configuration, "auth.user holds a colon", remedy: "basic authentication allows none")
            }
            self = .basic(user: user, password: options.string("password") ?? "")
        case "bearer": self = .bearer(token: try value("token"))
        case "api_key":
            switch (options.string("header"), options.string("query")) {
            case (let header?, nil): self = .apiKeyHeader(name: header, value: try value("value"))
            case (nil, let query?): self = .apiKeyQuery(name: query, value: try value("value"))
            default:
                throw BridgeError(
                    .configuration, "auth.type api_key needs either auth.header or auth.query",
                    remedy: "name the header or the query parameter that carries the key")
            }
        default: self = .none
        }
    }

    /// The header field that carries the credential.
    var header: (name: String, value: String)? {
        switch self {
        case .basic(let user, let password):
            var pair = Array("\(user):\(password)".utf8)
            return (
                "Authorization", "Basic " + pair.withUnsafeMutableBytes { Base64.encode(UnsafeRawBufferPointer($0)) }
            )
        case .bearer(let token): return ("Authorization", "Bearer " + token)
        case .apiKeyHeader(let name, let value): return (name, value)
        case .none, .apiKeyQuery: return nil
        }
    }

    /// The query parameter that carries the credential.
    var query: (name: String, value: String)? {
        if case .apiKeyQuery(let name, let value) = self { return (name, value) }
        return nil
    }

    /// All that must not be seen.
    var secrets: [String] {
        switch self {
        case .none: []
        // The header's value is as good as the password.
        case .basic(_, let password): [password, header.map { String($0.value.dropFirst(6)) } ?? ""]
        case .bearer(let secret), .apiKeyHeader(_, let secret), .apiKeyQuery(_, let secret): [secret]
        }
    }
}
