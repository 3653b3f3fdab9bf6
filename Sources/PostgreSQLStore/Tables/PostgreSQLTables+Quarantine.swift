internal import Mapping
internal import StoreContract
internal import StoreRules

/// Quarantine, unknown fields and members.
extension PostgreSQLTables {
    /// The maximum number of unknown fields kept per entity: a remote may use values as names.
    private static let mostFields: Int64 = 1_000

    /// Stores a record; one that fails repeatedly for the same reason is stored once.
    func quarantine(_ record: QuarantinedRecord) throws {
        noteWritten()
        var record = record
        record.reason = Self.storable(record.reason)
        record.representation = Self.storable(record.representation)
        let hash = record.fingerprint
        let known = try connection.query(
            """
            UPDATE \(sql.own("bmo_quarantine")) SET bridge = $5::text, page = $6::bigint, record = $7::bigint,
                location = $8::text, last_seen = $9::text, source = $10::text, parent = $11::text, key = $12::text
            WHERE entity = $1::text AND hash = $2::bigint AND reason = $3::text AND representation = $4::text
            """,
            [
                .text(record.entity), .bigint(hash), .text(record.reason), .text(record.representation),
                .text(record.bridge), .bigint(Int64(record.page)), .bigint(record.record.map(Int64.init)),
                .text(record.location.map(Self.storable)), .text(Clock.now()),
            ] + Self.origin(of: record), for: "quarantining a record")
        guard known.changed == 0 else { return }
        counters.lastQuarantined += 1
        counters.hasQuarantined = true
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_quarantine")) (id, entity, bridge, page, record, reason, representation, location,
                cut_from, first_seen, last_seen, hash, source, parent, key)
            VALUES ($1::bigint, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::text, $8::text, $9::bigint,
                $10::text, $10::text, $11::bigint, $12::text, $13::text, $14::text)
            """,
            [
                .bigint(counters.lastQuarantined), .text(record.entity), .text(record.bridge),
                .bigint(Int64(record.page)), .bigint(record.record.map(Int64.init)), .text(record.reason),
                .text(record.representation), .text(record.location.map(Self.storable)),
                .bigint(record.cutFrom.map(Int64.init)), .text(Clock.now()), .bigint(hash),
            ] + Self.origin(of: record), for: "quarantining a record")
    }

    private static func origin(of record: QuarantinedRecord) -> [SQLParameter] {
        [.text(record.source), .text(record.parent), .text(record.key)]
    }

    /// Writes out the one character that PostgreSQL's text cannot have.
    static func storable(_ text: String) -> String {
        text.utf8.contains(0) ? text.replacing("\0", with: "\\u0000") : text
    }

    func quarantined(entity: String?, notSeenSince instant: String?) throws -> [QuarantineEntry] {
        let result = try connection.query(
            """
            SELECT id, entity, bridge, page, record, reason, representation, location, cut_from, first_seen, last_seen,
                source, parent, key
            FROM \(sql.own("bmo_quarantine"))
            WHERE ($1::text IS NULL OR entity = $1) AND ($2::text IS NULL OR last_seen < $2) ORDER BY id
            """, [.text(entity), .text(instant)], for: "reading the quarantine")
        return (0..<result.count).map { row in
            let record = QuarantinedRecord(
                entity: result.text(row, 1) ?? "", bridge: result.text(row, 2) ?? "",
                page: Int(result.bigint(row, 3) ?? 0), record: result.bigint(row, 4).map(Int.init),
                reason: result.text(row, 5) ?? "", representation: result.text(row, 6) ?? "",
                location: result.text(row, 7), cutFrom: result.bigint(row, 8).map(Int.init),
                source: result.text(row, 11), parent: result.text(row, 12), key: result.text(row, 13))
            return QuarantineEntry(
                id: result.bigint(row, 0) ?? 0, record: record, firstSeen: result.text(row, 9) ?? "",
                lastSeen: result.text(row, 10) ?? "")
        }
    }

    func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        let result = try connection.query(
            """
            SELECT count(*) FROM \(sql.own("bmo_quarantine")) WHERE entity = $1::text AND last_seen >= $2::text
            """, [.text(entity), .text(instant)], for: "counting quarantined records")
        return Int(result.bigint(0, 0) ?? 0)
    }

    /// Removes records from quarantine.
    func release(_ ids: [Int64]) throws {
        noteWritten()
        try connection.query(
            "DELETE FROM \(sql.own("bmo_quarantine")) WHERE id = ANY($1::bigint[])", [.bigints(ids)],
            for: "releasing quarantined records")
    }

    func mayHaveQuarantined(_ entity: String) -> Bool { counters.hasQuarantined }

    func release(_ keys: [String], of entities: [String], from source: String?) throws {
        guard counters.hasQuarantined else { return }
        let released = try connection.query(
            """
            DELETE FROM \(sql.own("bmo_quarantine"))
            WHERE entity = ANY($1::text[]) AND key = ANY($2::text[]) AND ($3::text IS NULL OR source = $3)
            """, [.texts(entities), .texts(keys), .text(source)], for: "releasing quarantined records")
        if released.changed > 0 { noteWritten() }
    }

    // MARK: - Fields and members

    func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        let result = try connection.query(
            """
            SELECT entity, path FROM \(sql.own("bmo_unknown_fields")) WHERE seen >= $1::text ORDER BY entity, path
            """, [.text(instant)], for: "reading unmapped fields")
        return (0..<result.count).map {
            UnknownFieldRecord(entity: result.text($0, 0) ?? "", path: result.text($0, 1) ?? "")
        }
    }

    func noteUnknownField(_ path: String, of entity: String) throws {
        let path = Self.storable(path)
        let inserted = try connection.query(
            """
            INSERT INTO \(sql.own("bmo_unknown_fields"))
            SELECT $1::text, CASE WHEN count(*) < \(Self.mostFields) THEN $2::text ELSE '(further fields)' END, $3::text
            FROM \(sql.own("bmo_unknown_fields")) WHERE entity = $1
            HAVING NOT EXISTS (SELECT 1 FROM \(sql.own("bmo_unknown_fields")) WHERE entity = $1 AND path = $2)
                AND NOT (count(*) >= \(Self.mostFields) AND bool_or(path = '(further fields)'))
            """, [.text(entity), .text(path), .text(Clock.now())], for: "recording an unmapped field")
        if inserted.changed > 0 { noteWritten() }
    }

    // Writes only what is new.
    func noteMembers(_ members: [(entity: String, path: String)], in listing: MemberListing) throws {
        let known = Set(
            try self.members(of: listing).filter { $0.request == listing.request && !$0.isGone }
                .map { [ExactText($0.entity), ExactText($0.path)] })
        let new = Set(members.map { [ExactText($0.entity), ExactText(Self.storable($0.path))] }).subtracting(known)
        guard !new.isEmpty else { return }
        noteWritten()
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_members"))
            SELECT $1::text, $2::text, e, p, $3::text, false FROM unnest($4::text[], $5::text[]) AS u(e, p)
            ON CONFLICT (listing, source, entity, path) DO UPDATE SET request = excluded.request, is_gone = false
            """,
            [
                .text(listing.entity), .text(listing.source), .text(listing.request), .texts(new.map { $0[0].string }),
                .texts(new.map { $0[1].string }),
            ], for: "recording the members of \(listing.entity)")
    }

    func members(of listing: MemberListing) throws -> [NotedMember] {
        let result = try connection.query(
            """
            SELECT entity, path, request, is_gone FROM \(sql.own("bmo_members"))
            WHERE listing = $1::text AND source = $2::text
            """, [.text(listing.entity), .text(listing.source)], for: "reading the members of \(listing.entity)")
        return (0..<result.count).map { row in
            NotedMember(
                entity: result.text(row, 0) ?? "", path: result.text(row, 1) ?? "", request: result.text(row, 2) ?? "",
                isGone: result.boolean(row, 3))
        }
    }

    func markGone(_ members: [NotedMember], in listing: MemberListing) throws {
        noteWritten()
        try connection.query(
            """
            UPDATE \(sql.own("bmo_members")) t SET is_gone = true
            FROM unnest($3::text[], $4::text[]) AS u(e, p)
            WHERE t.listing = $1::text AND t.source = $2::text AND t.entity = u.e AND t.path = u.p
            """,
            [
                .text(listing.entity), .text(listing.source), .texts(members.map(\.entity)),
                .texts(members.map(\.path)),
            ], for: "recording missing members of \(listing.entity)")
    }
}
