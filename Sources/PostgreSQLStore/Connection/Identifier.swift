internal import StoreContract
internal import TextFormats

/// Names of schemas, tables and columns in SQL.
enum Identifier {
    /// The longest name in bytes; PostgreSQL would cut a longer one without an error (NAMEDATALEN - 1).
    static let longest = 63

    /// Returns a name in double quotes.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    static func list(_ names: some Sequence<String>) -> String { names.map(quoted).joined(separator: ", ") }

    /// Returns text as a literal of SQL.
    static func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// Checks a name that becomes a schema, table or column.
    ///
    /// - Throws: `StoreError` of the code `schema`.
    static func check(_ name: String, _ what: String) throws {
        guard name.utf8.count <= longest else {
            throw StoreError(
                .schema, "\(what) \"\(name)\" has \(name.utf8.count) bytes, but PostgreSQL allows \(longest)",
                remedy: "give it a shorter name")
        }
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw StoreError(.schema, "\(what) \"\(name)\" is not a valid name", remedy: "give it another name")
        }
    }

    /// Returns the name of an index or constraint, shortened with a hash if it is too long.
    static func short(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let hash = String(hash(name), radix: 16)
        var prefix = name
        while prefix.utf8.count + 1 + hash.utf8.count > longest { prefix.removeLast() }
        return prefix + "_" + hash
    }

    /// Returns a hash of a text that is the same in every process.
    static func hash(_ text: String) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.add(text)
        return fingerprint.value
    }
}
