import BridgeHost
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import TestSupport
import Testing

@testable import BMO

/// What a push sends.
@Suite struct PushRequestTests {
    @Test func `the object of an edit is found by a key of bytes`() throws {
        let folder = try TemporaryFolder()
        let model = try CompiledModel.of(
            Entity("File", key: ["hash"], [.of("hash", .data), .of("name", .text), .of("size", .integer)]))
        let store = try SQLiteStore(path: folder.appending("bmo.sqlite"), model: model)
        defer { try? store.close() }
        let hash = StoredValue.bytes([0, 255])
        for (hash, name) in [(hash, "a"), (.bytes([1]), "b")] {
            _ = try store.edit([LocalEdit(.create, entity: "File", values: ["hash": hash, "name": .text(name)])])
        }
        let object = try #require(try store.object(model.entities[0], key: [hash]))
        #expect(object == ["hash": hash, "name": .text("a"), "size": .null])
        #expect(try store.object(model.entities[0], key: [.bytes([2])]) == nil)
    }
}

/// When an edit is tried again.
@Suite struct BackoffTests {
    @Test func `the pause doubles up to a quarter of an hour, and is spread over its second half`() {
        func seconds(_ count: Int, _ random: Double) -> Int64 {
            Backoff.pause(afterFailures: count, random: random).components.seconds
        }
        #expect((1...5).map { seconds($0, 0.999_999_999_999) + 1 } == [1, 2, 4, 8, 16])
        #expect(seconds(2, 0) == 1)
        #expect(seconds(3, 0) == 2)
        #expect(seconds(64, 0) == 450)
        #expect(seconds(1_000_000, 0.999_999_999_999) + 1 == 900)
        #expect(Backoff.pause(afterFailures: 0, random: 0) == .milliseconds(500))
    }

    @Test func `a remote that asks for more time gets it`() {
        #expect(Backoff.pause(afterFailures: 1, atLeast: .seconds(3600), random: 0) == .seconds(3600))
        #expect(Backoff.pause(afterFailures: 1, atLeast: .seconds(99_999_999), random: 0) == .seconds(604_800))
        #expect(Backoff.pause(afterFailures: 5, atLeast: .seconds(1), random: 0) == .seconds(8))
    }

    private func entry(_ notBefore: String?) -> OutboxEntry {
        OutboxEntry(
            id: 1, entity: "Note", key: [.integer(1)], operation: .update, idempotencyKey: "k", state: .pending,
            attempts: 1, notBefore: notBefore, created: "2026-01-01T00:00:00.000000Z", failure: nil,
            hasTemporaryKey: false)
    }

    @Test(
        arguments: [
            (nil, true), ("2026-06-01T11:59:59.000000Z", true), ("2026-06-01T12:00:01.000000Z", false),
            ("2026-06-08T11:59:59.000000Z", false), ("2026-06-08T12:00:01.000000Z", true),
        ] as [(String?, Bool)])
    func `a next try that is further away than any pause has come`(notBefore: String?, isDue: Bool) {
        #expect(entry(notBefore).isDue(at: "2026-06-01T12:00:00.000000Z") == isDue)
    }

    @Test(
        arguments: [
            (nil, nil), ("2026-06-01T11:59:29.000000Z", true), ("2026-06-01T11:59:31.000000Z", false),
            ("2026-06-02T11:59:59.000000Z", false), ("2026-06-02T12:00:01.000000Z", true),
        ] as [(String?, Bool?)])
    func `an edit that was sent in the future is late`(sent: String?, isLate: Bool?) {
        #expect(entry(sent).isLate(at: "2026-06-01T12:00:00.000000Z", grace: .seconds(30)) == isLate)
    }
}
