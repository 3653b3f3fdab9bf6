import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Syncs that divide a remote among several databases.
@Suite(.overBothStores, .namingTheStore) struct ShardTests {
    private let place: LibraryWorkspace<CountingHost>

    init() throws {
        place = try LibraryWorkspace.counting()
        try place.say("count 12", about: "people")
        try place.say("count 2", about: "children")
        try place.say("count 2", about: "toys")
        try place.say("count 3", about: "places")
    }

    /// People with children with toys, and places, in a database of their own.
    private func workspace(_ database: String, children: String = "parent: owner") async throws -> Workspace {
        func section(_ world: String) -> String {
            "counting: {world: \"\(place.folder.appending(world))\", page_size: 50}"
        }
        return try await place.workspace(
            """
            version: 1
            database: \(database)
            bridges:
              numbers: {plugin: counting}
            entities:
              Person:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                \(section("people"))
              Child:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                relationships: {owner: {to: Person}}
                \(children)
                \(section("children"))
              Toy:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                relationships: {owner: {to: Child}}
                parent: owner
                \(section("toys"))
              Place:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                \(section("places"))
            """)
    }

    private func rows(_ entity: String, _ database: String) throws -> [String] {
        let path = place.folder.appending(database)
        let file =
            place.kind == .sqlite
            ? try SQLiteFile(path)
            : try SQLiteFile(
                place.stores.contents(of: path), at: place.folder.appending("\(UUID().uuidString).sqlite"))
        return try file.value("SELECT coalesce(group_concat(id, ' '), '') FROM (SELECT id FROM \(entity) ORDER BY id)")
            .trimmingPrefix("'").split(separator: "'").joined().split(separator: " ").map(String.init)
    }

    private func sync(_ database: String, _ shard: String? = nil) async throws -> SyncReport {
        let shard = try shard.map { try #require(SyncShard($0)) }
        return try await place.sync(workspace(database), Workspace.SyncOptions(shard: shard))
    }

    /// Syncs three shards and checks that they have the rows of an undivided sync.
    private func syncAll(_ state: String) async throws {
        let whole = try await sync("whole.sqlite")
        #expect(whole.succeeded, "\(whole.text)")
        _ = try place.takeRequests(about: "children")
        for shard in 1...3 {
            let report = try await sync("\(shard).sqlite", "\(shard)/3")
            #expect(report.succeeded, "\(report.text)")
        }
        #expect(try place.takeRequests(about: "children").count == 12, "\(state): each parent is scanned once")
        for entity in ["Child", "Toy", "Place"] {
            let parts = try (1...3).map { try rows(entity, "\($0).sqlite") }
            let all = try rows(entity, "whole.sqlite")
            #expect(parts.joined().sorted() == all.sorted(), "\(state): \(entity) is divided")
            #expect(!all.isEmpty)
            if entity == "Place" { #expect(parts.count { !$0.isEmpty } == 1) }
            if entity == "Child" { #expect(parts.nonEmptyAllSatisfy { !$0.isEmpty && $0.count < all.count }) }
        }
        for shard in 1...3 { #expect(try rows("Person", "\(shard).sqlite") == rows("Person", "whole.sqlite")) }
    }

    @Test func `shards together have the rows of an undivided sync, also after changes and deletions`() async throws {
        try await syncAll("first")
        try place.say("count 2", "gone 1001", "gone 5000", about: "children")
        try place.say("count 3", "gone 2000000", about: "toys")
        try place.say("count 3", "gone 1", about: "places")
        try await syncAll("second")
        #expect(try !rows("Child", "whole.sqlite").contains("5000"))
        #expect(try await sync("1.sqlite", "1/3").entities.nonEmptyAllSatisfy { $0.counts.deleted == 0 })
    }

    @Test func `a database of another shard is refused`() async throws {
        _ = try await sync("1.sqlite", "1/3")
        for (shard, words) in [("2/3", "with --shard 1/3"), ("1/4", "with --shard 1/3")] {
            let error = await #expect(throws: StoreError.self) { try await sync("1.sqlite", shard) }
            #expect(error?.code == .request && error?.message.contains(words) == true, "\(error as Any)")
        }
        _ = try await sync("whole.sqlite")
        let error = await #expect(throws: StoreError.self) { try await sync("whole.sqlite", "1/3") }
        #expect(error?.message.contains("a sync without --shard, not of --shard 1/3") == true, "\(error as Any)")
    }

    @Test func `parents that only come nested in other records cannot be divided`() async throws {
        let world = place.folder.appending("children")
        let nested = try await place.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting}
            entities:
              Person: {listing: none, key: id, attributes: {id: integer}}
              Child:
                bridge: numbers
                key: id
                attributes: {id: integer}
                relationships: {owner: {to: Person}}
                parent: owner
                counting: {world: "\(world)"}
            """)
        let options = Workspace.SyncOptions(shard: SyncShard("1/2"))
        let error = await #expect(throws: StoreError.self) { _ = try await place.sync(nested, options) }
        #expect(error?.message.contains("cannot divide the scans by Person") == true, "\(error as Any)")
    }

    @Test(arguments: ["", "1", "0/2", "3/2", "-1/2", "+1/2", "1/2/3", "a/b", "1/10001", "1/0", " 1/2"])
    func `other texts are not shards`(text: String) { #expect(SyncShard(text) == nil) }

    @Test func `a shard's text is read again`() {
        for text in ["1/1", "2/4", "10000/10000"] { #expect(SyncShard(text)?.description == text) }
    }
}
