import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import StoreTestSupport
import TestSupport
import Testing

/// `parent: {changed: true}`: the children of changed parents only.
@Suite(.overBothStores, .namingTheStore) struct ChangedParentTests {
    private func config(_ place: LibraryWorkspace<CountingHost>, _ more: String = "") -> String {
        """
        version: 1
        bridges:
          numbers: {plugin: counting}
        entities:
          Child:
            bridge: numbers
            key: id
            attributes: {id: integer, name: text, changed: timestamp}
            relationships: {owner: {to: Person}}
            parent: {relationship: owner, concurrency: 1, changed: true}
            counting: {world: "\(place.folder.appending("children"))", page_size: 2}
            \(more)
          Person:
            bridge: numbers
            key: id
            attributes: {id: integer, name: text}
            counting: {world: "\(place.folder.appending("people"))", page_size: 10}
        """
    }

    private func workspace(
        _ place: LibraryWorkspace<CountingHost>, _ more: String = "", people: Int = 4
    ) async throws -> Workspace {
        try place.say("count \(people)", about: "people")
        try place.say("count 3", about: "children")
        return try await place.workspace(config(place, more))
    }

    /// The parents whose children were asked for since the last call.
    private func asked(_ place: LibraryWorkspace<CountingHost>) throws -> [String] {
        try place.takeRequests(about: "children").compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("parent=") }.map { String($0.dropFirst(7)) }
        }
    }

    @Test func `only the children of inserted and updated parents are asked for`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place)
        _ = try await place.sync(workspace)
        #expect(try asked(place) == ["0", "1", "2", "3"])
        let before = try place.stored()
        let idle = try await place.sync(workspace)
        #expect(try asked(place) == [])
        #expect(idle.entities[0].parents?.spared == 4 && idle.entities[0].parents?.scanned == 0)
        #expect(try place.stored() == before, "nothing changed, nothing is written")
        // The listings of 1 and 2 lack a child each; only 1 has changed itself, and 4 is new.
        try place.say("count 5", "name 1 other", about: "people")
        try place.say("count 3", "gone 1000", "gone 2000", about: "children")
        let report = try await place.sync(workspace)
        #expect(try asked(place) == ["1", "4"])
        #expect(report.text == "Child finished, 4 pages +3 =2 -1\nPerson finished, 1 pages +1 ~1 =3")
        #expect(report.json.contains(#""spared":3"#))
        let full = try await place.sync(workspace, Workspace.SyncOptions(full: true))
        #expect(try asked(place) == ["0", "1", "2", "3", "4"])
        #expect(full.entities[0].counts.deleted == 1)
        #expect(try await place.sync(workspace).entities[0].parents?.spared == 5)
    }

    @Test func `a parent whose scan failed stays due, even if it has its former values again`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place)
        _ = try await place.sync(workspace)
        try place.say("count 4", "name 1 other", "name 2 other", about: "people")
        try place.say("count 3", "broken 1", "gone 1001", about: "children")
        let failed = try await place.sync(workspace)
        #expect(failed.entities[0].parents?.failed == 1 && failed.entities[0].parents?.scanned == 1)
        _ = try asked(place)
        try place.say("count 4", "name 2 other", about: "people")
        try place.say("count 3", "gone 1001", about: "children")
        let mended = try await place.sync(workspace)
        #expect(try asked(place) == ["1"])
        #expect(mended.entities[0].counts.deleted == 1)
        #expect(try await place.sync(workspace).entities[0].parents?.spared == 4)
    }

    @Test func `a sync of the parents alone leaves the changed ones due`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place)
        _ = try await place.sync(workspace)
        _ = try asked(place)
        // Changed by one run and changed back by the next: only the runs know.
        for people in [["count 4", "name 3 other"], ["count 4"]] {
            try place.say(people.joined(separator: "\n"), about: "people")
            _ = try await place.sync(workspace, Workspace.SyncOptions(entities: ["Person"]))
        }
        let plan = try await workspace.plan(Workspace.SyncOptions(), in: try workspace.openStore())
        let parents = plan.scans.first { $0.entity == "Child" }?.parents
        #expect(parents?.due == 1 && parents?.example == "[3]")
        _ = try await place.sync(workspace)
        #expect(try asked(place) == ["3"])
    }

    @Test func `deletions that the limit held keep the parent due`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", about: "people")
        try place.say("count 30", about: "children")
        let workspace = try await place.workspace(config(place))
        _ = try await place.sync(workspace)
        try place.say("count 2", "name 1 other", about: "people")
        try place.say("count 5", about: "children")
        for _ in 0..<2 {
            #expect(try await place.sync(workspace).failure(of: "Child")?.code == "brake")
        }
        let allowed = try await place.sync(workspace, Workspace.SyncOptions(allowsDeletes: true))
        #expect(allowed.entities[0].counts.deleted == 25 && allowed.entities[0].parents?.spared == 1)
        #expect(try await place.sync(workspace).entities[0].parents?.spared == 2)
    }

    @Test(.overSQLiteOnly) func `all parents are due again after full_every`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, "full_every: 7d")
        _ = try await place.sync(workspace)
        _ = try asked(place)
        _ = try place.file().rows(
            "UPDATE bmo_cursors SET full_at = '2020-01-01T00:00:00Z' WHERE entity = 'Child' AND parent = '[2]'")
        #expect(try await place.sync(workspace).entities[0].parents?.spared == 3)
        #expect(try asked(place) == ["2"])
        #expect(try await place.sync(workspace).entities[0].parents?.spared == 4)
    }

    @Test func `a changed parent is asked from its own watermark, and one without children is done with`()
        async throws
    {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, "incremental: {field: changed}", people: 2)
        try place.say("count 1", "gone 0", "stamp 1000 2026-02-02T00:00:00Z", about: "children")
        _ = try await place.sync(workspace)
        _ = try asked(place)
        try place.say("count 2", "name 1 other", about: "people")
        _ = try await place.sync(workspace)
        #expect(
            try place.takeRequests(about: "children") == ["token= since=2026-02-02T00:00:00Z parent=1 cursor="])
    }

    @Test func `details are asked for objects that the listing changed`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3")
        try place.say("count 1", about: "facts")
        let workspace = try await place.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting}
            entities:
              Number:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                counting: {world: "\(place.folder.appending("world"))"}
                sources:
                  facts:
                    bridge: numbers
                    attributes: {id: {type: integer, from: nowhere}, changed: timestamp}
                    each: {changed: true, concurrency: 1}
                    counting: {world: "\(place.folder.appending("facts"))"}
            """)
        _ = try await place.sync(workspace)
        #expect(try place.takeRequests(about: "facts").count == 3)
        // What the details brought is no change that asks for them once more.
        _ = try await place.sync(workspace)
        #expect(try place.takeRequests(about: "facts") == [])
        try place.say("count 3", "name 2 other")
        _ = try await place.sync(workspace)
        #expect(try place.takeRequests(about: "facts") == ["token= since= parent=2 cursor="])
    }
}
