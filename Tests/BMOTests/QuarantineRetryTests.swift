import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Records in quarantine that are imported again after a correction, unless the remote has said something newer.
@Suite(.overBothStores, .namingTheStore) struct QuarantineRetryTests {
    /// Names that no map has go to quarantine.
    private static let strict = "{type: text, transform: {map: {number 0: zero, number 1: one, good: good}}}"

    private func numbers(
        _ place: LibraryWorkspace<CountingHost>, name: String, _ more: String
    ) async throws -> Workspace {
        try await place.workspace(place.world(entity: more).replacing("name: text", with: "name: \(name)"))
    }

    private func children(_ place: LibraryWorkspace<CountingHost>, name: String) async throws -> Workspace {
        try await place.workspace(
            """
            version: 1
            bridges:
              numbers: {plugin: counting}
            entities:
              Child:
                bridge: numbers
                key: id
                attributes: {id: integer, name: \(name)}
                relationships: {owner: {to: Person}}
                parent: owner
                counting: {world: "\(place.folder.appending("children"))", page_size: 2}
              Person:
                bridge: numbers
                key: id
                attributes: {id: integer}
                counting: {world: "\(place.folder.appending("people"))", page_size: 10}
            """)
    }

    private func quarantined(_ workspace: Workspace) throws -> [QuarantineEntry] {
        let store = try workspace.openStore()
        defer { try? store.close() }
        return try store.quarantined()
    }

    private func retry(_ workspace: Workspace) async throws -> RetryReport {
        let store = try await workspace.openLockedStore(command: "a test")
        defer { try? store.close() }
        return try workspace.retryQuarantine(in: store)
    }

    private func names(_ place: LibraryWorkspace<CountingHost>) throws -> String {
        try place.file().value("SELECT group_concat(id || ':' || name, ' ') FROM (SELECT * FROM Number ORDER BY id)")
    }

