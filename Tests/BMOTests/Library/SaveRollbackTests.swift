import StoreContract
import Testing

@testable import BMO

/// Which edits of a save are rolled back after its push: the rule of `RequestManager.save` and `--or-rollback`.
@Suite struct SaveRollbackTests {
    private static let failure = OutboxFailure(code: "remote", message: "no")

    private func entry(
        _ id: Int64, _ state: OutboxEntry.State, key: Int64? = nil, dependsOn: [Int64] = [],
        mayHaveArrived: Bool = false
    ) -> OutboxEntry {
        OutboxEntry(
            id: id, entity: "Note", key: [.integer(key ?? id)], operation: .update, idempotencyKey: "k", state: state,
            created: "2026-01-01T00:00:00.000000Z", failure: Self.failure, dependsOn: dependsOn,
            mayHaveArrived: mayHaveArrived)
    }

    private func dropped(_ workflow: SaveWorkflow, _ left: OutboxEntry...) -> [Int64] {
        SaveRollback(
            workflow, left: left,
            after: Dictionary(left.map { ($0.id, $0.outcome) }, uniquingKeysWith: { first, _ in first })
        ).entries
    }

    @Test func `each workflow keeps what it promises to keep`() {
        let all = OutboxEntry.State.allCases.enumerated().map { entry(Int64($0), $1) }
        func states(_ workflow: SaveWorkflow) -> [OutboxEntry.State] {
            let ids = SaveRollback(workflow, left: all, after: [:]).entries
            return all.filter { ids.contains($0.id) }.map(\.state)
        }
        #expect(states(.localOnly).isEmpty)
        #expect(states(.localFirst).isEmpty)
        #expect(states(.rollBack) == [.refused, .conflict])
        #expect(states(.afterRemote) == [.refused, .conflict])
        #expect(states(.acceptedOnly) == [.pending, .refused, .conflict])
    }

    @Test(arguments: [SaveWorkflow.rollBack, .afterRemote, .acceptedOnly])
    func `what the remote may have received is kept`(_ workflow: SaveWorkflow) {
        #expect(dropped(workflow, entry(1, .unknown)).isEmpty)
        #expect(dropped(workflow, entry(1, .sending)).isEmpty)
        // An earlier attempt had no answer, and the next one found no connection.
        #expect(dropped(workflow, entry(1, .pending, mayHaveArrived: true)).isEmpty)
        // A sync found a conflict in the meantime.
        #expect(dropped(workflow, entry(1, .conflict, mayHaveArrived: true)).isEmpty)
    }

    @Test func `what builds upon a rejected edit goes with it, and says so`() {
        let left = [
            entry(1, .refused), entry(2, .pending, dependsOn: [1]), entry(3, .pending, key: 1), entry(4, .pending),
            entry(5, .pending, dependsOn: [2]),
        ]
        let rollback = SaveRollback(.rollBack, left: left, after: [1: .refused(Self.failure)])
        #expect(rollback.entries == [1, 2, 3, 5])
        #expect(Set(rollback.outcomes.keys) == [2, 3, 5])
        #expect(rollback.outcomes[5]?.failure?.message == "it depends on edit 2, which the remote did not accept")
        #expect(SaveRollback(.acceptedOnly, left: left, after: [:]).entries == [1, 2, 3, 4, 5])
    }

    @Test func `an edit that is rolled back because it was not sent counts as dropped`() {
        let rollback = SaveRollback(
            .acceptedOnly, left: [entry(1, .pending)], after: [1: .waits(until: "later", Self.failure)])
        #expect(rollback.entries == [1])
        #expect(rollback.outcomes == [1: .dropped(Self.failure)])
    }
}
