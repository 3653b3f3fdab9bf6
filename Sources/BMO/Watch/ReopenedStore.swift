internal import StoreContract
internal import SystemCalls

/// The open database of a watch, which is opened anew when its path leads to another file.
///
/// SQLite would go on with the old one, whose edits belong to a database that was given up.
struct ReopenedStore {
    private let workspace: Workspace
    private let path: String
    private var store: (any Store)?
    /// The file that was opened; nil for a server's database.
    private(set) var file: FileIdentity?
    /// The number of times that the database was opened anew.
    private(set) var generation = 0

    /// Opens the database, unless it needs the lock and another process has it: ``current(whenOpening:)`` opens it then.
    ///
    /// - Throws: `StoreError`.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        path = workspace.configuration.databasePath
        // Read before: if another file comes meanwhile, the store is opened once too often.
        let before = FileIdentity(path)
        store = try Self.open(workspace)
        file = before ?? FileIdentity(path)
    }

    /// Takes a database that ``current(whenOpening:)`` opens.
    init(closed workspace: Workspace) {
        self.workspace = workspace
        path = workspace.configuration.databasePath
        file = FileIdentity(path)
    }

    /// Returns the database to which the path leads now.
    ///
    /// - Parameter whenOpening: Called before the database is opened, which may add tables and columns to it.
    /// - Returns: Nil while the path leads to no file, and while another process makes the file's tables.
    /// - Throws: `StoreError` if the file cannot be opened.
    mutating func current(whenOpening: () throws -> Void = {}) throws -> (any Store)? {
        let now = FileIdentity(path)
        if now != file {
            try? close()
            file = now
        }
        if let store { return store }
        // A file that was moved may be put back: only a sync makes it anew.
        guard workspace.stores.exists(path) else { return nil }
        try whenOpening()
        store = try Self.open(workspace)
        if store != nil { generation += 1 }
        return store
    }

    /// Opens the database; returns nil if it needs the lock and another process, which may be adapting the tables, has it.
    private static func open(_ workspace: Workspace) throws -> (any Store)? {
        do {
            return try workspace.openStoreForEdits(command: "bmo watch")
        } catch let error as StoreError where error.code == .busy {
            return nil
        }
    }

    /// Closes the database.
    ///
    /// - Throws: `StoreError` if the last writes cannot be completed.
    mutating func close() throws {
        defer { store = nil }
        try store?.close()
    }
}
