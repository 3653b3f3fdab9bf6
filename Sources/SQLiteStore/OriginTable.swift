internal import Importer

/// Where the rows of an entity came from last, such as a URL: rows `origin ENTITY` of the table `bmo_meta`.
///
/// Two configurations that name one database by mistake list the same entity from two places: what the other one brought is
/// not gone because this one does not list it.
final class OriginTable {
    private let select: RawStatement
    private let insertion: RawStatement

    init(on connection: OpaquePointer?) throws {
        select = try RawStatement("SELECT value FROM bmo_meta WHERE name = ?", on: connection)
        insertion = try RawStatement("INSERT OR REPLACE INTO bmo_meta (name, value) VALUES (?, ?)", on: connection)
    }

    private func origin(of entity: String) throws -> String? {
        select.bind("origin \(entity)", at: 1)
        defer { select.reset() }
        return try select.step() ? select.text(0) : nil
    }

    /// Where the rows came from, if that is known and another place.
    func other(than origin: String?, of entity: String) throws -> String? {
        guard let origin, let known = try self.origin(of: entity), known != origin else { return nil }
        return known
    }

    /// The rows are of two places from now on: neither's listing tells what the other brought.
    func add(_ origin: String?, of entity: String) throws {
        guard let origin, let known = try self.origin(of: entity) else { return }
        let separator = " and "
        guard !known.split(separator: separator).contains(Substring(origin)) else { return }
        try save(known + separator + origin, of: entity)
    }

    /// Keeps where a listing came from, unless it is known: a sync that finds nothing writes nothing.
    func save(_ origin: String?, of entity: String) throws {
        guard let origin, try self.origin(of: entity) != origin else { return }
        insertion.bind("origin \(entity)", at: 1)
        insertion.bind(origin, at: 2)
        try insertion.run()
    }
}
