import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// The tables with the prefix bmo_.
@Suite struct BookkeepingTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity("A", key: ["id"], [.of("id", .integer), .of("size", .integer)]),
                Entity("B", key: ["id"], [.of("id", .text)], [.one("a", "A")])))
    }

    @Test func `a record in quarantine is shown as it came`() throws {
        try fixture.add("A", ["id": 1, "size": "big"], page: 4)
        let page = try fixture.begin("B", page: 2)
        try page.reject(record: nil, reason: "cut\u{0}off", representation: "<a\u{0}b>", location: "smb://host/x\u{0}y")
        try page.commit(progress: nil)
        let all = try fixture.store.quarantined()
        #expect(
            all.map(\.record) == [
                QuarantinedRecord(
                    entity: "A", bridge: "remote", page: 4, record: 1,
                    reason: "A.size: the text \"big\" is not an integer of 64 bits",
                    representation: #"{"id":1,"size":"big"}"#, location: nil, key: "[1]"),
                QuarantinedRecord(
                    entity: "B", bridge: "remote", page: 2, record: nil, reason: "cut\u{0}off",
                    representation: "<a\u{0}b>", location: "smb://host/x\u{0}y"),
            ])
        #expect(try fixture.store.quarantined(entity: "B").count == 1)
        #expect(try fixture.store.quarantined(entity: "C").isEmpty)
        #expect(all.nonEmptyAllSatisfy { $0.firstSeen == $0.lastSeen && $0.firstSeen.hasSuffix("Z") })
    }

    @Test func `a record that comes again keeps its first time`() throws {
        try fixture.add("A", ["id": 1, "size": "big"])
        let first = try #require(try fixture.store.quarantined().first)
        try fixture.add("A", ["id": 2], ["id": 1, "size": "big"], page: 2)
        let second = try #require(try fixture.store.quarantined().first)
        #expect(second.id == first.id && second.firstSeen == first.firstSeen && second.lastSeen > first.lastSeen)
        #expect(second.record.page == 2 && second.record.record == 2)
    }

    @Test func `edits from before edits had user info are kept, and can be sent`() throws {
        try fixture.add("A", ["id": 1, "size": 1])
        _ = try fixture.store.edit([
            LocalEdit(.create, entity: "A", values: ["id": .integer(2), "size": .integer(7)]),
            LocalEdit(.update, entity: "A", key: [.integer(1)], values: ["size": .integer(8)]),
        ])
        let entries = try fixture.store.outbox()
        #expect(entries.count == 2)
        try fixture.store.close()
        try fixture.file().rows("ALTER TABLE bmo_outbox DROP COLUMN user_info")
        try removeOrigins()
        try fixture.file().rows("UPDATE bmo_meta SET value = '8' WHERE name = 'version'")
        let store = try fixture.place.open(fixture.model)
        #expect(try store.outbox() == entries)
        for entry in entries {
            #expect(try store.markSending(entry.id)?.changes.map(\.name) == entry.changes.map(\.name))
            let page = try store.beginPage()
            try page.acknowledge(entry.id, key: nil)
            try page.commit()
        }
        #expect(try store.outbox().isEmpty)
        try store.close()
        #expect(try fixture.table("A", "id", "size") == [["1", "8"], ["2", "7"]])
        #expect(try fixture.file().rows("SELECT value FROM bmo_meta WHERE name = 'version'") == [["'10'"]])
    }

    /// Removes what the table of quarantined records has had since version 10.
    private func removeOrigins() throws {
        try fixture.file().rows("DROP INDEX bmo_quarantine_by_key")
        for column in ["source", "parent", "key"] {
            try fixture.file().rows("ALTER TABLE bmo_quarantine DROP COLUMN \(column)")
        }
    }

    @Test func `records from before their keys were kept stay in quarantine`() throws {
        try fixture.add("A", ["id": 1, "size": "big"])
        var before = try #require(try fixture.store.quarantined().first)
        try fixture.store.close()
        try removeOrigins()
        try fixture.file().rows("UPDATE bmo_meta SET value = '9' WHERE name = 'version'")
        let store = try fixture.place.open(fixture.model)
        (before.record.source, before.record.key) = (nil, nil)
        #expect(try store.quarantined().map(\.record) == [before.record])
        try store.close()
        try fixture.reopen()
        try fixture.add("A", ["id": 1, "size": "big"])
        let after = try #require(try fixture.store.quarantined().first)
        #expect(after.id == before.id && after.record.key == "[1]", "it is the same record")
    }

    /// A database as an earlier version left it, with an edit of the object with the decimal key 2.50.
    private func earlier(_ more: String...) throws -> StoreFixture {
        let prices = Entity("Price", key: ["at"], [.of("at", .decimal), .of("note", .text)])
        let order = Entity("Order", key: ["id"], [.of("id", .integer)], [.one("price", "Price")])
        let fixture = try StoreFixture(CompiledModel.of(prices, order))
        try fixture.sync("Price", ["at": .decimal("2.50"), "note": "a"])
        try fixture.sync("Order", ["id": 1, "price": "2.5"])
        try fixture.update("Price", .decimal("2.5"), set: ["note": .text("b")])
        try fixture.store.close()
        let file = try fixture.file()
        for sql in [
            "PRAGMA foreign_keys = OFF", "UPDATE Price SET at = '2.50'", #"UPDATE "Order" SET price = '2.50'"#,
            "UPDATE bmo_outbox SET key = replace(key, '2.5', '2.50')",
            "UPDATE bmo_provenance SET key = replace(key, '2.5', '2.50') WHERE entity = 'Price'",
        ] + more {
            try file.rows(sql)
        }
        return fixture
    }

    @Test func `an edit of an object with zeros in its decimal key, from an earlier version, is found`() throws {
        let fixture = try earlier()
        try fixture.reopen()
        #expect(try fixture.store.outbox().map(\.key) == [[.decimal("2.5")]])
        #expect(try fixture.table("Price", "at", "note") == [["'2.5'", "'b'"]])
        #expect(try fixture.table("Order", "id", "price") == [["1", "'2.5'"]])
        #expect(try fixture.faults().isEmpty)
        try fixture.sync("Price", ["at": .decimal("2.50"), "note": "c"])
        #expect(try fixture.store.conflicts(entity: "Price", key: [.decimal("2.5")]).count == 1)
        try fixture.store.resolve(entity: "Price", key: [.decimal("2.5")], take: .remote)
        #expect(try fixture.store.outbox().isEmpty)
        #expect(try fixture.table("Price", "at", "note") == [["'2.5'", "'c'"]])
    }

    @Test func `such an object and the one that a sync has brought meanwhile become one`() throws {
        let fixture = try earlier("INSERT INTO Price (at, note) VALUES ('2.5', 'remote')")
        try fixture.reopen()
        #expect(try fixture.store.outbox().map(\.key) == [[.decimal("2.5")]])
        #expect(try fixture.table("Price", "at", "note") == [["'2.5'", "'b'"]])
        #expect(try fixture.table("Order", "id", "price") == [["1", "'2.5'"]])
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `what a whole scan did not bring again is released`() throws {
        try fixture.add("A", ["id": 1, "size": "old"])
        try fixture.add("B", ["id": nil])
        let instant = try #require(try fixture.store.quarantined(entity: "B").first?.lastSeen)
        try fixture.add("A", ["id": 1, "size": "new"])
        try fixture.store.releaseQuarantine(of: "A", notSeenSince: instant)
        #expect(try fixture.store.quarantined(entity: "A").map(\.record.representation) == [#"{"id":1,"size":"new"}"#])
        #expect(try fixture.store.quarantined(entity: "B").count == 1, "another entity's stay")
    }

    @Test func `progress survives reopening`() throws {
        let place = ScanProgress(cursor: "a'b\"\u{fc}", page: 3, request: #"remote {"path":"/x"}"#)
        try fixture.add("A", ["id": 1], progress: place)
        #expect(try fixture.store.progress(of: ScanScope(entity: "A")) == place)
        #expect(try fixture.store.progress(of: ScanScope(entity: "B")) == nil)
        try fixture.reopen()
        #expect(try fixture.store.progress(of: ScanScope(entity: "A")) == place)
        try fixture.add("A")
        #expect(try fixture.store.progress(of: ScanScope(entity: "A")) == nil)
    }

    @Test func `stubs survive reopening`() throws {
        try fixture.add("B", ["id": "x", "a": 7])
        try fixture.reopen()
        #expect(try fixture.store.stubCount(of: "A") == 1)
        #expect(try fixture.add("A", ["id": 7]).inserted == 1)
        #expect(try fixture.store.stubCount(of: "A") == 0)
    }
}
