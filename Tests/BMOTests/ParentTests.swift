import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Scans per object of a parent.
@Suite(.overBothStores, .namingTheStore) struct ParentTests {
    private func config(_ place: LibraryWorkspace<CountingHost>, parent: String = "parent: owner", _ more: String = "")
        -> String
    {
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
            \(parent)
            counting: {world: "\(place.folder.appending("children"))", page_size: 2}
        \(more.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
          Person:
            bridge: numbers
            key: id
            attributes: {id: integer, name: text}
            counting: {world: "\(place.folder.appending("people"))", page_size: 10}
        """
    }

    private func children(_ place: LibraryWorkspace<CountingHost>) throws -> String {
        try place.file().value("SELECT group_concat(id || ':' || owner, ' ') FROM (SELECT * FROM Child ORDER BY id)")
    }

    @Test func `each parent is scanned after the listing that brings it`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", about: "people")
        try place.say("count 3", "name 2001 x", about: "children")
        let workspace = try await place.workspace(config(place))
        let report = try await place.sync(workspace)
        #expect(report.text == "Child finished, 6 pages +9\nPerson finished, 1 pages +3")
        #expect(report.entities[0].parents?.scanned == 3)
        #expect(try children(place) == "'0:0 1:0 2:0 1000:1 1001:1 1002:1 2000:2 2001:2 2002:2'")
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Child finished, 6 pages =9\nPerson finished, 1 pages =3")
        #expect(try place.stored() == before, "nothing changed, nothing is written")
    }

    @Test func `a condition says which parents are scanned`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 4", about: "people")
        try place.say("count 1", about: "children")
        let workspace = try await place.workspace(
            config(place, parent: "parent: {relationship: owner, where: \"id>=2\", concurrency: 1}"))
        _ = try await place.sync(workspace)
        #expect(
            try place.takeRequests(about: "children") == [
                "token= since= parent=2 cursor=", "token= since= parent=3 cursor=",
            ])
    }

    @Test func `a child that is gone from its parents listing is deleted and one that moved is not`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", about: "people")
        try place.say("count 3", about: "children")
        let workspace = try await place.workspace(config(place))
        _ = try await place.sync(workspace)
        // 1 is gone; 2 is listed by its parent and says that it belongs to the other.
        try place.say("count 3", "gone 1", "owner 2 1", about: "children")
        let report = try await place.sync(workspace)
        #expect(report.text == "Child finished, 4 pages ~1 =4 -1\nPerson finished, 1 pages =2")
        #expect(try children(place) == "'0:0 2:1 1000:1 1001:1 1002:1'")
        #expect(try await place.sync(workspace).entities[0].counts.deleted == 0, "it stays where it moved to")
    }

    @Test func `a parent that fails leaves the others alone and its children stay`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 4", about: "people")
        try place.say("count 2", about: "children")
        let workspace = try await place.workspace(config(place))
        _ = try await place.sync(workspace)
        try place.say("count 2", "broken 1", "missing 2", "gone 0", about: "children")
        let report = try await place.sync(workspace)
        let parents = try #require(report.entities[0].parents)
        #expect(parents.scanned == 2 && parents.failed == 1 && parents.missing == 1)
        #expect(parents.failures.map(\.parent) == ["[1]"])
        #expect(
            report.failure(of: "Child")?.message == "1 of 4 parents failed; the first is [1]: the world says so")
        #expect(
            report.entities[0].warnings == [
                "[2]: the remote has nothing there (the world says so); its objects are kept"
            ])
        #expect(try children(place) == "'1:0 1000:1 1001:1 2000:2 2001:2 3000:3 3001:3'")
        #expect(
            report.json.contains(
                #""parents":{"walked":2,"unchanged":0,"missing":1,"failed":1,"failures":[{"parent":"[1]""#))
    }

    @Test func `after ten failures in a row the others are not tried`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 40", about: "people")
        let broken = (0..<40).map { "broken \($0)" }.joined(separator: "\n")
        try place.say("count 2", broken, about: "children")
        let workspace = try await place.workspace(
            config(place, parent: "parent: {relationship: owner, concurrency: 1}"))
        let report = try await place.sync(workspace)
        #expect(try place.takeRequests(about: "children").count == 10)
        #expect(report.failure(of: "Child")?.message.contains("after 10 in a row the others were not tried") == true)
    }

    @Test(.overSQLiteOnly) func `the children of a deleted parent go with it`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3", about: "people")
        try place.say("count 2", "token t", about: "children")
        let workspace = try await place.workspace(config(place, "incremental: token"))
        _ = try await place.sync(workspace)
        #expect(try place.file().value("SELECT count(*) FROM bmo_cursors") == "3")
        try place.say("count 3", "gone 1", about: "people")
        let report = try await place.sync(workspace)
        #expect(report.text == "Child finished, 2 pages -2\nPerson finished, 1 pages =2 -1")
        #expect(report.entities[0].parents?.unchanged == 2)
        #expect(try children(place) == "'0:0 1:0 2000:2 2001:2'")
        #expect(try place.file().value("SELECT count(*) FROM Person") == "2", "nothing refers to it any more")
        // It comes back: its children are asked for as if never before.
        try place.say("count 3", about: "people")
        #expect(try await place.sync(workspace).text == "Child finished, 3 pages +2\nPerson finished, 1 pages +1 =2")
    }

    @Test func `each parent has its own cursor`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", about: "people")
        try place.say("count 2", "stamp 1 2026-02-02T00:00:00Z", "stamp 1001 2026-03-03T00:00:00Z", about: "children")
        let workspace = try await place.workspace(
            config(place, parent: "parent: {relationship: owner, concurrency: 1}", "incremental: {field: changed}"))
        _ = try await place.sync(workspace)
        _ = try place.takeRequests(about: "children")
        #expect(try await place.sync(workspace).text == "Child finished, 2 pages =2\nPerson finished, 1 pages =2")
        #expect(
            try place.takeRequests(about: "children") == [
                "token= since=2026-02-02T00:00:00Z parent=0 cursor=",
                "token= since=2026-03-03T00:00:00Z parent=1 cursor=",
            ])
    }

    @Test func `a further source is asked for each object`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 3")
        try place.say("count 1", "stamp 1000 2026-02-02T00:00:00Z", "token t", about: "facts")
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
                    each: true
                    incremental: token
                    counting: {world: "\(place.folder.appending("facts"))"}
            """)
        #expect(try await place.sync(workspace).text == "Number finished, 4 pages +3 ~3")
        #expect(
            try place.file().rows("SELECT id, name, substr(changed, 1, 10) FROM Number")
                == [
                    ["0", "'number 0'", "'2026-01-01'"], ["1", "'number 1'", "'2026-02-02'"],
                    ["2", "'number 2'", "'2026-01-01'"],
                ])
        try place.say("count 3", "gone 2")
        let second = try await place.sync(workspace)
        #expect(second.text == "Number finished, 3 pages =2 -1")
        #expect(second.entities[0].parents?.unchanged == 2)
    }

    @Test func `the brake holds for one parent and for all`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 20", about: "people")
        try place.say("count 30", about: "children")
        let workspace = try await place.workspace(config(place))
        _ = try await place.sync(workspace)
        let gone = (5000..<5030).map { "gone \($0)" }.joined(separator: "\n")
        try place.say("count 30", gone, "gone 7003", about: "children")
        let one = try await place.sync(workspace)
        #expect(one.entities[0].counts.deleted == 1, "the other parent's")
        #expect(
            one.failure(of: "Child")?.message.hasPrefix("30 of 30 objects are missing from the listing, more") == true)
        try place.say("count 0", about: "children")
        let all = try await place.sync(workspace)
        #expect(all.entities[0].counts.deleted == 0)
        #expect(
            all.failure(of: "Child")?.message.hasPrefix(
                "599 of 599 objects are missing from the listing in the listings of 20 parents") == true)
    }
}
