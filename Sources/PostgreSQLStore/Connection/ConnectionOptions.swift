internal import CPQ
internal import Glibc
internal import StoreContract

/// The options of a connection, as libpq gets them.
///
/// A server that is not on this machine must prove its name (`sslmode=verify-full`) unless the address, a service file or
/// PGSSLMODE says otherwise.
struct ConnectionOptions {
    private var values: [String: String]

    /// The options whose values never appear in a message.
    private static let secrets: Set<String> = ["password", "sslpassword"]

    /// - Throws: `StoreError` of the code `open` for an address that libpq does not understand, or if libpq is not
    ///   installed.
    init(_ location: DatabaseLocation, name: String) throws {
        if let reason = cpq_load() {
            throw StoreError(
                .open, "cannot load libpq, PostgreSQL's client library: \(String(cString: reason))",
                remedy: "install libpq 5: the package libpq5 on Debian and Ubuntu, libpq on Fedora")
        }
        values = try Self.parsed(location)
        values["client_encoding"] = "UTF8"
        values["application_name"] = name
        values["fallback_application_name"] = nil
        if values["connect_timeout"] == nil, getenv("PGCONNECT_TIMEOUT") == nil { values["connect_timeout"] = "10" }
        // A server that vanished is noticed within two minutes.
        for (name, value) in [
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"),
        ] where values[name] == nil { values[name] = value }
        if values["sslmode"] == nil, getenv("PGSSLMODE") == nil, try !isLocal() {
            values["sslmode"] = "verify-full"
            // The certificates that the system trusts; libpq before 16 has no such option and needs a file.
            if values["sslrootcert"] == nil, getenv("PGSSLROOTCERT") == nil, let file = Self.systemCertificates {
                values["sslrootcert"] = file
            }
        }
    }

    private static func parsed(_ location: DatabaseLocation) throws -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(try location.resolvedURI(), &message) else {
            if let message { PQfreemem(message) }
            // libpq's message may contain the password.
            throw StoreError(
                .open, "libpq cannot parse the database address",
                remedy: "write postgresql://user@host:5432/database, with %XX for special characters")
        }
        defer { PQconninfoFree(options) }
        return values(options)
    }

    /// Returns whether the server is on this machine, or a service file says how the connection is protected.
    private func isLocal() throws -> Bool {
        func value(_ option: String, _ variable: String) -> String? {
            values[option] ?? getenv(variable).map { String(cString: $0) }
        }
        var (address, host) = (value("hostaddr", "PGHOSTADDR"), value("host", "PGHOST"))
        if value("service", "PGSERVICE") != nil {
            let effective = self.effective
            // libpq's own default is the same as if nothing were said.
            if let mode = effective["sslmode"], mode != "prefer" { return true }
            (address, host) = (effective["hostaddr"] ?? address, effective["host"] ?? host)
        }
        return (address ?? host ?? "").split(separator: ",").allSatisfy { host in
            host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }

    /// The options with those of a service, which libpq reads when it begins to connect; nothing is sent yet.
    private var effective: [String: String] {
        guard let handle = withPointers({ PQconnectStartParams($0, $1, 0) }) else { return values }
        defer { PQfinish(handle) }
        guard let options = PQconninfo(handle) else { return values }
        defer { PQconninfoFree(options) }
        return Self.values(options)
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }

    private static var systemCertificates: String? {
        ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].first { access($0, R_OK) == 0 }
    }

    /// Calls `body` with the names and values, each ended by a null pointer.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let pairs = values.sorted { $0.key < $1.key }
        let names = pairs.map { strdup($0.key) }
        let texts = pairs.map { strdup($0.value) }
        defer { for text in names + texts { free(text) } }
        return body(names.map { UnsafePointer($0) } + [nil], texts.map { UnsafePointer($0) } + [nil])
    }

    /// Returns a message without the values of secret options.
    func redacted(_ message: String) -> String {
        values.filter { Self.secrets.contains($0.key) && !$0.value.isEmpty }
            .reduce(message) { $0.replacing($1.value, with: "***") }
    }

    /// Returns the host, the database and the schema of a connection, which need not have succeeded.
    func place(of connection: OpaquePointer, schema: String) -> String {
        func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String? {
            pointer.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let host = text(PQhost(connection)) ?? values["host"] ?? "the local socket"
        let database = text(PQdb(connection)) ?? values["dbname"] ?? "the user's database"
        return "PostgreSQL at \(host), database \(database), schema \(schema)"
    }
}
