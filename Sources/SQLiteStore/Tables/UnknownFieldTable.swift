internal import StoreContract
internal import Mapping

/// The fields of remote records that nothing reads: table `bmo_unknown_fields`, created with the first one.
final class UnknownFieldTable {
    private let connection: OpaquePointer?
    /// The paths in the table, by entity; nil until they are read.
    private var known: [String: Set<ExactText>]?

    /// The maximum number of fields kept per entity: a remote may use values as names, so that each record has new
    /// ones.
    static let most = 1_000
    /// The path that stands for all fields beyond the maximum.
    static let further = "(further fields)"

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE IF NOT EXISTS bmo_unknown_fields (
            entity TEXT NOT NULL, path TEXT NOT NULL, first_seen TEXT NOT NULL, PRIMARY KEY (entity, path)
        ) STRICT, WITHOUT ROWID
        """

    init(on connection: OpaquePointer?) {
        self.connection = connection
    }

    /// Clears the cache, after another process has written or a page was rolled back.
    func forget() { known = nil }

    /// Saves a field with the time of its first occurrence; returns whether it is new.
    func note(_ entity: String, _ path: String) throws -> Bool {
        if known == nil { known = try read() }
        let isFull = known?[entity, default: []].count ?? 0 >= Self.most
        let path = isFull && known?[entity]?.contains(ExactText(path)) != true ? Self.further : path
        guard known?[entity, default: []].insert(ExactText(path)).inserted == true else { return false }
        try RawStatement(Self.creation, on: connection).run()
        let insertion = RawStatement(
            "INSERT INTO bmo_unknown_fields (entity, path, first_seen) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            on: connection)
        insertion.bind(entity, at: 1)
        insertion.bind(path, at: 2)
        insertion.bind(Clock.now(), at: 3)
        return try insertion.run() > 0
    }

    private func read() throws -> [String: Set<ExactText>] {
        let table = RawStatement(
            "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_unknown_fields'", on: connection)
        defer { table.reset() }
        guard try table.step() else { return [:] }
        let rows = RawStatement("SELECT entity, path FROM bmo_unknown_fields", on: connection)
        var known: [String: Set<ExactText>] = [:]
        while try rows.step() {
            guard case .text(let entity) = rows.value(0), case .text(let path) = rows.value(1) else { continue }
            known[entity, default: []].insert(ExactText(path))
        }
        return known
    }
}
