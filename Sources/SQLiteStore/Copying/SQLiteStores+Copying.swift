internal import GRDB
public import Mapping
public import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension SQLiteStores {
    /// Reads the whole content of the file at `location`, whose tables must fit the model.
    public func readContent(
        of location: String, model: CompiledModel, _ body: (any ContentReader) throws -> Void
    ) throws {
        try open(location, model: model, for: .reading(entities: nil)).close()
        try SQLiteStore.translating("reading the content") {
            let queue = try SQLiteStore.naming(location) { try ReadingConnection.open(location) }
            defer { try? queue.close() }
            try queue.read { db in
                guard try SchemaUpdate.hasBookkeeping(in: db) else {
                    throw StoreError(
                        .schema, "\(location): an earlier bmo wrote the database",
                        remedy: "run `bmo sync` once with this one")
                }
                try body(SQLiteContent(model, on: db.sqliteConnection))
            }
        }
    }

    /// Writes the file at `location`, which must not exist: it gets its name when it is complete.
    public func writeContent(
        to location: String, model: CompiledModel, _ body: (any ContentWriter) throws -> Void
    ) throws {
        guard !exists(location) else {
            throw StoreError.notEmpty(location, remedy: "name a file that does not exist, or remove this one")
        }
        let draft = location + "-copying"
        // A copy that was killed has left its files.
        Self.remove(draft)
        do {
            try SQLiteStore(path: draft, model: model).close()
            try SQLiteStore.translating("writing the content") {
                let queue = try DatabaseQueue(path: draft)
                defer { try? queue.close() }
                try queue.inTransaction(.immediate) { db in
                    try body(SQLiteContent(model, on: db.sqliteConnection))
                    return .commit
                }
                // The file is renamed without its log. Closing would move the content as well, and hide a failure.
                try queue.writeWithoutTransaction { db in
                    let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                    guard mode == "delete" else {
                        throw StoreError(.io, "\(location): the content cannot be moved into the file (\(mode ?? ""))")
                    }
                }
                try queue.close()
            }
            guard rename(draft, location) == 0 else {
                throw StoreError(
                    .io, "\(location): \(String(cString: strerror(errno)))", remedy: "check the file's folder")
            }
        } catch {
            Self.remove(draft)
            throw error
        }
    }

    private static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }
}
