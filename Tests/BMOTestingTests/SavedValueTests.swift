import BMO
import BMOTesting
import Foundation
import Testing

/// Values of edits: which ones are refused, and which ones change nothing.
@Suite struct SavedValueTests {
    private struct Facts: Codable {
        var size: Double
    }

    private struct Note: Codable {
        var id: Int?
        var title: String?
        var at: Date?
        var link: URL?
        var price: Decimal?
        var facts: Facts?
    }

    private let remote = ScriptedRemote()
    private let first = ObjectID(entity: "Note", key: [1])

    private func manager() async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: [
                        "id": .integer.with("write", false), "title": .text, "at": .timestamp, "link": .url,
                        "price": .decimal, "facts": .json,
                    ],
                    section: ["path": "/notes"], settings: ["writable": true])
            ])
        let manager = try await RequestManager.testing(definition, remote: remote)
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        _ = remote.takeRequests()
        return manager
    }

    @Test(
        arguments: [
            .json("{not json"), .json(""), .json("1,2"), .json(#"{"a":1},"title":"x""#), .json("[1"), .json("1],[2"),
            .json(String(repeating: "[", count: 200) + String(repeating: "]", count: 200)), .decimal("abc"),
            .decimal(".5"), .real(.nan), .real(.infinity),
        ] as [LocalValue])
    func `what is not JSON is refused for a JSON attribute`(value: LocalValue) async throws {
        remote["Note"] = [["id": 1, "title": "a"]]
        let manager = try await manager()
        let error = try await #require(throws: RequestError.self) {
            try await manager.save([.update(first, values: ["facts": value])])
        }
        #expect(error.code == "request" && error.message.hasPrefix("Note.facts: "), "\(error)")
        #expect(error.message.hasSuffix("is not of type json"), "\(error)")
        #expect(try await manager.outbox().isEmpty)
        try await manager.close()
    }

    @Test func `a number without a JSON form is refused inside a value, too`() async throws {
        remote["Note"] = [["id": 1, "title": "a"]]
        let manager = try await manager()
        let edit = try ObjectEdit.update(first, Note(facts: Facts(size: .infinity)))
        await #expect(throws: RequestError.self) { try await manager.save([edit]) }
        #expect(throws: EncodingError.self) { try StoredJSON(Facts(size: .nan)) }
        #expect(try await manager.outbox().isEmpty)
        _ = try await manager.save([.update(first, values: ["facts": .json(#"{"size": [1, 2.5, null]}"#)])]).remote
        #expect(remote.takeRequests().map(\.operation) == [.update])
        try await manager.close()
    }

    @Test(arguments: ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z", "2999-06-01T10:11:12.123457Z"])
    func `a decoded value that is saved changes nothing else`(time: String) async throws {
        remote["Note"] = [["id": 1, "title": "a", "at": .string(time), "link": "http://x/%zz", "price": "1.50"]]
        let manager = try await manager()
        let object = try #require(try await manager.get(first))
        var note = try object.decoded(as: Note.self)
        note.title = "new"
        _ = try await manager.save([try .update(first, note)]).remote
        #expect(remote.takeRequests().map(\.description) == [#"update Note {"id":1} {"title":"new"}"#])
        #expect(try await manager.get(first)?["at"] == object["at"])
        try await manager.close()
    }

    @Test func `the last moment of a timestamp is not rounded beyond it`() {
        let last: Int64 = 253_402_300_799_999_999
        let value = LocalValue.timestamp(microseconds: last)
        #expect(value.date?.localValue == value)
        #expect(Date(timeIntervalSince1970: 253_402_300_801).localValue != value)
    }
}
