internal import Foundation

/// The libraries of this process, and the versions that they report.
enum LinkedLibraries {
    /// The files of the shared libraries in this process, sorted.
    ///
    /// Source: proc(5), `/proc/PID/maps`.
    static var files: [String] {
        // The file says that it has no bytes, and gives a page of memory a read: only reading to the end finds all.
        let file = FileHandle(forReadingAtPath: "/proc/self/maps")
        let maps = String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self)
        // The path is the last field, and the only one with a slash.
        let paths = maps.split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        return Set(paths.filter { $0.contains(".so") }).sorted()
    }

    /// The versions of the libraries that bmo and its bridges use, by name; a library that cannot be loaded is left
    /// out.
    static var versions: [(library: String, version: String)] {
        let functions: [(library: String, file: String, function: String)] = [
            ("glibc", "libc.so.6", "gnu_get_libc_version"), ("SQLite", "libsqlite3.so.0", "sqlite3_libversion"),
            ("libcurl", "libcurl.so.4", "curl_version"), ("libsmbclient", "libsmbclient.so.0", "smbc_version"),
        ]
        var versions: [(library: String, version: String)] = functions.compactMap { library, file, function in
            version(of: file, by: function).map { (library, $0) }
        }
        if let openSSL { versions.append(("OpenSSL", openSSL)) }
        if let libxml2 { versions.append(("libxml2", libxml2)) }
        if let libpq { versions.append(("libpq", libpq)) }
        return versions.sorted { $0.library.lowercased() < $1.library.lowercased() }
    }

    /// Calls a function without parameters that returns text, such as `sqlite3_libversion`.
    private static func version(of file: String, by function: String) -> String? {
        typealias Version = @convention(c) () -> UnsafePointer<CChar>?
        guard let address = address(of: function, in: file) else { return nil }
        return unsafeBitCast(address, to: Version.self)().map { String(cString: $0) }
    }

    /// OpenSSL's version with its date.
    ///
    /// Source: OpenSSL_version(3); 0 is OPENSSL_VERSION.
    private static var openSSL: String? {
        typealias Version = @convention(c) (CInt) -> UnsafePointer<CChar>?
        guard let address = address(of: "OpenSSL_version", in: "libcrypto.so.3") else { return nil }
        return unsafeBitCast(address, to: Version.self)(0).map { String(cString: $0) }
    }

    /// libpq's version, such as 15.12 for 150012; since PostgreSQL 10 it has two parts.
    ///
    /// Source: https://www.postgresql.org/docs/current/libpq-misc.html, `PQlibVersion`.
    private static var libpq: String? {
        typealias Version = @convention(c) () -> CInt
        guard let address = address(of: "PQlibVersion", in: "libpq.so.5") else { return nil }
        let version = unsafeBitCast(address, to: Version.self)()
        return "\(version / 10_000).\(version % 10_000)"
    }

    /// libxml2's version as a number, such as 20914 for 2.9.14.
    ///
    /// Source: libxml/parser.h, `xmlParserVersion`.
    private static var libxml2: String? {
        guard let address = address(of: "xmlParserVersion", in: "libxml2.so.2") else { return nil }
        return address.load(as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
    }

    /// Returns a symbol's address.
    ///
    /// The library stays loaded: the process ends soon.
    private static func address(of symbol: String, in file: String) -> UnsafeMutableRawPointer? {
        guard let library = dlopen(file, RTLD_LAZY | RTLD_LOCAL) else { return nil }
        return dlsym(library, symbol)
    }
}
