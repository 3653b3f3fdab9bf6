import BMO
import BMOTesting
import Foundation
import TestSupport
import Testing

/// Code of an app in place of rules of the configuration, over the whole way of a record.
@Suite struct CustomCodeInAppTests {
    private struct NoWord: Error, CustomStringConvertible {
        let description = "no word"
    }

    private let remote = ScriptedRemote()

    private static let reversed = ValueTransformer(
        "reversed/1", outgoing: { .text(String($0.description.reversed())) },
        incoming: { value in
            guard case .text(let text) = value, text != "7" else { throw NoWord() }
            return .text(String(text.reversed()))
        })
    private static let urgent = RecordMatcher("urgent/1") { $0["stars"] == .integer(5) }
    /// Lines that either side has added.
    private static let lines = ValueMerge("lines/1") { base, remote, local in
        if local == .text("impossible") { throw NoWord() }
        let known = "\(remote)".split(separator: "\n")
        let added = "\(local)".split(separator: "\n").filter { !known.contains($0) }
        return .text((known + added).joined(separator: "\n"))
    }

    private func manager() async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: [
                        "id": .integer.with("write", false),
                        "title": .text.with("transform", "trim").transformed(by: Self.reversed),
                        "text": .text.merged(by: Self.lines),
                    ],
                    section: ["path": "/notes"], settings: ["writable": true]),
                EntityDefinition(
                    "Urgent", bridge: nil, attributes: ["stars": .integer], settings: ["extends": "Note"]
                ).recognized(by: Self.urgent),
            ])
        return try await RequestManager.testing(definition, remote: remote)
    }

    private func text(_ manager: RequestManager, _ name: String = "text") async throws -> String? {
        try await manager.get("Note", 1)?[name]?.text
    }

    @Test func `values and sub-entities are what the code says, and what it refuses is in quarantine`() async throws {
        remote["Note"] = [
            ["id": 1, "title": " klim ", "text": "a"], ["id": 2, "title": 7], ["id": 3, "title": "x", "stars": 5],
        ]
        let manager = try await manager()
        let result = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(
            result.quarantined.map(\.reason) == ["Note.title: the code \"reversed/1\" failed: no word"])
        #expect(try await manager.count(ObjectRequest("Note")) == 2)
        #expect(try await manager.count(ObjectRequest("Urgent")) == 1)
        #expect(try await text(manager, "title") == "milk")
        let id = try #require(try await manager.get("Note", 1)).id
        _ = remote.takeRequests()
        _ = try await manager.save([.update(id, values: ["title": "bread"])]).remote
        #expect(remote.takeRequests().map(\.description) == [#"update Note {"id":1} {"title":"daerb"}"#])
        try await manager.close()
    }

    @Test func `code merges what was changed on both sides, and the result is sent`() async throws {
        remote["Note"] = [["id": 1, "title": "x", "text": "a"]]
        let manager = try await manager()
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        let id = try #require(try await manager.get("Note", 1)).id
        _ = try await manager.save([.update(id, values: ["text": "a\nmine"])], workflow: .localOnly)
        remote["Note"] = [["id": 1, "title": "x", "text": "a\ntheirs"]]
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(try await text(manager) == "a\ntheirs\nmine")
        #expect(try await manager.conflicts().isEmpty)
        _ = remote.takeRequests()
        #expect(try await manager.push().succeeded)
        #expect(
            remote.takeRequests().map(\.description) == [#"update Note {"id":1} {"text":"a\ntheirs\nmine"}"#])

        // The remote has all of it already: there is nothing to send.
        _ = try await manager.save([.update(id, values: ["text": "a\ntheirs"])], workflow: .localOnly)
        remote["Note"] = [["id": 1, "title": "x", "text": "a\ntheirs\nmine\nmore"]]
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(try await text(manager) == "a\ntheirs\nmine\nmore")
        #expect(try await manager.outbox().isEmpty)
        try await manager.close()
    }

    @Test func `a merge that throws leaves the conflict to a person`() async throws {
        remote["Note"] = [["id": 1, "title": "x", "text": "a"]]
        let manager = try await manager()
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        let id = try #require(try await manager.get("Note", 1)).id
        _ = try await manager.save([.update(id, values: ["text": "impossible"])], workflow: .localOnly)
        remote["Note"] = [["id": 1, "title": "x", "text": "theirs"]]
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(try await text(manager) == "impossible")
        #expect(try await manager.conflicts().map(\.column) == ["text"])
        try await manager.close()
    }

    @Test func `a file names code, which the program has to have`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/bmo.yml"
        try """
        version: 1
        database: notes.sqlite
        bridges: {api: {plugin: rest}}
        entities:
          Note:
            bridge: api
            key: id
            attributes:
              id: integer
              title: {type: text, transform: [trim, {code: reversed/1}]}
              text: {type: text, merge: {code: lines/1}}
          Urgent: {extends: Note, when: {code: urgent/1}, attributes: {}}
        """.write(toFile: file, atomically: true, encoding: .utf8)
        remote["Note"] = [["id": 1, "title": "klim "], ["id": 2, "title": "x", "stars": 5]]
        let code = CustomCode(transformers: [Self.reversed], matchers: [Self.urgent], merges: [Self.lines])
        let manager = try await RequestManager.testing(config: file, remote: remote, code: code)
        #expect(try await manager.fetch(ObjectRequest("Note")).remote.inserted.count == 2)
        #expect(try await text(manager, "title") == "milk")
        #expect(try await manager.count(ObjectRequest("Urgent")) == 1)
        try await manager.close()

        let errors = try await #require(throws: ConfigurationErrors.self) {
            try await RequestManager.testing(
                config: file, remote: remote, code: CustomCode(transformers: [Self.reversed], matchers: []))
        }
        #expect(
            errors.diagnostics.map(\.message) == [
                "\"merge\" of Note.text: this program has no code \"lines/1\"",
                "\"when\" of Urgent: this program has no code \"urgent/1\"",
            ])
        let twice = try await #require(throws: ConfigurationErrors.self) {
            try await RequestManager.testing(
                config: file, remote: remote,
                code: CustomCode(
                    transformers: [Self.reversed, Self.reversed], matchers: [Self.urgent], merges: [Self.lines]))
        }
        #expect(twice.diagnostics.map(\.message) == ["two pieces of the program's code have the name \"reversed/1\""])
    }
}
