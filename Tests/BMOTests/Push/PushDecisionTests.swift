import BridgeHost
import Mapping
import StoreContract
import Testing

@testable import BMO

/// What a push does next with an edit, answer by answer, without a remote.
@Suite struct PushDecisionTests {
    private static let sent = "2026-01-01T00:00:00.000000Z"

    private func decision(
        _ operation: OutboxEntry.Operation, temporary: Bool = false, attempts: Int = 1, failure: OutboxFailure? = nil,
        grace: Duration = .seconds(30)
    ) -> PushDecision {
        PushDecision(
            entry: OutboxEntry(
                id: 7, entity: "Note", key: [.integer(1)], operation: operation, idempotencyKey: "k", state: .sending,
                attempts: attempts, notBefore: Self.sent, created: Self.sent, failure: failure,
                hasTemporaryKey: temporary), grace: grace)
    }

    private func after(
        _ code: BridgeFailure.Code, _ operation: OutboxEntry.Operation, isRetryable: Bool = false,
        grace: Duration = .seconds(30)
    ) -> PushStep {
        decision(operation, grace: grace).afterFailure(failure(code, isRetryable: isRetryable), nextTry: "next")
    }

    private func failure(_ code: BridgeFailure.Code, isRetryable: Bool = false) -> BridgeFailure {
        BridgeFailure(code, "no", bridge: "api", isRetryable: isRetryable)
    }

    // MARK: failures

