internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// Positions, cursors, and the deletion of missing rows.
    static let scans = [
        StoreCheck("positions-are-saved", positionsAreSaved),
        StoreCheck("a-scan-starts-with-what-was-saved", aScanStartsWithWhatWasSaved),
        StoreCheck("missing-rows-are-deleted", missingRowsAreDeleted),
        StoreCheck("a-resumed-scan-knows-its-rows", aResumedScanKnowsItsRows),
        StoreCheck("a-scan-begins-beside-an-open-page", aScanBeginsBesideAnOpenPage),
        StoreCheck("skipped-rows-stay", skippedRowsStay),
        StoreCheck("the-deletion-limit-holds", theDeletionLimitHolds),
        StoreCheck("two-listings-confirm", twoListingsConfirm),
        StoreCheck("parents-are-swept-together", parentsAreSweptTogether),
        StoreCheck("an-abandoned-scan-is-taken-back", anAbandonedScanIsTakenBack),
        StoreCheck("parents-are-paged", parentsArePaged),
        StoreCheck("a-returning-object-is-asked-for-again", aReturningObjectIsAskedForAgain),
    ]

    private static let scope = ScanScope(entity: "City")

    /// Lists cities, as a scan of one page.
    private static func scan(
        _ session: StoreSession, _ ids: ClosedRange<Int64>?, _ end: ScanEnd,
        before: (PageSession) throws -> Void = { _ in }
    ) throws -> SweepResult {
        try session.store.beginScan(scope, afterPage: nil)
        defer { session.store.endScan(scope) }
        var result = SweepResult()
        try session.page { page in
            try page.transaction.follow(ScanTarget(scope: scope, entity: SampleModel.city))
            for id in ids.map(Array.init) ?? [] { try page.merge(SampleModel.city, ["id": .integer(id)]) }
            try before(page)
            result = try page.transaction.finish(end)
            try page.transaction.saveProgress(scope, progress: nil)
        }
        return result
    }

    private static let sweep = ScanEnd(sweep: SweepRule(deletionLimit: nil))

    private static func positionsAreSaved(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let position = ScanProgress(
            cursor: "c", page: 3, request: "r", newest: Watermark(local: .integer(7), remote: "7"), began: "b")
        try session.page { page in
            try page.merge(SampleModel.city, ["id": .integer(1)])
            try page.transaction.saveProgress(scope, progress: position)
        }
        try expect("the position", try session.store.progress(of: scope), position)
        try expect(
            "the position of another scope",
            try session.store.progress(of: ScanScope(entity: "City", source: "s")), nil)
        try session.store.forgetProgress(of: scope)
        try expect("a forgotten position", try session.store.progress(of: scope), nil)
        let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")
        _ = try scan(session, 1...1, ScanEnd(cursor: cursor))
        try expect("the cursor", try session.store.cursor(of: scope), cursor)
        _ = try scan(session, 1...1, ScanEnd())
        try expect("the cursor after a scan without one", try session.store.cursor(of: scope), cursor)
        let newest = ScanCursor(
            token: nil, newest: Watermark(local: .integer(7), remote: "7"), request: "r", fullAt: "f")
        _ = try scan(session, 1...1, ScanEnd(cursor: newest))
        try expect(
            "the next scan in the status", try session.store.status()[SampleModel.city].cursors,
            ["the next scan asks for what is newer than 7; it was last fetched in full at f"])
    }

    private static func aScanStartsWithWhatWasSaved(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let listing = MemberListing(entity: "City", source: "", request: "r")
        let empty = ScanStart(progress: nil, cursor: nil, acknowledged: 0, members: [])
        try expect("the start of the first scan", try session.store.start(of: scope, listing), empty)
        let member = ListedMember(entity: SampleModel.city, path: "name")
        let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")
        _ = try scan(session, 1...1, ScanEnd(cursor: cursor)) { page in
            try page.transaction.noteMembers([member], of: listing)
        }
        let position = ScanProgress(cursor: "c", page: 3, request: "r", newest: nil, began: "b")
        try session.page { page in
            // A store need not save a position alone.
            try page.merge(SampleModel.city, ["id": .integer(2)])
            try page.transaction.saveProgress(scope, progress: position)
        }
        let saved = ScanStart(progress: position, cursor: cursor, acknowledged: 0, members: [member])
        // Twice, as a store may keep what it prepared for the first time.
        for _ in 0..<2 { try expect("the start of a scan", try session.store.start(of: scope, listing), saved) }
        try expect(
            "the start of a scan of another scope and listing",
            try session.store.start(
                of: ScanScope(entity: "City", source: "s"), MemberListing(entity: "City", source: "s", request: "r")),
            empty)
    }

    private static func missingRowsAreDeleted(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            for id: Int64 in 1...4 { try page.merge(SampleModel.city, ["id": .integer(id)]) }
            try page.merge(SampleModel.city, ["id": .integer(5)], as: .nested)
            try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(6)])
            _ = try page.ensure(SampleModel.city, .integer(6))
        }
        let result = try scan(session, 1...2, sweep)
        try expect("the number of deleted rows", result.deleted, [SampleModel.city: 2])
        try expect(
            "rows, nested rows and stubs", try session.rows(SampleModel.city), ["1 - -", "2 - -", "5 - -", "6 - -"])
        let again = try scan(session, 1...2, sweep)
        try expect("a second sweep", again.deleted, [:])
    }

    /// What another listing had brought for a deleted object is lost, so that this listing must be asked in full when the
    /// object returns.
    private static func aReturningObjectIsAskedForAgain(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")
        let scopes = [
            ScanScope(entity: "Country"), ScanScope(entity: "City"), ScanScope(entity: "City", source: "facts"),
            ScanScope(entity: "City", source: "facts", parent: "[\"NO\"]"),
        ]
        func end(_ scope: ScanScope, of entity: Int, _ end: ScanEnd, rows: (PageSession) throws -> Void) throws {
            try session.store.beginScan(scope, afterPage: nil)
            defer { session.store.endScan(scope) }
            try session.page { page in
                try page.transaction.setSource(PageSource(bridge: "remote", scan: scope.entity, location: nil))
                try page.transaction.follow(ScanTarget(scope: scope, entity: entity))
                try rows(page)
                _ = try page.transaction.finish(end)
            }
        }
        /// Lists Norway, with Oslo in it.
        func listCountry(_ last: ScanEnd) throws {
            try end(scopes[0], of: SampleModel.country, last) { page in
                try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(2)])
                for id: Int64 in 1...2 {
                    try page.merge(SampleModel.city, ["id": .integer(id), "name": .text("x")], as: .nested)
                }
            }
        }
        func listCities(_ ids: ClosedRange<Int64>) throws {
            try end(scopes[1], of: SampleModel.city, sweep) { page in
                for id in ids { try page.merge(SampleModel.city, ["id": .integer(id)]) }
            }
        }
        func expectCursors(_ when: String, _ expected: [Bool]) throws {
            let cursors = try session.store.cursors(of: scopes)
            try expect("the cursors of \(scopes.map(\.entity)) \(when)", cursors.map { $0 != nil }, expected)
        }
        func saveCursors() throws {
            for scope in scopes.dropFirst() {
                try end(scope, of: SampleModel.city, ScanEnd(cursor: cursor)) { _ in }
            }
            try listCountry(ScanEnd(cursor: cursor))
        }
        try listCities(1...3)
        try saveCursors()
        // The country refers to the second city, which becomes a stub.
        for (first, what): (Int64, String) in [(1, "row"), (2, "stub")] {
            try listCities(first + 1...3)
            try expectCursors("after a deletion", [true, true, true, true])
            try listCities(first...3)
            try expectCursors("after the return of a \(what)", [false, true, true, true])
            try saveCursors()
        }
        var changes = ScanEnd(cursor: cursor)
        changes.followsCursor = true
        try listCities(1...3)
        try listCities(2...3)
        try listCities(1...3)
        try listCountry(changes)
        try expectCursors("after a scan that asked for changes", [false, true, true, true])
        // A further source of the same entity.
        try end(scopes[2], of: SampleModel.city, ScanEnd(cursor: cursor)) { page in
            try page.merge(SampleModel.city, ["id": .integer(3), "name": .text("y")], as: .nested)
        }
        try listCities(1...2)
        try listCities(1...3)
        try expectCursors("after the return of what a source had brought", [false, true, false, true])
    }

    private static func aResumedScanKnowsItsRows(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.city, ["id": .integer(1)], ["id": .integer(2)], ["id": .integer(3)])
        let target = ScanTarget(scope: scope, entity: SampleModel.city)
        try session.store.beginScan(scope, afterPage: nil)
        try session.page { page in
            try page.transaction.follow(target)
            try page.merge(SampleModel.city, ["id": .integer(1), "name": .text("x")])
            try page.transaction.saveProgress(scope, progress: ScanProgress(cursor: "c", page: 1, request: "r"))
        }
        session.store.endScan(scope)
        try session.store.close()
        let second = try subject.open()
        let position = try required("the position", try second.store.progress(of: scope))
        try second.store.beginScan(scope, afterPage: position.page)
        var result = SweepResult()
        try second.page { page in
            try page.transaction.follow(target)
            try page.merge(SampleModel.city, ["id": .integer(2)])
            try expect("the rows listed in both parts", try page.transaction.listedRows()?.distinct, 2)
            result = try page.transaction.finish(sweep)
        }
        try expect("the rows that no part listed", result.deleted, [SampleModel.city: 1])
        try expect("the rows of both parts", try second.rows(SampleModel.city), ["1 x -", "2 - -"])
    }

    private static func aScanBeginsBesideAnOpenPage(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("FR")], ["code": .text("NO")])
        try session.add(SampleModel.city, ["id": .integer(1)], ["id": .integer(2)])
        let countries = ScanScope(entity: "Country")
        try session.store.beginScan(scope, afterPage: nil)
        let open = try session.begin()
        try open.access { page in
            try page.transaction.follow(ScanTarget(scope: scope, entity: SampleModel.city))
            try page.merge(SampleModel.city, ["id": .integer(1)])
        }
        try session.store.beginScan(countries, afterPage: nil)
        try open.access { _ = try $0.transaction.finish(sweep) }
        try open.transaction.commit()
        session.store.endScan(scope)
        var result = SweepResult()
        try session.page { page in
            try page.transaction.follow(ScanTarget(scope: countries, entity: SampleModel.country))
            try page.merge(SampleModel.country, ["code": .text("NO")])
            try expect("the rows listed by the scan that began", try page.transaction.listedRows()?.distinct, 1)
            result = try page.transaction.finish(sweep)
        }
        session.store.endScan(countries)
        try expect("the rows missing from its listing", result.deleted, [SampleModel.country: 1])
        try expect("the rows missing from the page's scan", try session.rows(SampleModel.city), ["1 - -"])
    }

    private static func skippedRowsStay(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(
            SampleModel.city, ["id": .integer(1)], ["id": .integer(2), "name": .text("a/b")], ["id": .integer(3)])
        _ = try scan(session, 1...1, sweep) { page in
            try page.transaction.markSkipped([SkippedRows(field: 1, value: "a/", isPrefix: true)])
            try page.transaction.markSkipped(entity: SampleModel.city, key: [.integer(3)])
        }
        try expect("the skipped rows", try session.rows(SampleModel.city).count, 3)
        let result = try scan(session, 1...1, sweep) { try $0.transaction.skipUnknown() }
        try expect("whether the sweep is uncertain", result.isUncertain, true)
        try expect("the rows of an uncertain sweep", try session.rows(SampleModel.city).count, 3)
    }

    private static func theDeletionLimitHolds(_ subject: StoreSubject) throws {
        let session = try subject.open()
        _ = try scan(session, 1...20, ScanEnd(sweep: SweepRule(deletionLimit: nil, origin: "here")))
        let deletionLimit = DeletePolicy.DeletionLimit(share: 0.2, rows: 2)
        let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "f")
        let held = try scan(
            session, 1...10, ScanEnd(cursor: cursor, sweep: SweepRule(deletionLimit: deletionLimit, origin: "here")))
        try expect("the prevented sweep", held.held, SweepResult.LimitExceeded(gone: 10, total: 20))
        try expect("the rows after it", try session.rows(SampleModel.city).count, 20)
        try expect("the cursor after it", try session.store.cursor(of: scope), nil)
        let few = try scan(
            session, 1...18, ScanEnd(cursor: cursor, sweep: SweepRule(deletionLimit: deletionLimit, origin: "here")))
        try expect("a sweep within the limit", few.deleted, [SampleModel.city: 2])
        try expect("the cursor after a sweep", try session.store.cursor(of: scope), cursor)
        let other = try scan(
            session, 1...17, ScanEnd(sweep: SweepRule(deletionLimit: deletionLimit, origin: "elsewhere")))
        try expect("rows from another origin", other.held?.origin, "here")
    }

    private static func twoListingsConfirm(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.city, ["id": .integer(1)], ["id": .integer(2)], ["id": .integer(3)])
        let first = try scan(session, 1...1, ScanEnd(sweep: SweepRule(deletionLimit: nil, listing: .first)))
        try expect("rows missing from the first listing", first.unconfirmed, 2)
        try expect("the rows after the first listing", try session.rows(SampleModel.city).count, 3)
        let second = try scan(session, 1...2, ScanEnd(sweep: SweepRule(deletionLimit: nil, listing: .second))) { page in
            try expect("rows that the second listing lacks too", try page.transaction.unconfirmedRows(), 1)
            try page.merge(SampleModel.city, ["id": .integer(1)])
            let rows = try page.transaction.listedRows()
            try expect("rows listed again", rows.map { $0.count - ($0.distinct ?? 0) }, 1)
            try expect("rows listed again on one page", rows?.repeatedOnPage, 1)
        }
        try expect("rows missing from both", second.deleted, [SampleModel.city: 1])
    }

    private static func parentsAreSweptTogether(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("NO")], ["code": .text("SE")])
        func scan(_ country: String, _ ids: Int64...) throws {
            let key: [StoredValue] = [.text(country)]
            let scope = ScanScope(entity: "City", parent: "[\"\(country)\"]")
            try session.store.beginScan(scope, afterPage: nil)
            defer { session.store.endScan(scope) }
            try session.page { page in
                let toOne = try required(
                    "country", session.model.entities[SampleModel.city].toOne.firstIndex { $0.name == "country" })
                try page.transaction.follow(
                    ScanTarget(scope: scope, entity: SampleModel.city, parent: (relationship: toOne, key: key)))
                for id in ids {
                    try page.merge(SampleModel.city, ["id": .integer(id), "country": .text(country)])
                }
                _ = try page.transaction.finish(ScanEnd(sweep: SweepRule(deletionLimit: nil), defersSweep: true))
            }
        }
        func finish() throws -> SweepResult {
            var result = SweepResult()
            try session.page {
                result = try $0.transaction.finishParents(of: SampleModel.city, SweepRule(deletionLimit: nil))
            }
            return result
        }
        try session.store.beginParents(of: SampleModel.city)
        try scan("NO", 1, 2, 3)
        try scan("SE", 4)
        try expect("the first scans", try finish().deleted, [:])
        try session.store.beginParents(of: SampleModel.city)
        try scan("NO", 1)
        try expect("rows before the last parent", try session.rows(SampleModel.city).count, 4)
        try scan("SE", 4, 2)
        try expect("rows after the last parent", try finish().deleted, [SampleModel.city: 1])
        try expect(
            "a row that moved to another parent", try session.rows(SampleModel.city), ["1 - NO", "2 - SE", "4 - SE"])
    }

    private static func anAbandonedScanIsTakenBack(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let scope = ScanScope(entity: "Entry")
        try session.add(SampleModel.entry, ["text": .text("kept")])
        try session.store.beginScan(scope, afterPage: nil)
        try session.page { page in
            try page.transaction.follow(ScanTarget(scope: scope, entity: SampleModel.entry))
            try page.merge(SampleModel.entry, ["text": .text("listed")])
            try page.transaction.saveProgress(scope, progress: ScanProgress(cursor: "c", page: 1, request: "r"))
        }
        session.store.endScan(scope)
        let source = PageSource(bridge: "remote", scan: "Entry", location: nil)
        let count = try session.store.removeAbandoned(scope, of: SampleModel.entry, as: source)
        try expect("the rows that were taken back", count, 1)
        try expect("the other rows", try session.rows(SampleModel.entry), ["kept"])
        try expect("the position", try session.store.progress(of: scope), nil)
    }

    private static func parentsArePaged(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            for id: Int64 in 1...3 { try page.merge(SampleModel.city, ["id": .integer(id)]) }
            try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(4)])
            _ = try page.ensure(SampleModel.city, .integer(4))
        }
        let all = try session.store.parents(of: SampleModel.city, where: [], after: .min, limit: 10)
        try expect(
            "the keys of parents, none for a stub", all.map { $0.values.first?.description ?? "-" },
            ["1", "2", "3", "-"])
        try expect("the last row", try session.store.lastRow(of: SampleModel.city), all.last?.row ?? 0)
        let rest = try session.store.parents(of: SampleModel.city, where: [], after: all[1].row, limit: 1)
        try expect("a portion", rest.map(\.row), [all[2].row])
        try expect("the last row without objects", try session.store.lastRow(of: SampleModel.note), 0)
    }
}
