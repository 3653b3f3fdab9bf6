internal import GRDBSQLite
internal import StoreContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The conversion of SQLite's errors to ``StoreError``.
enum SQLiteFailure {
    /// What to do about too many open files.
    static let fileLimitRemedy = "raise the limit of open files (`ulimit -n`)"

    /// Returns the last error of `connection`.
    static func error(_ connection: OpaquePointer?, _ status: Int32, _ action: String) -> StoreError {
        let words = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
        let number = connection.map { sqlite3_system_errno($0) } ?? 0
        let error =
            status == SQLITE_CONSTRAINT | 3 << 8
            ? ofForeignKey(connection, words)
            : error(code: status, words: words, action: action, systemError: number)
        // A trigger may have rolled back the whole transaction, including the page so far.
        guard error.code == .constraint, connection.map({ sqlite3_get_autocommit($0) != 0 }) ?? false else {
            return error
        }
        return StoreError(.io, error.message, remedy: error.remedy)
    }

    /// Returns the error of a statement that changed nothing, because of `RAISE(IGNORE)`.
    ///
    /// - Parameter words: What the trigger does.
    static func ignored(_ words: String) -> StoreError {
        StoreError(
            .constraint, "a trigger of the database \(words)", remedy: "drop the trigger that bmo did not create")
    }

    /// Describes a constraint that was added to the database by hand.
    private static func rule(_ code: Int32, _ words: String) -> String {
        let object = words.firstRange(of: "failed: ").map { String(words[$0.upperBound...]) }
        switch (code, object) {
        case (SQLITE_CONSTRAINT | 8 << 8, let object?):
            return "the database's own constraint on \(object): another row has the same"
        case (SQLITE_CONSTRAINT | 5 << 8, let object?):
            return "the database's own constraint on \(object): it must have a value"
        case (SQLITE_CONSTRAINT | 7 << 8, _): return "a trigger of the database refuses it: \(words)"
        case (_, let object?): return "the database's own constraint on \(object) does not hold"
        case (_, nil): return "the database's own constraint does not hold: \(words)"
        }
    }

    /// Returns the error of a foreign key that is checked at once, as those that bmo makes are not.
    private static func ofForeignKey(_ connection: OpaquePointer?, _ words: String) -> StoreError {
        let tables = (try? immediateTables(connection)) ?? []
        let subject = tables.isEmpty ? "the database" : "the table \(tables.joined(separator: " or "))"
        return StoreError(
            .constraint, "a foreign key of \(subject) does not hold (\(words))",
            remedy: "drop the foreign key that bmo did not create, or give it ON DELETE CASCADE or SET NULL")
    }

    /// Returns up to three tables with foreign keys that are checked at once.
    private static func immediateTables(_ connection: OpaquePointer?) throws -> [String] {
        let select = RawStatement(
            """
            SELECT DISTINCT m.name FROM sqlite_schema AS m, pragma_foreign_key_list(m.name)
            WHERE m.type = 'table' AND m.name NOT LIKE 'bmo\\_%' ESCAPE '\\'
                AND m.sql NOT LIKE '%DEFERRABLE INITIALLY DEFERRED%' ORDER BY m.name LIMIT 3
            """, on: connection)
        defer { select.reset() }
        var names: [String] = []
        while try select.step() { names.append(select.text(0) ?? "") }
        return names
    }

    /// Returns the error for a result code.
    ///
    /// - Parameter systemError: The system's number of the error, if it is known.
    static func error(code: Int32, words: String, action: String, systemError: Int32 = 0) -> StoreError {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            StoreError(
                .busy, "the database is in use by another process (\(words))", remedy: "try again when that is done")
        case SQLITE_FULL:
            StoreError(
                .io, "no space left for the database (\(words))", remedy: "free some space and run the command again")
        case SQLITE_IOERR where systemError == EFBIG:
            StoreError(
                .io, "the database may not become larger (\(words))",
                remedy: "raise the limit of a file's size (`ulimit -f`)")
        case SQLITE_IOERR where hasTooManyOpenFiles(), SQLITE_CANTOPEN where hasTooManyOpenFiles():
            StoreError(.io, "too many files are open (\(words))", remedy: fileLimitRemedy)
        case SQLITE_IOERR, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN:
            StoreError(
                .io, "the database cannot be read or written (\(words))", remedy: "check the file and its folder")
        case SQLITE_NOMEM:
            StoreError(.io, "no memory left for the database (\(words))", remedy: "run the same command with more")
        case SQLITE_NOTADB, SQLITE_CORRUPT:
            StoreError(
                .open, "the file is damaged or not an SQLite database (\(words))",
                remedy: "restore it, or name another file")
        case SQLITE_CONSTRAINT:
            StoreError(
                .constraint, rule(code, words),
                remedy: "drop the index or trigger that bmo did not create, or correct the value")
        case SQLITE_ERROR where words.hasPrefix("foreign key mismatch"):
            StoreError(
                .schema, "a foreign key that bmo did not create is not valid (\(words))",
                remedy: "drop it, or let it refer to the key, or to columns with a unique index")
        default:
            StoreError(.internal, "SQLite refused: \(words) [\(code)] while \(action)")
        }
    }
}
