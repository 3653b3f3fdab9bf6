import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// What a record, or its absence, says about an object with edits.
@Suite struct RemoteStateTests {
    private let layout: EntityLayout
    private let model: CompiledModel

    init() throws {
        model = try TestModel.make()
        layout = model.entities[0]
    }

    private func age(_ values: [String: StoredValue], since accepted: [OutboxEntry]) -> RecordAge {
        let record = TestRecord(layout, values)
        return withExtendedLifetime(record) { RecordAge(of: record.cells, layout, since: accepted) }
    }

    @Test func `a record with a value from before an accepted edit is outdated`() {
        let accepted = [OutboxEntry.of(1, .update, [.of("name", "old", "new")])]
        #expect(age(["name": "old"], since: accepted) == .outdated)
        #expect(age(["name": "new"], since: accepted) == .current)
        #expect(age(["name": "other"], since: accepted) == .current)
        #expect(age(["area": "1"], since: accepted) == .current)
        #expect(age(["name": "old"], since: []) == .current)
        #expect(age(["name": "old"], since: accepted + [.of(2, .update, [.of("name", "new", "old")])]) == .current)
        #expect(age(["name": "old"], since: accepted + [.of(2, .delete)]) == .deleted)
    }

    @Test func `a list from before an accepted edit is outdated`() {
        let twins = layout.toMany[0]
        let accepted = [
            OutboxEntry.of(1, links: [OutboxEntry.LinkEdit(relationship: "twins", old: [[1]], new: [[2]])])
        ]
        func isOutdated(_ list: [[StoredValue]], isRecordOutdated: Bool = false) -> Bool {
            RecordAge.isOutdated(list, twins, since: accepted, isRecordOutdated: isRecordOutdated)
        }
        #expect(isOutdated([[1]]))
        #expect(!isOutdated([[2]]) && !isOutdated([[3]]))
        #expect(isOutdated([[3]], isRecordOutdated: true))
        #expect(!RecordAge.isOutdated([[1]], twins, since: [], isRecordOutdated: true))
    }

    @Test func `the conflict policy decides about an edited object that the remote deleted`() {
        let edit = OutboxEntry.of(1, .update, [.of("name", "a", "b")])
        #expect(RemoteDeletion(of: [], since: [], .manual) == .deletesRow(confirmsDelete: false))
        #expect(RemoteDeletion(of: [edit], since: [], .manual) == .isConflict)
        #expect(RemoteDeletion(of: [edit], since: [], .newest(attribute: "seen")) == .isConflict)
        #expect(RemoteDeletion(of: [edit], since: [], .remote) == .dropsEdits)
        #expect(RemoteDeletion(of: [edit], since: [], .local) == .becomesCreate)
        #expect(RemoteDeletion(of: [.of(1, state: .sending)], since: [], .remote) == .isConflict)
        #expect(RemoteDeletion(of: [.of(1, .create)], since: [], .remote) == .keepsRow)
        #expect(RemoteDeletion(of: [.of(1, .delete)], since: [], .remote) == .deletesRow(confirmsDelete: true))
        #expect(
            RemoteDeletion(of: [.of(1, .delete, state: .sending)], since: [], .remote)
                == .deletesRow(confirmsDelete: false))
    }

    @Test func `an edit that the remote accepted after the scan began keeps the row`() {
        #expect(RemoteDeletion(of: [], since: [.of(1)], .remote) == .keepsRow)
        #expect(RemoteDeletion(of: [], since: [.of(1, .delete)], .remote) == .deletesRow(confirmsDelete: false))
    }

    @Test func `a deleted object whose record has an unknown value was changed by the remote`() {
        func compare(_ values: [String: StoredValue], answers answer: AnsweredEdit? = nil) -> DeletedRowMerge {
            let delete = OutboxEntry.of(1, .delete, [.of("name", "old", nil), .of("area", .null, nil)])
            let record = TestRecord(layout, values)
            return withExtendedLifetime(record) {
                DeletedRowMerge(record.cells, delete, in: [delete], layout, model, answers: answer)
            }
        }
        #expect(!compare(["name": "old"]).differs)
        let merge = compare(["name": "new"])
        #expect(merge.differs && !merge.learns)
        #expect(merge.entry.changes[0].old == "new")
        // The reply to an edit of the name, and to one of something else.
        #expect(!compare(["name": "new"], answers: AnsweredEdit(.of(2, .update, [.of("name", "old", "x")]))).differs)
        #expect(compare(["name": "new"], answers: AnsweredEdit(.of(2, .update, [.of("area", "1", "2")]))).differs)
    }
}
