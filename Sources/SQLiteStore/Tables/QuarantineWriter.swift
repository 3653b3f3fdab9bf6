internal import Mapping
internal import StoreContract
internal import StoreRules

/// The writer of records that could not be imported: table `bmo_quarantine`.
final class QuarantineWriter {
    private let insertion: RawStatement
    private let search: RawStatement
    private let lookup: RawStatement
    private let removal: RawStatement
    private let knownKeys: RawStatement

    init(on connection: OpaquePointer?) {
        // A record that fails repeatedly for the same reason is one row.
        insertion = RawStatement(
            """
            INSERT INTO bmo_quarantine
                (entity, bridge, page, record, reason, representation, location, first_seen, last_seen, fingerprint,
                    cut_from, source, parent, key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT DO UPDATE SET bridge = ?2, page = ?3, record = ?4, location = ?7, last_seen = ?8,
                source = ?11, parent = ?12, key = ?13
            """, on: connection)
        search = RawStatement(
            "SELECT 1 FROM bmo_quarantine WHERE entity = ?1 AND key IS NOT NULL LIMIT 1", on: connection)
        lookup = RawStatement(
            "SELECT id FROM bmo_quarantine WHERE entity = ?1 AND key = ?2 AND (?3 IS NULL OR source = ?3)",
            on: connection)
        knownKeys = RawStatement(
            "SELECT DISTINCT key FROM bmo_quarantine WHERE entity = ?1 AND key IS NOT NULL LIMIT ?2", on: connection)
        removal = RawStatement("DELETE FROM bmo_quarantine WHERE id = ?1", on: connection)
    }

    func write(_ record: QuarantinedRecord) throws {
        insertion.bind(record.entity, at: 1)
        insertion.bind(record.bridge, at: 2)
        insertion.bind(Int64(record.page), at: 3)
        insertion.bind(optional: record.record.map { Int64($0) }, at: 4)
        insertion.bind(record.reason, at: 5)
        insertion.bind(record.representation, at: 6)
        insertion.bind(record.location, at: 7)
        insertion.bind(Clock.now(), at: 8)
        insertion.bind(record.fingerprint, at: 9)
        insertion.bind(optional: record.cutFrom.map { Int64($0) }, at: 10)
        insertion.bind(record.source, at: 11)
        insertion.bind(record.parent, at: 12)
        insertion.bind(record.key, at: 13)
        try insertion.run()
    }

    /// Returns whether the table has a record of an entity whose key is known.
    func mayHave(_ entity: String) throws -> Bool {
        search.bind(entity, at: 1)
        defer { search.reset() }
        return try search.step()
    }

    /// Returns the keys that may be in quarantine: one query for all of them, unless the quarantine has more.
    private func candidates(_ keys: [String], of entity: String) throws -> [String] {
        guard keys.count > 1 else { return keys }
        knownKeys.bind(entity, at: 1)
        knownKeys.bind(Int64(keys.count), at: 2)
        defer { knownKeys.reset() }
        var known: Set<ExactText> = []
        while try knownKeys.step() { known.insert(ExactText(knownKeys.text(0) ?? "")) }
        return known.count < keys.count ? keys.filter { known.contains(ExactText($0)) } : keys
    }

    /// Removes the records of objects; returns whether there were any.
    ///
    /// - Parameter source: The further source that the records come from, empty for the entity's own bridge; nil for any.
    func release(_ keys: [String], of entity: String, from source: String?) throws -> Bool {
        var found: [Int64] = []
        for key in try candidates(keys, of: entity) {
            lookup.bind(entity, at: 1)
            lookup.bind(key, at: 2)
            lookup.bind(source, at: 3)
            defer { lookup.reset() }
            while try lookup.step() { found.append(lookup.int64(0)) }
        }
        // A delete takes the write lock even if it finds nothing.
        for id in found {
            removal.bind(id, at: 1)
            try removal.run()
        }
        return !found.isEmpty
    }
}
