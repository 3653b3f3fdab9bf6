internal import Glibc
internal import Model
internal import StoreContract
internal import TextFormats

/// Where a database is: libpq's connection URI, and the schema that bmo's tables are in.
///
/// The form is `postgresql://[user[:password]@][host][:port][/database][?option=value&...]`; see "Connection URIs" in
/// libpq's documentation. bmo adds the option `schema`. A password is `{env:NAME}` or `{file:PATH}`, so that no location
/// contains a secret.
struct DatabaseLocation: Sendable {
    /// The schema without an option `schema`.
    static let usualSchema = "bmo"

    /// The URI without the option `schema`, and with references for secrets.
    let uri: String
    let schema: String

    /// - Throws: `StoreError` of the code `open` for a text of another form.
    init(_ location: String) throws {
        guard Self.isURI(location) else {
            throw StoreError(
                .open, "\(location) is not the address of a PostgreSQL database",
                remedy: "write postgresql://user@host/database")
        }
        var schema = Self.usualSchema
        let parts = location.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var options = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
        if let place = options.firstIndex(where: { $0.hasPrefix("schema=") }) {
            schema = PercentEncoding.decoded(String(options.remove(at: place).dropFirst(7)))
        }
        try Identifier.check(schema, "the schema")
        guard !schema.hasPrefix("pg_"), schema != "information_schema" else {
            throw StoreError(
                .open, "the schema \"\(schema)\" belongs to PostgreSQL itself",
                remedy: "choose another one, such as bmo")
        }
        self.schema = schema
        uri = String(parts[0]) + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    private init(uri: String, schema: String) {
        self.uri = uri
        self.schema = schema
    }

    /// Returns whether text has the scheme of such URIs.
    static func isURI(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Returns the same database with another schema.
    func with(schema: String) -> DatabaseLocation { DatabaseLocation(uri: uri, schema: schema) }

    // MARK: - Secrets

    /// Returns the URI with its references replaced by percent-encoded values.
    ///
    /// - Throws: `StoreError` of the code `open` that names a missing variable or file.
    func resolvedURI() throws -> String {
        var result = ""
        var rest = uri[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}") else {
                throw StoreError(
                    .open, "\(uri): a reference lacks its closing }", remedy: "write {env:NAME} or {file:PATH}")
            }
            result += PercentEncoding.encoded(try Self.secret(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    private static func secret(_ text: String) throws -> String {
        let reference: SecretReference
        if text.hasPrefix("env:") {
            reference = .env(text.dropFirst(4).trimmed)
        } else if text.hasPrefix("file:") {
            reference = .file(text.dropFirst(5).trimmed)
        } else {
            throw StoreError(
                .open, "the database address has an unknown reference {\(text)}",
                remedy: "write {env:NAME} or {file:PATH}")
        }
        do {
            return try reference.resolve(relativeTo: ".", environment: Self.environment)
        } catch {
            throw StoreError(.open, "the database address: \(error)")
        }
    }

    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        var place = environ
        while let entry = place.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            place += 1
        }
        return variables
    }
}

extension Substring {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
