import ImportTestSupport
import Mapping
import StoreContract
import Testing

/// The states of an outbox entry, event by event, without a database.
@Suite struct OutboxEventTests {
    private static let failure = OutboxFailure(code: "remote", message: "no")

    private func entry(_ state: OutboxEntry.State, mayHaveArrived: Bool = false) -> OutboxEntry {
        OutboxEntry(
            id: 1, entity: "City", key: [.integer(7)], operation: .update, idempotencyKey: "first", state: state,
            notBefore: "2026-01-01T00:00:00.000000Z", created: "2026-01-01T00:00:00.000000Z",
            mayHaveArrived: mayHaveArrived)
    }

    /// The state after each event, from each state; nil where the event does not apply.
    private static let table: [(name: String, event: OutboxEvent, after: [OutboxEntry.State: OutboxEntry.State])] = [
        ("sent", .sent(at: "now"), [.pending: .sending, .unknown: .sending]),
        ("sender ended", .senderEnded, [.sending: .unknown]),
        ("edited", .edited, [.refused: .pending]),
        ("replaced", .replaced, [.pending: .pending, .refused: .pending, .conflict: .pending]),
        (
            "recreated", .recreated(newKey: "second"),
            [.pending: .pending, .refused: .pending, .conflict: .pending]
        ),
        ("conflict found", .conflictFound, [.pending: .conflict, .refused: .conflict, .conflict: .conflict]),
        ("conflict gone", .conflictGone, [.conflict: .pending]),
        ("conflicts resolved", .conflictsResolved(newKey: "second"), [.conflict: .pending]),
        (
            "retried", .retried(sendingUnknown: false, newKey: "second"),
            [.pending: .pending, .unknown: .unknown, .refused: .pending, .conflict: .pending]
        ),
        (
            "retried, whatever arrived", .retried(sendingUnknown: true, newKey: "second"),
            [.pending: .pending, .unknown: .pending, .refused: .pending, .conflict: .pending]
        ),
    ]

    @Test(arguments: OutboxEntry.State.allCases)
    func `each event leads to one state, or does not apply`(state: OutboxEntry.State) {
        for row in Self.table {
            #expect(entry(state).after(row.event)?.state == row.after[state], "\(row.name) in \(state)")
        }
    }

    @Test func `an attempt is counted and dated`() throws {
        let sent = try #require(entry(.pending).after(.sent(at: "now")))
        #expect(sent.attempts == 1 && sent.notBefore == "now" && sent.idempotencyKey == "first")
    }

    @Test func `an outcome sets state, failure and time together`() throws {
        let sending = entry(.sending, mayHaveArrived: true)
        let refused = try #require(sending.after(.settled(.refused(Self.failure))))
        #expect(refused.state == .refused && refused.failure == Self.failure && refused.notBefore == nil)
        #expect(!refused.mayHaveArrived)
        let unknown = try #require(entry(.sending).after(.settled(.unknown(sent: "then", Self.failure))))
        #expect(unknown.state == .unknown && unknown.notBefore == "then" && unknown.mayHaveArrived)
        let later = try #require(sending.after(.settled(.waits(until: "later", Self.failure))))
        #expect(later.state == .pending && later.notBefore == "later")
        #expect(later.mayHaveArrived, "an earlier attempt may still have arrived")
        let differs = try #require(sending.after(.settled(.conflict(Self.failure))))
        #expect(differs.state == .conflict && !differs.mayHaveArrived)
    }

    @Test func `an edit that is sent again may have arrived where its failure says so`() throws {
        var lost = Self.failure
        lost.mayHaveArrived = true
        let again = try #require(entry(.sending).after(.settled(.waits(until: nil, lost))))
        #expect(again.state == .pending && again.mayHaveArrived && !again.takesEdits)
        let busy = try #require(again.after(.settled(.waits(until: nil, Self.failure))))
        #expect(busy.mayHaveArrived, "the earlier attempt may have arrived")
        #expect(entry(.sending).after(.settled(.waits(until: nil, Self.failure)))?.mayHaveArrived == false)
    }

    @Test func `an undecided conflict keeps an entry from being sent`() throws {
        let settled = entry(.sending).after(.settled(.waits(until: nil, Self.failure)), hasConflicts: true)
        #expect(settled?.state == .conflict)
        let retry = OutboxEvent.retried(sendingUnknown: false, newKey: "second")
        #expect(entry(.conflict).after(retry, hasConflicts: true) == nil)
        #expect(entry(.refused).after(retry, hasConflicts: true) == nil)
        #expect(entry(.pending).after(retry, hasConflicts: true)?.notBefore == nil)
    }

    @Test func `a refused edit is a new request, an unknown one is the same`() {
        let retry = OutboxEvent.retried(sendingUnknown: true, newKey: "second")
        #expect(entry(.refused).after(retry)?.idempotencyKey == "second")
        #expect(entry(.conflict).after(retry)?.idempotencyKey == "second")
        #expect(entry(.unknown).after(retry)?.idempotencyKey == "first")
        #expect(entry(.pending).after(retry)?.idempotencyKey == "first")
    }

    @Test func `what may have arrived takes no further edits`() {
        #expect(entry(.pending).takesEdits && entry(.refused).takesEdits && entry(.conflict).takesEdits)
        #expect(!entry(.pending, mayHaveArrived: true).takesEdits)
        #expect(!entry(.sending).takesEdits && !entry(.unknown).takesEdits)
        #expect(entry(.pending, mayHaveArrived: true).after(.replaced) == nil)
    }

    @Test(arguments: OutboxEntry.State.allCases)
    func `an accepted or dropped edit has no state: it leaves the outbox`(state: OutboxEntry.State) {
        #expect(entry(state).after(.settled(.sent(key: nil))) == nil)
        #expect(entry(state).after(.settled(.dropped(nil))) == nil)
    }

    @Test func `a state records the outcome that led to it`() throws {
        let outcomes: [EditOutcome] = [
            .waits(until: "later", Self.failure), .waits(until: nil, Self.failure), .refused(Self.failure),
            .conflict(Self.failure), .unknown(sent: "then", Self.failure),
        ]
        for outcome in outcomes {
            #expect(try #require(entry(.sending).after(.settled(outcome))).outcome == outcome)
        }
    }
}
