import ImportTestSupport
import Mapping
import Model
import RecordBatch
import StoreContract
import TestSupport
import Testing

@testable import BMO

/// What an object that the remote returned says of an edit.
@Suite struct RemoteObjectTests {
    private func object(_ record: Literal, isOrdered: Bool = true) throws -> RemoteObject {
        var tags = Relationship.many("tags", "Tag")
        tags.isOrdered = isOrdered
        let model = try CompiledModel.of(
            Entity("Note", key: ["id"], [.of("id", .integer), .of("text", .text)], [tags]),
            Entity("Tag", key: ["id"], [.of("id", .integer)]))
        return RemoteObject(try Literal.batch([record]), 0, parent: nil, in: model)
    }

    private func edit(_ tags: [[StoredValue]]) -> OutboxEntry {
        let text = OutboxEntry.FieldEdit(name: "text", old: nil, new: "a")
        let links = OutboxEntry.LinkEdit(relationship: "tags", old: [], new: tags)
        return OutboxEntry(
            id: 1, entity: "Note", key: [1], operation: .update, changes: [text], links: [links], idempotencyKey: "k",
            created: "2026-01-01T00:00:00.000000Z")
    }

    @Test func `a list that the object has otherwise is another value`() throws {
        let shown = try object(["id": 1, "text": "a", "tags": [7, 8]])
        #expect(shown.has(edit([[7], [8]])) && shown.isCreated(by: edit([[7], [8]])))
        #expect(shown.otherValues(than: edit([[7], [8]])).isEmpty)
        for tags: [[StoredValue]] in [[[8]], [], [[8], [7]]] {
            #expect(!shown.has(edit(tags)) && !shown.isCreated(by: edit(tags)))
            #expect(shown.otherValues(than: edit(tags)) == ["tags"])
        }
    }

    @Test func `a list without an order is the same in any`() throws {
        let shown = try object(["id": 1, "text": "a", "tags": [7, 8]], isOrdered: false)
        #expect(shown.has(edit([[8], [7]])) && shown.isCreated(by: edit([[8], [7]])))
        #expect(shown.otherValues(than: edit([[8], [7]])).isEmpty)
        #expect(!shown.has(edit([[8]])))
        #expect(shown.otherValues(than: edit([[8]])) == ["tags"])
    }

    @Test func `a list that the object does not show is not compared, and does not count as arrived`() throws {
        let shown = try object(["id": 1, "text": "a"])
        #expect(shown.otherValues(than: edit([[8]])).isEmpty)
        #expect(!shown.has(edit([[8]])))
    }
}
