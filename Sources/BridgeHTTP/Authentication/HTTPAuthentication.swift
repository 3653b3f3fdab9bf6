internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// The way in which a request identifies the client.
enum HTTPAuthentication: Sendable {
    /// The same credential with every request.
    case fixed(Credential)
    /// libcurl answers the server's challenge (RFC 7616).
    case digest(user: String, password: String)
    /// libcurl shows a Kerberos ticket (RFC 4559): one of the credential cache, or one that a keytab gets.
    case negotiate
    /// libcurl answers the server's challenge (MS-NLMP).
    case ntlm(user: String, password: String)
    /// libcurl looks up the host in a file; nil: the file in the home folder.
    case netrc(file: String?)
    /// libcurl signs each request (AWS Signature Version 4).
    case signature(scope: String, key: String, secret: String)
    /// Obtained before the first request, and renewed when it is refused.
    case granted(TokenGrant)

    static let schema = #"""
        {
          "type": "object",
          "description": "How requests authenticate. Credentials go to the origin of the configured URL only.",
          "additionalProperties": false,
          "anyOf": [{"required": ["body_format"], "properties": {"body_format": {"enum": ["form"]}, "body": {"additionalProperties": {"type": ["string", "number", "boolean", "null", "array", "object"]}}}}, true],
          "required": ["type"],
          "properties": {
            "type": {"type": "string", "enum": ["none", "basic", "bearer", "api_key", "digest", "negotiate", "ntlm", "netrc", "oauth2", "jwt", "login", "aws_sigv4"], "description": "none; basic, digest, ntlm: user and password; negotiate: a Kerberos ticket; bearer: token; api_key: value, in the named header, query parameter or cookie; netrc: from a file; oauth2: a token from token_url; jwt: a token that bmo signs; login: a request that answers with a token or a cookie; aws_sigv4: signed requests."},
            "user": {"type": "string", "description": "basic, digest, ntlm, login, oauth2 password: the user's name."},
            "password": {"type": "string", "writeOnly": true, "description": "basic, digest, ntlm, login, oauth2 password: the password."},
            "domain": {"type": "string", "description": "ntlm: the user's domain; default: the server's."},
            "token": {"type": "string", "writeOnly": true, "description": "bearer: the token."},
            "scheme": {"type": "string", "description": "bearer, oauth2, jwt, login: the word before the token; default: Bearer. api_key: default nothing."},
            "header": {"type": "string", "description": "api_key: the header's name, such as X-API-Key; oauth2, jwt, login: default Authorization."},
            "query": {"type": "string", "description": "api_key: the query parameter's name, instead of a header."},
            "cookie": {"type": "string", "description": "api_key: the cookie's name, instead of a header."},
            "value": {"type": "string", "writeOnly": true, "description": "api_key: the key itself."},
            "file": {"type": "string", "format": "path", "description": "netrc: the file; default: ~/.netrc."},
            "grant": {"type": "string", "enum": ["client_credentials", "refresh_token", "password", "jwt_bearer"], "default": "client_credentials", "description": "oauth2: how the token is obtained."},
            "token_url": {"type": "string", "description": "oauth2: where tokens come from; may be a path below url."},
            "client_id": {"type": "string", "description": "oauth2: the client's name."},
            "client_secret": {"type": "string", "writeOnly": true, "description": "oauth2: the client's secret."},
            "client_auth": {"type": "string", "enum": ["basic", "body", "none"], "default": "basic", "description": "oauth2: how the client authenticates."},
            "refresh_token": {"type": "string", "writeOnly": true, "description": "oauth2 refresh_token: the refresh token."},
            "scope": {"type": "string", "description": "oauth2, jwt: what the token is for."},
            "audience": {"type": "string", "description": "oauth2, jwt: who the token is for."},
            "parameters": {"type": "object", "description": "oauth2: further fields of the token request; a list repeats the field.", "additionalProperties": {"type": ["string", "array"], "items": {"type": "string"}}},
            "algorithm": {"type": "string", "enum": ["RS256", "HS256", "ES256"], "default": "RS256", "description": "jwt, oauth2 jwt_bearer: how the token is signed."},
            "private_key": {"type": "string", "writeOnly": true, "description": "jwt, oauth2 jwt_bearer: the private key, PEM."},
            "secret": {"type": "string", "writeOnly": true, "description": "jwt with HS256: the secret. aws_sigv4: the secret key."},
            "key_id": {"type": "string", "description": "jwt, oauth2 jwt_bearer: the key's name (kid). aws_sigv4: the access key."},
            "issuer": {"type": "string", "description": "jwt, oauth2 jwt_bearer: the claim iss."},
            "subject": {"type": "string", "description": "jwt, oauth2 jwt_bearer: the claim sub."},
            "claims": {"type": "object", "description": "jwt, oauth2 jwt_bearer: further claims."},
            "lifetime": {"type": "integer", "minimum": 10, "description": "jwt: seconds that a token is valid, default 300; login, oauth2: if the reply does not say."},
            "path": {"type": "string", "description": "login: what is requested, a path below url or a complete URL."},
            "method": {"type": "string", "enum": ["POST", "GET", "PUT"], "default": "POST", "description": "login: the request's method."},
            "body": {"type": "object", "description": "login: what is sent; default: username and password."},
            "body_format": {"type": "string", "enum": ["json", "form"], "default": "json", "description": "login: how it is sent."},
            "token_path": {"type": "string", "description": "login: where the reply holds the token, such as $.data.token; default: its cookies are kept."},
            "region": {"type": "string", "description": "aws_sigv4: the region."},
            "service": {"type": "string", "description": "aws_sigv4: the service's name."}
          }
        }
        """#

    private static let members: [String: [String]] = [
        "none": [], "basic": ["user", "password"], "bearer": ["token", "scheme"],
        "api_key": ["header", "query", "cookie", "value", "scheme"], "digest": ["user", "password"], "netrc": ["file"],
        "negotiate": [], "ntlm": ["user", "password", "domain"],
        "oauth2": [
            "grant", "token_url", "client_id", "client_secret", "client_auth", "refresh_token", "user", "password",
            "scope",
            "audience", "parameters", "algorithm", "private_key", "secret", "key_id", "issuer", "subject", "claims",
            "lifetime", "header", "scheme",
        ],
        "jwt": [
            "algorithm", "private_key", "secret", "key_id", "issuer", "subject", "audience", "scope", "claims",
            "lifetime",
            "header", "scheme",
        ],
        "login": [
            "path", "method", "body", "body_format", "user", "password", "token_path", "header", "scheme", "lifetime",
        ],
        "aws_sigv4": ["key_id", "secret", "region", "service"],
    ]

    /// - Parameter base: The configured URL, against which relative URLs are resolved.
    init(_ options: BridgeOptions?, base: HTTPURL?) throws {
        guard let options else {
            self = .fixed(.none)
            return
        }
        let type = options.string("type") ?? ""
        guard let known = Self.members[type] else {
            throw BridgeError(
                .configuration, "auth.type is \"\(type)\"",
                remedy: "use one of: \(Self.members.keys.sorted().joined(separator: ", "))")
        }
        if let unknown = options.names.first(where: { $0 != "type" && !known.contains($0) && options.has($0) }) {
            throw BridgeError(
                .configuration, "auth.\(unknown) has no effect with auth.type \(type)",
                remedy: known.isEmpty ? "remove it" : "auth.type \(type) takes: \(known.joined(separator: ", "))")
        }
        func value(_ name: String) throws -> String {
            if let value = options.string(name), !value.isEmpty { return value }
            throw BridgeError(.configuration, "auth.\(name) is missing", remedy: "auth.type \(type) needs it")
        }
        func password() throws -> String {
            // An empty password is valid; a missing one is not.
            if let password = options.string("password") { return password }
            throw BridgeError(
                .configuration, "auth.password is missing",
                remedy: "auth.type \(type) needs it: {env: NAME}, {file: PATH}, or \"\" if there is none")
        }
        switch type {
        case "basic":
            let user = try value("user")
            // RFC 7617, section 2: the first colon ends the user.
            guard !user.contains(":") else {
                throw BridgeError(.configuration, "auth.user holds a colon", remedy: "basic authentication allows none")
            }
            let pair = "\(user):\(try password())"
            self = .fixed(Self.header("Authorization", Self.basicValue(pair)))
        case "bearer":
            self = .fixed(
                Self.header("Authorization", Self.prefixed(options.string("scheme") ?? "Bearer", try value("token"))))
        case "api_key":
            let value = Self.prefixed(options.string("scheme") ?? "", try value("value"))
            switch (options.string("header"), options.string("query"), options.string("cookie")) {
            case (let header?, nil, nil): self = .fixed(Self.header(header, value))
            case (nil, let query?, nil): self = .fixed(Credential(query: Credential.Field(name: query, value: value)))
            case (nil, nil, let cookie?): self = .fixed(Self.header("Cookie", "\(cookie)=\(value)"))
            default:
                throw BridgeError(
                    .configuration, "auth.type api_key needs one of auth.header, auth.query and auth.cookie",
                    remedy: "name the header, the query parameter or the cookie that carries the key")
            }
        case "digest": self = .digest(user: try value("user"), password: try password())
        case "negotiate": self = .negotiate
        case "ntlm":
            let (domain, user) = (options.string("domain") ?? "", try value("user"))
            self = .ntlm(user: domain.isEmpty ? user : "\(domain)\\\(user)", password: try password())
        case "netrc": self = .netrc(file: options.string("file"))
        case "aws_sigv4":
            self = .signature(
                scope: "aws:amz:\(try value("region")):\(try value("service"))", key: try value("key_id"),
                secret: try value("secret"))
        case "oauth2", "jwt", "login": self = .granted(try TokenGrant(options, type: type, base: base))
        default: self = .fixed(.none)
        }
    }

    private static func header(_ name: String, _ value: String) -> Credential {
        Credential(headers: [Credential.Field(name: name, value: value)])
    }

    private static func prefixed(_ scheme: String, _ value: String) -> String {
        scheme.isEmpty ? value : "\(scheme) \(value)"
    }

    /// `Basic` and a pair in base64 (RFC 7617).
    static func basicValue(_ pair: String) -> String {
        var bytes = Array(pair.utf8)
        return "Basic " + bytes.withUnsafeMutableBytes { Base64.encode(UnsafeRawBufferPointer($0)) }
    }

    /// The credential that is known before any request.
    var credential: Credential { if case .fixed(let credential) = self { credential } else { .none } }

    /// Whether a connection is authenticated, and not a request: this needs HTTP/1.1.
    var isOfConnections: Bool {
        switch self {
        case .negotiate, .ntlm: true
        default: false
        }
    }

    /// The scheme in the challenge that libcurl answers itself, in lower case.
    var challenge: String? {
        switch self {
        case .digest: "digest"
        case .negotiate: "negotiate"
        case .ntlm: "ntlm"
        default: nil
        }
    }

    /// Returns all secrets of the options.
    func secrets(_ options: BridgeOptions?) -> [String] {
        var secrets = ["password", "token", "value", "client_secret", "refresh_token", "private_key", "secret"]
            .compactMap { options?.string($0) }
        // The header's value is as secret as the password.
        secrets += credential.headers.compactMap { $0.value.split(separator: " ").last.map(String.init) }
        secrets += credential.headers.compactMap { field in
            field.name == "Cookie" ? field.value.split(separator: "=", maxSplits: 1).last.map(String.init) : nil
        }
        return secrets
    }
}
