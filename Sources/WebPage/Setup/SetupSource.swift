internal import BMO
internal import Model
internal import WebServer

/// The address that a first start examines, and the kind of API that it belongs to.
struct SetupSource: Sendable {
    /// The kinds of sources, in the order of the form.
    enum Kind: String, CaseIterable {
        case openapi, sample, api, soap, smb

        var words: String {
            switch self {
            case .openapi: "an OpenAPI document"
            case .sample: "a listing of a REST API: one reply in JSON"
            case .api: "a REST API, whose document bmo looks for"
            case .soap: "a SOAP service: its WSDL"
            case .smb: "a share for guests: smb://HOST/SHARE"
            }
        }

        /// The schemes of the addresses; never that of local files.
        var schemes: [String] { self == .smb ? ["smb"] : ["https", "http"] }
    }

    private static let maxLength = 2000

    let kind: Kind
    let url: String

    /// Reads the form.
    ///
    /// - Throws: ``PageFailure`` for an unknown kind, or an address that is not one of the kind's schemes.
    init(_ form: FormFields) throws(PageFailure) {
        guard let kind = form["kind"].flatMap(Kind.init) else {
            throw PageFailure(400, "The form lacks what is at the address.")
        }
        let url = (form["url"] ?? "").trimmed
        // A path, or file://, would have the server read its own files.
        guard let mark = url.firstRange(of: "://"), case let scheme = url[..<mark.lowerBound].lowercased(),
            kind.schemes.contains(scheme), case let rest = url[mark.upperBound...],
            case let host = rest.prefix(while: { !"/?#\\".contains($0) }), !host.isEmpty
        else {
            let schemes = kind.schemes.map { $0 + "://" }.joined(separator: " or ")
            throw PageFailure(400, "The address must begin with \(schemes), and name a host.")
        }
        let isPlain = url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard isPlain, url.utf8.count <= Self.maxLength else {
            throw PageFailure(400, "The address is too long, or contains spaces or control characters.")
        }
        guard !host.contains("@") else {
            throw PageFailure(400, "The address contains a user or a password, which would be written to the file.")
        }
        self.kind = kind
        // In lower case: what begins with HTTP:// is a path for those that compare letters.
        self.url = "\(scheme)://\(rest)"
    }

    var plugin: String {
        switch kind {
        case .openapi, .sample, .api: "rest"
        case .soap: "soap"
        case .smb: "smb"
        }
    }

    var source: Introspection.Source {
        switch kind {
        case .openapi: .openAPI(url)
        case .sample: .samples([url])
        case .api, .soap, .smb: .options
        }
    }

    var options: ConfigValue {
        switch kind {
        case .openapi, .sample: .object([])
        case .api: .object([("url", .string(url))])
        case .soap: .object([("wsdl", .string(url))])
        case .smb: .object([("url", .string(url)), ("guest", .bool(true))])
        }
    }

    /// The command that does the same, without the query, which may contain a key.
    var command: String {
        let address = String(url.prefix { $0 != "?" })
        let option = [Kind.openapi: "--openapi ", .sample: "--sample "][kind] ?? ""
        return "bmo introspect \(plugin) \(option)\(address)"
    }
}

/// What an examination found.
struct SetupFinding: Sendable {
    /// Names it in the form that has it written.
    let id: String
    let url: String
    /// The configuration, with its doubts as comments.
    let text: String
    let ready: Int
    let incomplete: Int
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
