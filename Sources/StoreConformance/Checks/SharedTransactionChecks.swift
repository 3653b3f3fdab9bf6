internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// The pages of several scans by parent in one transaction.
    static let sharedTransactions = [
        StoreCheck("several-scans-share-a-transaction") { try await severalScans($0, areAnnounced: false) },
        StoreCheck("announced-scans-share-a-transaction") { try await severalScans($0, areAnnounced: true) },
        StoreCheck("scans-of-text-keys-share-a-transaction", scansOfTextKeys),
        StoreCheck("a-shared-transaction-is-rolled-back-whole", isRolledBackWhole),
    ]

    /// The scan of the objects of one parent, and what it lists: each key with the parent that the record names.
    private struct Listing {
        let entity: Int
        let relationship: String
        let parent: StoredValue
        let rows: [(key: StoredValue, parent: StoredValue)]
        var cursor: ScanCursor?

        /// Cities by country.
        init(_ country: String, _ rows: [(key: Int64, parent: String)], cursor: ScanCursor? = nil) {
            entity = SampleModel.city
            relationship = "country"
            parent = .text(country)
            self.rows = rows.map { (.integer($0.key), .text($0.parent)) }
            self.cursor = cursor
        }

        /// Countries by capital.
        init(capital: Int64, _ rows: [String]) {
            entity = SampleModel.country
            relationship = "capital"
            parent = .integer(capital)
            self.rows = rows.map { (.text($0), .integer(capital)) }
        }

        func scope(_ model: CompiledModel) -> ScanScope {
            ScanScope(entity: model.entities[entity].name, parent: JSONText.key([parent]).string)
        }

        func target(_ model: CompiledModel) throws -> ScanTarget {
            let toOne = try required(
                relationship, model.entities[entity].toOne.firstIndex { $0.name == relationship })
            return ScanTarget(scope: scope(model), entity: entity, parent: (relationship: toOne, key: [parent]))
        }
    }

    /// Writes the listings in one page, which the caller ends; returns how many rows each scan has listed.
    private static func list(
        _ listings: [Listing], _ session: StoreSession, _ page: PageSession, areAnnounced: Bool
    ) throws -> [Int?] {
        let model = session.model
        var counts: [Int?] = []
        if areAnnounced {
            let scans = try listings.map {
                AnnouncedScan(try $0.target(model), mayLeaveCursor: $0.cursor != nil, sweeps: true)
            }
            let objects = listings.flatMap { listing in
                listing.rows.map { ObjectKey(entity: listing.entity, values: [$0.key]) }
            }
            try page.transaction.announce(scans, objects)
        }
        for listing in listings {
            let layout = model.entities[listing.entity]
            try page.transaction.follow(try listing.target(model))
            for row in listing.rows {
                try page.merge(
                    listing.entity, [layout.fields[layout.key[0]].name: row.key, listing.relationship: row.parent])
            }
            counts.append(try page.transaction.listedRows()?.distinct)
            _ = try page.transaction.finish(
                ScanEnd(cursor: listing.cursor, sweep: SweepRule(deletionLimit: nil), defersSweep: true))
            try page.transaction.saveProgress(listing.scope(model), progress: nil)
        }
        return counts
    }

    /// Begins the scans of listings, runs `body`, and ends the scans.
    private static func scanning(_ listings: [Listing], _ session: StoreSession, _ body: () throws -> Void) throws {
        for listing in listings { try session.store.beginScan(listing.scope(session.model), afterPage: nil) }
        defer { for listing in listings { session.store.endScan(listing.scope(session.model)) } }
        try body()
    }

    private static func sweep(
        _ entity: Int, _ session: StoreSession, limit: DeletePolicy.DeletionLimit? = nil
    ) throws -> SweepResult {
        var result = SweepResult()
        try session.page {
            result = try $0.transaction.finishParents(of: entity, SweepRule(deletionLimit: limit))
        }
        return result
    }

    /// Walks over all listings in one transaction.
    private static func walk(
        _ listings: [Listing], _ session: StoreSession, areAnnounced: Bool
    ) throws -> (counts: [Int?], sweep: SweepResult) {
        let entity = try required("a listing", listings.first).entity
        try session.store.beginParents(of: entity)
        var counts: [Int?] = []
        try scanning(listings, session) {
            try session.page { counts = try list(listings, session, $0, areAnnounced: areAnnounced) }
        }
        return (counts, try sweep(entity, session))
    }

    private static func addCities(_ session: StoreSession) throws {
        for country in ["NO", "SE", "CL"] { try session.add(SampleModel.country, ["code": .text(country)]) }
        let countries = ["NO", "NO", "NO", "SE", "SE", "CL"]
        for (index, country) in countries.enumerated() {
            try session.add(SampleModel.city, ["id": .integer(Int64(index + 1)), "country": .text(country)])
        }
    }

    private static func severalScans(_ subject: StoreSubject, areAnnounced: Bool) async throws {
        let session = try subject.open()
        try addCities(session)
        let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")
        // 4 moves to Norway before Sweden's listing lacks it, 2 to Sweden after Norway's; Norway's has a new city of Sweden.
        let north = try walk(
            [
                Listing("NO", [(1, "NO"), (4, "NO"), (7, "NO"), (8, "SE")], cursor: cursor),
                Listing("SE", [(5, "SE"), (2, "SE")]), Listing("DK", []),
            ], session, areAnnounced: areAnnounced)
        try expect("the rows that each scan has listed", north.counts, [4, 2, 0])
        try expect("the deleted rows", north.sweep.deleted, [SampleModel.city: 1])
        try expect(
            "the rows", try session.rows(SampleModel.city),
            ["1 - NO", "2 - SE", "4 - NO", "5 - SE", "6 - CL", "7 - NO", "8 - SE"])
        let scope = ScanScope(entity: "City", parent: "[\"NO\"]")
        // It waits for the row that is missing from Norway's scan.
        try expect("the cursor of a scan", try session.store.cursor(of: scope), cursor)
        let later = ScanCursor(token: "u", newest: nil, request: "r", fullAt: "f")
        let south = try walk(
            [
                Listing("CL", [(6, "CL"), (9, "CL")], cursor: later), Listing("SE", [(2, "SE"), (8, "SE")]),
                Listing("NO", [(1, "NO"), (4, "NO"), (7, "NO")], cursor: later),
            ], session, areAnnounced: areAnnounced)
        try expect("the rows that a second walk deletes", south.sweep.deleted, [SampleModel.city: 1])
        try expect(
            "the rows after it", try session.rows(SampleModel.city),
            ["1 - NO", "2 - SE", "4 - NO", "6 - CL", "7 - NO", "8 - SE", "9 - CL"])
        try expect("the second cursor of a scan", try session.store.cursor(of: scope), later)
        try session.store.close()
    }

    private static func scansOfTextKeys(_ subject: StoreSubject) throws {
        let session = try subject.open()
        for city: Int64 in 1...3 { try session.add(SampleModel.city, ["id": .integer(city)]) }
        for (code, capital) in [("A", 1), ("B", 1), ("C", 2)] as [(String, Int64)] {
            try session.add(SampleModel.country, ["code": .text(code), "capital": .integer(capital)])
        }
        let result = try walk(
            [Listing(capital: 1, ["A", "D"]), Listing(capital: 2, ["B"]), Listing(capital: 3, [])], session,
            areAnnounced: true)
        try expect("the rows that each scan has listed", result.counts, [2, 1, 0])
        try expect("the deleted rows", result.sweep.deleted, [SampleModel.country: 1])
        try expect(
            "the rows", try session.rows(SampleModel.country), ["A - - - 1", "B - - - 2", "D - - - 1"])
    }

    private static func isRolledBackWhole(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try addCities(session)
        let listings = [
            Listing(
                "NO", [(1, "NO"), (4, "NO"), (7, "NO")],
                cursor: ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")),
            Listing("SE", [(5, "SE")]),
        ]
        try session.store.beginParents(of: SampleModel.city)
        var swept = SweepResult()
        try scanning(listings, session) {
            let page = try session.begin()
            try page.access { _ = try list(listings, session, $0, areAnnounced: true) }
            page.transaction.rollback()
            try expect(
                "the rows after it was rolled back", try session.rows(SampleModel.city),
                ["1 - NO", "2 - NO", "3 - NO", "4 - SE", "5 - SE", "6 - CL"])
            try expect(
                "the cursor after it was rolled back", try session.store.cursor(of: listings[0].scope(session.model)),
                nil)
            // Each in a transaction of its own.
            for listing in listings {
                try session.page { page in
                    let counts = try list([listing], session, page, areAnnounced: false)
                    try expect("the rows that a scan has listed then", counts, [listing.rows.count])
                }
            }
            // Of the six rows of the two scopes, 2 and 3 are missing.
            swept = try sweep(
                SampleModel.city, session, limit: DeletePolicy.DeletionLimit(share: 0.1, rows: 1))
        }
        try expect(
            "the rows that the deletion limit counts", swept.held, SweepResult.LimitExceeded(gone: 2, total: 6))
    }
}