    @Test func `what may pass waits, and a bridge without a connection is left alone`() {
        let words = OutboxFailure(failure(.rateLimited))
        #expect(after(.rateLimited, .update) == .settle(.waits(until: "next", words)))
        #expect(
            after(.remote, .update, isRetryable: true)
                == .settle(.waits(until: "next", OutboxFailure(failure(.remote, isRetryable: true)))))
        for code in [BridgeFailure.Code.unreachable, .authentication, .tls] {
            #expect(
                after(code, .create)
                    == .settle(.waits(until: "next", OutboxFailure(failure(code))), isBridgeUnusable: true))
        }
    }

    @Test func `a retryable failure says whether the edit may have arrived`() {
        for (isRetryable, mayHaveArrived) in [(true, true), (false, false)] {
            var lost = failure(.unreachable, isRetryable: isRetryable)
            lost.mayHaveArrived = true
            var words = OutboxFailure(failure(.unreachable))
            words.mayHaveArrived = mayHaveArrived
            #expect(
                decision(.delete).afterFailure(lost, nextTry: "next")
                    == .settle(.waits(until: "next", words), isBridgeUnusable: true))
        }
    }

    @Test func `a rejection is refused, but for a conflict or an object that is gone`() {
        for code in [BridgeFailure.Code.configuration, .permission, .remote, .unsupported, .limit] {
            for operation in OutboxEntry.Operation.allCases {
                #expect(after(code, operation) == .settle(.refused(OutboxFailure(failure(code)))))
            }
        }
        #expect(after(.notFound, .create) == .settle(.refused(OutboxFailure(failure(.notFound)))))
        #expect(after(.notFound, .delete) == .acknowledge)
        let gone = OutboxFailure(failure(.notFound))
        #expect(after(.notFound, .update) == .ask(.existence(gone, nextTry: "next"), after: .conflict(gone)))
        let conflict = OutboxFailure(failure(.conflict))
        #expect(after(.conflict, .create) == .ask(.creation(conflict, nextTry: "next")))
        guard case .ask(.version(conflict), after: .conflict(let marked?)) = after(.conflict, .update) else {
            Issue.record("\(after(.conflict, .update))")
            return
        }
        #expect(marked.remedy?.contains("could not be read") == true)
    }

    @Test(arguments: [BridgeFailure.Code.timeout, .crashed, .cancelled, .malformed, .internal])
    func `an edit without an answer is marked as unknown before the remote is asked`(code: BridgeFailure.Code) {
        let marked = EditOutcome.unknown(sent: Self.sent, OutboxFailure(failure(code)))
        #expect(after(code, .update) == .ask(.arrival(isLate: false), after: marked))
        #expect(after(code, .create, grace: .zero) == .ask(.arrival(isLate: true), after: marked))
    }

    // MARK: replies

    @Test func `a reply that shows another object is ignored, unless it is the created one`() {
        #expect(decision(.update).ignoresReply(key: [.integer(2)], movesObjects: false, isCreated: true))
        #expect(!decision(.update).ignoresReply(key: [.integer(2)], movesObjects: true, isCreated: false))
        #expect(decision(.create).ignoresReply(key: [.integer(2)], movesObjects: true, isCreated: false))
        #expect(!decision(.update).ignoresReply(key: [.integer(1)], movesObjects: false, isCreated: false))
        #expect(!decision(.update).ignoresReply(key: nil, movesObjects: false, isCreated: false))
        #expect(decision(.create).ignoresReply(key: [.integer(2)], movesObjects: false, isCreated: false))
        #expect(!decision(.create).ignoresReply(key: [.integer(2)], movesObjects: false, isCreated: true))
        #expect(
            !decision(.create, temporary: true).ignoresReply(key: [.integer(2)], movesObjects: false, isCreated: false))
    }

    @Test func `a created object without a key in the reply is looked for`() {
        #expect(decision(.create, temporary: true).afterSuccess(key: [.integer(2)]) == .acknowledge)
        #expect(decision(.create).afterSuccess(key: nil) == .acknowledge)
        guard
            case .ask(.arrival(isLate: false), after: .unknown(sent: Self.sent, let failure)) = decision(
                .create, temporary: true
            ).afterSuccess(key: nil)
        else {
            Issue.record("it is acknowledged without a key")
            return
        }
        #expect(failure.code == "accepted")
    }

    // MARK: conflicts

    @Test func `a conflict is decided by what is read and merged`() {
        let failure = OutboxFailure(code: "conflict", message: "412")
        #expect(decision(.delete).afterConflict(.gone, failure) == .acknowledge)
        #expect(decision(.update).afterConflict(.gone, failure) == .importDeletion(failure))
        guard
            case .settle(.conflict(let unread?), _) = decision(.update).afterConflict(
                .cannotTell("it is empty"), failure)
        else {
            Issue.record("it does not stay a conflict")
            return
        }
        #expect(
            unread.remedy == "the remote has a different version, which could not be read (it is empty); "
                + "`bmo outbox retry 7` sends it again")

        func merged(unseen: [String] = [], gone: EditOutcome? = nil, hasConflicts: Bool = false) -> PushStep {
            decision(.update).afterMerge(failure, unseen: unseen, gone: gone, hasConflicts: hasConflicts)
        }
        #expect(merged() == .sendAgain(failure, isConflict: true))
        #expect(merged(hasConflicts: true) == .settle(.conflict(failure)))
        #expect(merged(gone: .sent(key: nil)) == .finish(.sent(key: nil)))
        guard case .settle(.conflict(let words?), _) = merged(unseen: ["text"]) else {
            Issue.record("an object without the values decides nothing")
            return
        }
        #expect(words.message == "412; the object as it is read has no text")
    }

    @Test func `an update that is not found is refused only at its third try`() {
        let failure = OutboxFailure(code: "not_found", message: "404")
        func after(_ attempts: Int, _ remote: PushDecision.Remote) -> PushStep {
            decision(.update, attempts: attempts).afterNotFound(remote, failure, nextTry: "next")
        }
        #expect(after(1, .gone) == .importDeletion(failure))
        #expect(after(2, .object(hasEdit: false)) == .settle(.waits(until: "next", failure)))
        guard case .settle(.refused(let words), _) = after(3, .object(hasEdit: false)) else {
            Issue.record("it is tried for ever")
            return
        }
        #expect(words.message == "404; yet the object can be read")
    }

    // MARK: unknown outcomes

    @Test func `an update that did not arrive is sent again unless the remote has changed the same values`() {
        let failure = OutboxFailure(code: "timeout", message: "no answer arrived")
        func after(gone: EditOutcome? = nil, hasConflicts: Bool = false) -> PushStep {
            decision(.update).afterLook(failure, gone: gone, hasConflicts: hasConflicts)
        }
        #expect(after() == .sendAgain(failure))
        #expect(after(gone: .sent(key: nil)) == .finish(.sent(key: nil)))
        guard case .settle(.conflict(let words?), _) = after(hasConflicts: true) else {
            Issue.record("the remote's change would be lost")
            return
        }
        #expect(words.message == "no answer arrived; bmo checked: the remote has other values now")
    }

    @Test func `what the remote has decides whether an edit arrived`() {
        let missing = PushStep.sendAgain(OutboxFailure(code: "x", message: "missing"))
        func after(_ operation: OutboxEntry.Operation, _ remote: PushDecision.Remote) -> PushStep {
            decision(operation).afterLook(remote, missing: missing)
        }
        #expect(after(.create, .object(hasEdit: false)) == .acknowledge)
        #expect(after(.create, .gone) == missing)
        #expect(after(.update, .object(hasEdit: true)) == .acknowledge)
        #expect(after(.update, .object(hasEdit: false)) == missing)
        #expect(after(.delete, .gone) == .acknowledge)
        #expect(after(.delete, .object(hasEdit: true)) == missing)
        let gone = OutboxFailure(code: "not_found", message: "the remote no longer has it")
        #expect(after(.update, .gone) == .importDeletion(gone, after: .conflict(gone)))
        for operation in OutboxEntry.Operation.allCases {
            #expect(
                after(operation, .cannotTell("why"))
                    == .settle(.unknown(sent: Self.sent, OutboxFailure(code: "unknown", message: "why"))))
        }
    }

    @Test func `a created object is found only by values that identify one`() {
        let missing = PushStep.sendAgain(OutboxFailure(code: "x", message: "missing"))
        let login: [String: StoredValue] = ["login": .text("ann")]
        func after(_ values: [String: StoredValue], _ candidates: PushReader.Candidates?) -> PushStep? {
            decision(.create, temporary: true).afterLook(values, candidates, missing: missing)
        }
        func message(_ step: PushStep?) -> String? {
            guard case .settle(.unknown(_, let failure), _)? = step else { return nil }
            return failure.message
        }
        #expect(message(after([:], nil)) == "the entity has no \"match\" by which to find it")
        #expect(message(after(["login": .null], nil)) == "it has no value of login")
        #expect(after(login, nil) == nil, "the remote is asked")
        #expect(after(login, PushReader.Candidates(isSure: true)) == missing)
        #expect(message(after(login, PushReader.Candidates()))?.contains("is not complete") == true)
        let other = PushReader.Candidates(other: ([.integer(3)], "it existed here before"), isSure: true)
        #expect(
            message(after(login, other))
                == "the remote has Note 3 with its login, which is a different object: it existed here before")
    }

    @Test func `an edit that the remote does not have is sent again once it is late`() {
        let failure = OutboxFailure(code: "timeout", message: "no answer arrived")
        let early = decision(.update).missing(isLate: false, now: "2026-01-01T00:00:01.000000Z")
        #expect(early == .lookLater(failure, sent: Self.sent, next: "2026-01-01T00:00:30.000000Z"))
        #expect(decision(.update).missing(isLate: true, now: "2026-01-01T00:01:00.000000Z") == .sendAgain(failure))
        let create = decision(.create, temporary: true)
        #expect(create.missing(isLate: true, now: "2026-01-01T00:00:01.000000Z") == .lookAgain(after: .seconds(5)))
        #expect(create.missing(isLate: true, now: "2026-01-01T00:00:06.000000Z") == .sendAgain(failure))
        let accepted = decision(
            .create, temporary: true, failure: OutboxFailure(code: OutboxFailure.accepted, message: "accepted"))
        guard
            case .settle(.unknown(_, let words), _) = accepted.missing(
                isLate: true, now: "2026-01-01T00:01:00.000000Z")
        else {
            Issue.record("an accepted edit is sent a second time")
            return
        }
        #expect(words.message == "accepted; bmo checked: it was not found there")
    }
}
