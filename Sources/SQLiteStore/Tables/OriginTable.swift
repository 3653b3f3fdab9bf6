internal import StoreContract

/// The origin of an entity's rows, such as a URL: rows `origin ENTITY` of the table `bmo_meta`.
///
/// Two configurations that name the same database by mistake list the same entity from two places. Rows from the other
/// place must not be deleted because this listing lacks them.
final class OriginTable {
    private let select: RawStatement
    private let insertion: RawStatement

    init(on connection: OpaquePointer?) {
        select = RawStatement("SELECT value FROM bmo_meta WHERE name = ?", on: connection)
        insertion = RawStatement("INSERT OR REPLACE INTO bmo_meta (name, value) VALUES (?, ?)", on: connection)
    }

    private func origin(of entity: String) throws -> String? {
        select.bind("origin \(entity)", at: 1)
        defer { select.reset() }
        return try select.step() ? select.text(0) : nil
    }

    /// Returns the known origin of the rows if it differs from `origin`.
    func other(than origin: String?, of entity: String) throws -> String? {
        guard let origin, let known = try self.origin(of: entity), known != origin else { return nil }
        return known
    }

    /// Adds an origin: from now on the rows come from several places, and no listing covers those of another place.
    func add(_ origin: String?, of entity: String) throws {
        guard let origin, let known = try self.origin(of: entity) else { return }
        let separator = " and "
        guard !known.split(separator: separator).contains(Substring(origin)) else { return }
        try save(known + separator + origin, of: entity)
    }

    /// Saves the origin of a listing unless it is known, so that a sync without changes writes nothing.
    func save(_ origin: String?, of entity: String) throws {
        guard let origin, try self.origin(of: entity) != origin else { return }
        insertion.bind("origin \(entity)", at: 1)
        insertion.bind(origin, at: 2)
        try insertion.run()
    }
}
