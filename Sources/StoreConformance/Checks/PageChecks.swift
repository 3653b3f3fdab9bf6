internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// The transaction of a page, and the bookkeeping that belongs to it.
    static let pages = [
        StoreCheck("a-rollback-leaves-nothing", aRollbackLeavesNothing),
        StoreCheck("readers-see-committed-pages", readersSeeCommittedPages),
        StoreCheck("an-ended-page-accepts-nothing", anEndedPageAcceptsNothing),
        StoreCheck("quarantine-keeps-a-record-once", quarantineKeepsARecordOnce),
        StoreCheck("outdated-records-leave-the-quarantine", outdatedRecordsLeaveTheQuarantine),
        StoreCheck("fields-and-members-are-noted", fieldsAndMembersAreNoted),
    ]

    private static let record = QuarantinedRecord(
        entity: "City", bridge: "remote", page: 1, record: 2, reason: "no id", representation: "{}", location: nil)

    private static func aRollbackLeavesNothing(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("Norway")])
        let scope = ScanScope(entity: "Country")
        try session.store.beginRun(kind: "sync")
        let page = try session.begin()
        try page.access { page in
            try page.merge(SampleModel.country, ["code": .text("NO"), "name": .text("x"), "capital": .integer(1)])
            try page.merge(SampleModel.country, ["code": .text("SE")])
            _ = try page.ensure(SampleModel.city, .integer(1))
            _ = try page.ensure(SampleModel.language, .text("nb"))
            _ = try page.mergeLinks(SampleModel.country, "languages", of: .text("NO"), [.text("nb")])
            try page.transaction.quarantine(record)
            try page.transaction.noteUnknownField(UnknownField(entity: SampleModel.country, path: "x"))
            try page.transaction.saveProgress(scope, progress: ScanProgress(cursor: "2", page: 1, request: "r"))
        }
        page.transaction.rollback()
        page.transaction.rollback()
        try expect("the rows after a rollback", try session.rows(SampleModel.country), ["NO Norway - - -"])
        try expect("the stubs after a rollback", try session.rows(SampleModel.city), [])
        try expect(
            "the links after a rollback", try session.list(SampleModel.country, "languages", of: .text("NO")), [])
        try expect("the quarantine after a rollback", try session.store.quarantined().count, 0)
        try expect("the unknown fields after a rollback", try session.store.unknownFields(), [])
        try expect("the position after a rollback", try session.store.progress(of: scope), nil)
        try expect(
            "the run after a rollback",
            try session.store.endRun(outcome: "finished", summary: nil, always: false), nil)
        try session.add(SampleModel.country, ["code": .text("SE")])
        try expect("the rows of the next page", try session.rows(SampleModel.country).count, 2)
    }

    private static func readersSeeCommittedPages(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let page = try session.begin()
        try page.access { try $0.merge(SampleModel.country, ["code": .text("NO")]) }
        try expect("the rows while a page is open", try session.rows(SampleModel.country), [])
        try page.transaction.commit()
        try expect("the rows after the commit", try session.rows(SampleModel.country).count, 1)
    }

    private static func anEndedPageAcceptsNothing(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let page = try session.begin()
        try page.transaction.commit()
        try expectError("a call after the commit", .internal) { try page.access { _ in } }
        try expectError("a second commit", .internal) { try page.transaction.commit() }
    }

    private static func quarantineKeepsARecordOnce(_ subject: StoreSubject) throws {
        let session = try subject.open()
        for number in 1...2 {
            try session.page { page in
                var record = record
                record.page = number
                try page.transaction.quarantine(record)
            }
        }
        let kept = try session.store.quarantined(entity: "City")
        try expect("the number of quarantined records", kept.count, 1)
        try expect("the page of the last occurrence", kept[0].record.page, 2)
        try expect("the quarantine of another entity", try session.store.quarantined(entity: "Country").count, 0)
        try expect(
            "records since the first", try session.store.quarantinedCount(of: "City", since: kept[0].firstSeen), 1)
        try expect("records since an empty time", try session.store.quarantinedCount(of: "City", since: ""), 0)
        let page = try session.begin()
        try session.store.removeQuarantined(kept[0].id)
        page.transaction.rollback()
        try expect("the quarantine after a rollback", try session.store.quarantined().count, 1)
        try session.store.releaseQuarantine(of: "City", notSeenSince: "9999") { _ in false }
        try expect("records that the scan did not cover", try session.store.quarantined().count, 1)
        try session.store.releaseQuarantine(of: "City", notSeenSince: "9999") { $0.representation == "{}" }
        try expect("records that the scan covered", try session.store.quarantined().count, 0)
    }

    private static func outdatedRecordsLeaveTheQuarantine(_ subject: StoreSubject) throws {
        let session = try subject.open()
        func record(_ key: String?, of entity: String = "City", from source: String, parent: String? = nil)
            -> QuarantinedRecord
        {
            QuarantinedRecord(
                entity: entity, bridge: "remote", page: 1, record: 1, reason: "bad", representation: "{}",
                location: nil,
                source: source, parent: parent, key: key)
        }
        let records = [
            record("[1]", from: ""), record("[1]", from: "facts"), record("[2]", from: "", parent: "[\"NO\"]"),
            record(nil, from: "", parent: "[\"SE\"]"), record("[1]", of: "Country", from: ""),
        ]
        try session.page { page in
            for record in records { try page.transaction.quarantine(record) }
            try expect(
                "whether City may have quarantined records",
                try page.transaction.mayHaveQuarantined(SampleModel.city), true)
        }
        try expect("records of several sources and parents", try session.store.quarantined().map(\.record), records)
        func release(_ keys: [String], from source: String?, end: (any PageTransaction) throws -> Void) throws {
            let page = try session.begin()
            try page.access {
                try $0.transaction.releaseQuarantine(of: keys, in: [SampleModel.city], from: source)
            }
            try end(page.transaction)
        }
        try release(["[1]", "[3]"], from: "") { $0.rollback() }
        try expect("the quarantine after a rollback", try session.store.quarantined().count, records.count)
        try release(["[1]", "[3]"], from: "") { try $0.commit() }
        try expect(
            "the quarantine after an object was listed", try session.store.quarantined().map(\.record),
            Array(records[1...]))
        try release(["[1]", "[2]"], from: nil) { try $0.commit() }
        try expect(
            "the quarantine after objects were deleted", try session.store.quarantined().map(\.record),
            Array(records[3...]))
    }

    private static func fieldsAndMembersAreNoted(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let listing = MemberListing(entity: "City", source: "", request: "r")
        let records = ListedMember(entity: SampleModel.city, path: "")
        let member = ListedMember(entity: SampleModel.city, path: "name")
        try session.page { page in
            for _ in 0..<2 {
                try page.transaction.noteUnknownField(UnknownField(entity: SampleModel.city, path: "x"))
                try page.transaction.noteMembers([records, member], of: listing)
            }
        }
        try expect("the unknown fields", try session.store.unknownFields().map(\.path), ["x"])
        try expect("the members", try session.store.members(of: listing), [records, member])
        var other = listing
        other.request = "s"
        try expect("the members of another request", try session.store.members(of: other), [])
        let missing = try session.store.noteMissing(in: listing, seen: [records])
        try expect("a missing member", missing.map(\.member), [member])
        try expect(
            "a missing member again", try session.store.noteMissing(in: listing, seen: [records]).count, 0)
    }
}