    @Test func `a record that was imported later in a newer form is not imported again`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", "name 1 odd")
        let strict = try await numbers(place, name: Self.strict, "incremental: {field: changed}")
        #expect(try await place.sync(strict).text == "Number finished, 1 pages +1 !1")
        #expect(try quarantined(strict).map(\.record.key) == ["[1]"])
        try place.say("count 2", "name 1 good", "stamp 1 2026-02-02T00:00:00Z")
        _ = try await place.sync(strict)
        #expect(try quarantined(strict).isEmpty)
        let mended = try await numbers(place, name: "text", "incremental: {field: changed}")
        let report = try await retry(mended)
        #expect(report.imported.isEmpty && report.kept.isEmpty)
        #expect(try names(place) == "'0:zero 1:good'")
    }

    @Test func `an object that the remote deleted later does not come back`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", "token t1", "name 1 odd")
        let strict = try await numbers(place, name: Self.strict, "incremental: token")
        #expect(try await place.sync(strict).text == "Number finished, 1 pages +1 !1")
        try place.say("count 2", "token t2", "deleted 1")
        _ = try await place.sync(strict)
        #expect(try quarantined(strict).isEmpty)
        let mended = try await numbers(place, name: "text", "incremental: token")
        #expect(try await retry(mended).imported.isEmpty)
        #expect(try names(place) == "'0:zero'")
    }

    @Test func `a report of a deletion deletes the object`() async throws {
        let place = try LibraryWorkspace.counting()
        func workspace(_ more: String) async throws -> Workspace {
            try await place.workspace(
                place.world(entity: "incremental: token").replacing(
                    "id: integer", with: "id: {type: text, transform: {map: {\"0\": a, \"1\": b\(more)}}}"))
        }
        try place.say("count 2", "token t1")
        #expect(try await place.sync(try await workspace("")).text == "Number finished, 1 pages +2")
        try place.say("count 2", "token t2", "deleted 7")
        let strict = try await workspace("")
        _ = try await place.sync(strict)
        #expect(try quarantined(strict).map { $0.record.reason.hasPrefix("a deleted object: ") } == [true])
        let report = try await retry(try await workspace(", \"7\": b"))
        #expect(report.imported.count == 1 && report.kept.isEmpty)
        #expect(try place.file().value("SELECT group_concat(id) FROM Number") == "'a'")
    }

    @Test func `of several records of an object only the newest is imported`() async throws {
        let place = try LibraryWorkspace.counting()
        let more = "incremental: {field: changed}"
        try place.say("count 2", "name 1 odd")
        let strict = try await numbers(place, name: Self.strict, more)
        _ = try await place.sync(strict)
        try place.say("count 2", "name 1 strange", "stamp 1 2026-02-02T00:00:00Z")
        _ = try await place.sync(strict)
        #expect(try quarantined(strict).count == 2)

        let older = try await numbers(
            place, name: "{type: text, transform: {map: {number 0: zero, odd: odd}}}", more)
        let refused = try await retry(older)
        #expect(refused.imported.isEmpty && refused.kept.count == 2)
        #expect(refused.kept.first?.reason == "record 2 of the same object is newer")
        #expect(try names(place) == "'0:zero'")

        let mended = try await numbers(place, name: "text", more)
        let report = try await retry(mended)
        #expect(report.imported.map(\.id) == [2] && report.kept.isEmpty)
        #expect(try quarantined(mended).isEmpty)
        #expect(try names(place) == "'0:zero 1:strange'")
    }

    @Test func `a record of a scan by parent is imported with its parent`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", about: "people")
        try place.say("count 1", "name 1000 odd", about: "children")
        let map = "{type: text, transform: {map: {number 0: number 0}}}"
        _ = try await place.sync(try await children(place, name: map))
        let mended = try await children(place, name: "text")
        #expect(try quarantined(mended).map(\.record.parent) == ["[1]"])
        #expect(try await retry(mended).imported.count == 1)
        #expect(
            try place.file().value(
                "SELECT group_concat(id || ':' || owner, ' ') FROM (SELECT * FROM Child ORDER BY id)")
                == "'0:0 1000:1'")
        #expect(try await place.sync(mended).text == "Child finished, 2 pages =2\nPerson finished, 1 pages =2")
    }

    @Test func `a record whose parent is gone stays`() async throws {
        let place = try LibraryWorkspace.counting()
        try place.say("count 2", about: "people")
        try place.say("count 1", "name 1000 odd", about: "children")
        let strict = try await children(place, name: "{type: text, transform: {map: {number 0: number 0}}}")
        _ = try await place.sync(strict)
        try place.say("count 1", about: "people")
        _ = try await place.sync(strict, Workspace.SyncOptions(entities: ["Person"]))
        let report = try await retry(try await children(place, name: "text"))
        #expect(report.imported.isEmpty)
        #expect(
            report.kept.map(\.reason) == [
                "the database does not have its parent, Person [1]; the next full sync brings the object again"
            ])
        #expect(try place.file().value("SELECT count(*) FROM Child") == "1")
    }

    @Test func `a record of a further source is imported by the mapping of its source`() async throws {
        let place = try LibraryWorkspace.counting()
        func workspace(_ title: String) async throws -> Workspace {
            try await place.workspace(
                """
                version: 1
                bridges:
                  numbers: {plugin: counting}
                entities:
                  Number:
                    bridge: numbers
                    key: id
                    attributes: {id: integer, name: text, title: {type: text, from: nowhere}}
                    precedence: [facts, main]
                    counting: {world: "\(place.folder.appending("world"))"}
                    sources:
                      facts:
                        bridge: numbers
                        attributes: {id: {type: integer, from: nowhere}, title: \(title)}
                        each: true
                        counting: {world: "\(place.folder.appending("facts"))"}
                """)
        }
        try place.say("count 2")
        try place.say("count 1", "name 1000 odd", about: "facts")
        _ = try await place.sync(try await workspace("{type: text, from: name, transform: {map: {number 0: zero}}}"))
        let mended = try await workspace("{type: text, from: name}")
        #expect(try quarantined(mended).map(\.record.source) == ["facts"])
        #expect(try await retry(mended).imported.count == 1)
        #expect(
            try place.file().value(
                "SELECT group_concat(id || ':' || name || ':' || title, ' ') FROM (SELECT * FROM Number ORDER BY id)")
                == "'0:number 0:zero 1:number 1:odd'")
    }
}
