internal import StoreContract
internal import StoreRules

/// The writer of records that could not be imported: table `bmo_quarantine`.
final class QuarantineWriter {
    private let insertion: RawStatement

    init(on connection: OpaquePointer?) throws {
        // A record that fails repeatedly for the same reason is one row.
        insertion = try RawStatement(
            """
            INSERT INTO bmo_quarantine
                (entity, bridge, page, record, reason, representation, location, first_seen, last_seen, fingerprint,
                    cut_from)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10)
            ON CONFLICT DO UPDATE SET bridge = ?2, page = ?3, record = ?4, location = ?7, last_seen = ?8
            """, on: connection)
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
        insertion.bind(QuarantinedRecord.fingerprint(record.reason, record.representation), at: 9)
        insertion.bind(optional: record.cutFrom.map { Int64($0) }, at: 10)
        try insertion.run()
    }
}
