internal import Importer
internal import RecordBatch

/// Where each walk stands: table `bmo_progress`.
final class ProgressTable {
    private let insertion: RawStatement
    private let deletion: RawStatement
    private var lastSaved: [String: ContinuousClock.Instant] = [:]

    init(on connection: OpaquePointer?) throws {
        insertion = try RawStatement(
            """
            INSERT INTO bmo_progress (entity, cursor, page, request, saved) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET cursor = excluded.cursor, page = excluded.page, request = excluded.request,
                saved = excluded.saved
            """, on: connection)
        deletion = try RawStatement("DELETE FROM bmo_progress WHERE entity = ?", on: connection)
    }

    /// - Parameter isOptional: The page changed nothing. Then once a second is enough: a walk that starts again from an
    ///   older place loses nothing, and a sync that changes nothing writes nothing.
    func save(entity: String, progress: WalkProgress?, isOptional: Bool) throws {
        guard let progress else {
            deletion.bind(entity, at: 1)
            try deletion.run()
            return
        }
        let now = ContinuousClock.now
        let last = lastSaved[entity]
        if isOptional, let last, now - last < .seconds(1) { return }
        lastSaved[entity] = now
        if isOptional, last == nil { return }
        insertion.bind(entity, at: 1)
        insertion.bind(progress.cursor, at: 2)
        insertion.bind(Int64(progress.page), at: 3)
        insertion.bind(progress.request, at: 4)
        insertion.bind(Clock.now(), at: 5)
        try insertion.run()
    }
}

/// Records that could not be imported: table `bmo_quarantine`.
final class QuarantineWriter {
    private let insertion: RawStatement

    init(on connection: OpaquePointer?) throws {
        // The same record with the same fault is one row, however often it comes.
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
        insertion.bind(Self.fingerprint(record), at: 9)
        insertion.bind(optional: record.cutFrom.map { Int64($0) }, at: 10)
        try insertion.run()
    }

    private static func fingerprint(_ record: QuarantinedRecord) -> Int64 {
        var fingerprint = Fingerprint()
        fingerprint.add(record.reason)
        fingerprint.separate()
        fingerprint.add(record.representation)
        return Int64(bitPattern: fingerprint.value)
    }
}
