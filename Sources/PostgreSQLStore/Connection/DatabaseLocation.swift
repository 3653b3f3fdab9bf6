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
    /// The engine that the address names in place of the one that the server is.
    let engine: EngineProfile.Name?
    /// The layout of a schema of Citus that the address names.
    let layout: EngineProfile.Name?
    /// The entities whose tables Citus copies to each node, where rows are distributed.
    let references: Set<String>

    /// - Throws: `StoreError` of the code `open` for a text of another form.
    init(_ location: String) throws {
        guard Self.isURI(location) else {
            throw StoreError(
                .open, "\(location) is not the address of a PostgreSQL database",
                remedy: "write postgresql://user@host/database")
        }
        // libpq knows the scheme in small letters only.
        let scheme = location.prefix { $0 != ":" }
        let address: String = scheme.lowercased() + location.dropFirst(scheme.count)
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var options = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
        func take(_ name: String) -> String? {
            options.firstIndex { $0.hasPrefix(name + "=") }.map { place in
                PercentEncoding.decoded(String(options.remove(at: place).dropFirst(name.count + 1)))
            }
        }
        let schema = take("schema") ?? Self.usualSchema
        engine = try take("engine").map {
            try Self.choice("engine", $0, EngineProfile.Name.allCases.map { ($0.rawValue, $0) })
        }
        layout = try take("layout").map {
            try Self.choice("layout", $0, [("schema", .citusSchema), ("distributed", .citusDistributed)])
        }
        references = Set((take("reference") ?? "").split(separator: ",").map(String.init))
        try Identifier.check(schema, "the schema")
        guard !schema.hasPrefix("pg_"), schema != "information_schema" else {
            throw StoreError(
                .open, "the schema \"\(schema)\" belongs to PostgreSQL itself",
                remedy: "choose another one, such as bmo")
        }
        self.schema = schema
        uri = String(parts[0]) + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    /// Returns the address of another schema in the same database.
    func text(ofSchema schema: String) -> String {
        uri + (uri.contains("?") ? "&" : "?") + "schema=" + PercentEncoding.encoded(schema)
            + (engine.map { "&engine=\($0.rawValue)" } ?? "")
    }

    private static func choice(
        _ option: String, _ text: String, _ choices: [(String, EngineProfile.Name)]
    ) throws -> EngineProfile.Name {
        if let chosen = choices.first(where: { $0.0 == text }) { return chosen.1 }
        throw StoreError(
            .open, "the database address has \(option)=\(text)",
            remedy: suggestion(for: text, among: choices.map(\.0)))
    }

    /// Returns whether text has the scheme of such URIs.
    static func isURI(_ text: String) -> Bool { DatabaseURI.isURI(text) }

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
