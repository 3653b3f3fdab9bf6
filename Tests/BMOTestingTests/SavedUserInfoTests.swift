import BMO
import BMOTesting
import BridgeKit
import Foundation
import Model
import SQLiteStore
import TestSupport
import Testing

/// What a program says with an edit: it goes to the bridge, also when the edit is sent later.
@Suite struct SavedUserInfoTests {
    private struct Tenant: Codable, Equatable {
        var tenant: String
    }

    private let remote = ScriptedRemote()
    private let acme = Tenant(tenant: "acme")

    private func definition(database: String = "notes.sqlite") -> ModelDefinition {
        ModelDefinition(
            database: database, bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id", attributes: ["id": .integer, "title": .text],
                    section: ["path": "/notes"], settings: ["writable": true])
            ])
    }

    private func asked() -> [String] { remote.takeRequests().map(\.description) }

    @Test func `a user info reaches the bridge with each write, and comes back with the save`() async throws {
        let manager = try await RequestManager.testing(definition(), remote: remote)
        let info = try UserInfo(acme)
        let save = try await manager.save(
            [.create("Note", values: ["title": "milk"])], workflow: .afterRemote, userInfo: info)
        #expect(save.userInfo?.value(as: Tenant.self) == acme)
        let id = try #require(try await save.current.first?.id)
        _ = try await manager.save([.update(id, values: ["title": "bread"])], workflow: .afterRemote, userInfo: info)
        _ = try await manager.save([.update(id, values: ["title": "salt"])], workflow: .afterRemote)
        _ = try await manager.save(
            [.delete(id)], workflow: .afterRemote, userInfo: try UserInfo(acme, delivery: .never))
        #expect(
            asked() == [
                #"create Note for {"tenant":"acme"} {"title":"milk"}"#,
                #"update Note for {"tenant":"acme"} {"id":1} {"title":"bread"}"#,
                #"update Note {"id":1} {"title":"salt"}"#, #"delete Note {"id":1}"#,
            ])
        remote.fail(.conflict, "no", on: .create)
        let error = try await #require(throws: RequestError.self) {
            _ = try await manager.save(
                [.create("Note", values: ["title": "x"])], workflow: .afterRemote, userInfo: info)
        }
        #expect(error.userInfo == info)
        try await manager.close()
    }

    @Test func `an edit that waits keeps its user info over a restart, and a later edit replaces it`() async throws {
        let folder = try TemporaryFolder()
        let database = "\(folder.path)/notes.sqlite"
        func manager() async throws -> RequestManager {
            try await RequestManager(
                definition(database: database), stores: SQLiteStores(), bridges: remote.bridges("rest"))
        }
        remote.isReachable = false
        let first = try await manager()
        let save = try await first.save(
            [.create("Note", values: ["title": "milk"])], workflow: .localOnly, userInfo: try UserInfo(acme))
        _ = try await first.save([.update(save.saved[0].id, values: ["title": "oats"])], workflow: .localOnly)
        #expect(try await first.outbox().map(\.userInfo) == [#"{"tenant":"acme"}"#])
        try await first.close()
        remote.isReachable = true
        let second = try await manager()
        #expect(try await second.push().count(.sent) == 1)
        #expect(asked() == [#"create Note for {"tenant":"acme"} {"title":"oats"}"#])
        let id = ObjectID(entity: "Note", key: [.integer(1)])
        _ = try await second.save(
            [.update(id, values: ["title": "rye"])], workflow: .localOnly, userInfo: try UserInfo(acme))
        _ = try await second.save(
            [.delete(id)], workflow: .localOnly, userInfo: try UserInfo(Tenant(tenant: "umbrella")))
        #expect(try await second.push().count(.sent) == 1)
        #expect(asked() == [#"delete Note for {"tenant":"umbrella"} {"id":1}"#])
        try await second.close()
    }

    @Test func `an edit with a user info is not sent by a bridge that takes none any more`() async throws {
        let folder = try TemporaryFolder()
        let database = "\(folder.path)/notes.sqlite"
        func manager(_ bridges: [any LinkedBridge]) async throws -> RequestManager {
            try await RequestManager(definition(database: database), stores: SQLiteStores(), bridges: bridges)
        }
        let first = try await manager(remote.bridges("rest"))
        _ = try await first.save(
            [.create("Note", values: ["title": "milk"])], workflow: .localOnly, userInfo: try UserInfo(acme))
        try await first.close()
        let second = try await manager([BridgeExport(DeafBridge.self)])
        #expect(try await second.push().count(.sent) == 0)
        let failure = try #require(try await second.outbox().first?.failure)
        #expect(
            failure.message
                == "the edit was saved with a user info, and the bridge api takes none any more: load a version of its plugin that "
                + "does and retry the edit, or drop it and save it again")
        try await second.close()
        let third = try await manager(remote.bridges("rest"))
        try await third.retry(try await third.outbox().map(\.id))
        #expect(try await third.push().count(.sent) == 1)
        #expect(asked() == [#"create Note for {"tenant":"acme"} {"title":"milk"}"#])
        try await third.close()
    }

    /// Takes writes, and no user info.
    private final class DeafBridge: Bridge {
        static let descriptor = BridgeDescriptor(
            name: "rest", version: "1.0", summary: "Takes no user info", optionsSchema: "{}", entitySchema: "{}",
            capabilities: [.check, .fetch, .create, .update, .delete])

        init(options: BridgeOptions, context: BridgeContext) throws {}

        func check() throws -> String? { nil }

        func fetch(_ request: FetchRequest) throws -> any RecordSource {
            throw BridgeError(.internal, "nothing is fetched here")
        }

        func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
            throw BridgeError(.internal, "nothing is written here")
        }
    }

    @Test func `no description and no dump of an edit or of its entry shows the user info`() async throws {
        let manager = try await RequestManager.testing(definition(), remote: remote)
        let info = try UserInfo(Tenant(tenant: "s3cret"))
        _ = try await manager.save(
            [.create("Note", values: ["title": "milk"])], workflow: .localOnly, userInfo: info)
        let entry = try #require(try await manager.outbox().first)
        #expect(entry.userInfo == #"{"tenant":"s3cret"}"#)
        let edit = LocalEdit(.create, entity: "Note", values: ["title": .text("milk")], userInfo: entry.userInfo)
        for value in [entry, edit] as [any Sendable] {
            var dumped = ""
            dump(value, to: &dumped)
            let shown = [String(describing: value), String(reflecting: value), dumped]
            #expect(
                shown.nonEmptyAllSatisfy { $0.contains("milk") && $0.contains("***") && !$0.contains("s3cret") },
                "\(shown)")
        }
        try await manager.close()
    }
}
