/// What happens to an entry of the outbox; see ``OutboxEntry/after(_:hasConflicts:)``.
public enum OutboxEvent: Sendable {
    /// A request is about to go out, at this time (ISO 8601).
    case sent(at: String)
    /// The request had an outcome.
    case settled(EditOutcome)
    /// The process that sent it ended before it recorded an outcome.
    case senderEnded
    /// A person asks for another attempt, under a new idempotency key if the edit was refused.
    ///
    /// `sendingUnknown` says that the person has checked the remote, so that an edit with unknown outcome is sent again.
    case retried(sendingUnknown: Bool, newKey: String)
    /// Another local edit changed its content.
    case edited
    /// Another local edit made another operation of it, such as a delete of an update; its conflicts are void.
    case replaced
    /// The remote has the object no more, and the edit becomes its creation: a new request.
    case recreated(newKey: String)
    /// An import found that the remote changed the same columns.
    case conflictFound
    /// An import found that the remote changed other columns only.
    case conflictGone
    /// A person decided all of its conflicts; it becomes a new request.
    case conflictsResolved(newKey: String)
}

extension OutboxEntry {
    /// Returns the entry after an event; nil if the event does not apply to its state, and the entry stays as it is.
    ///
    /// The state machine, without I/O: every change of ``state`` goes through here. An entry leaves the outbox when the
    /// remote has accepted it, or when it is dropped: ``EditOutcome/sent(key:)`` and ``EditOutcome/dropped(_:)`` have no
    /// state after them, and the transaction that brings them about removes the entry.
    ///
    ///     pending   --sent--> sending; any state --settled--> pending | refused | unknown | conflict
    ///     unknown   --sent--> sending            sending --senderEnded--> unknown
    ///     pending | refused | conflict --conflictFound--> conflict --conflictGone, conflictsResolved--> pending
    ///     refused   --edited--> pending
    ///     pending | refused | conflict --replaced--> pending, unless it may have arrived
    ///     pending | refused | conflict --recreated--> pending
    ///     pending | refused | conflict --retried--> pending
    ///     unknown   --retried--> pending with `sendingUnknown`, else unknown, which is looked up again at once
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - hasConflicts: Whether undecided conflicts of the object are recorded; they keep it in `conflict`.
    ///     Evaluated only where the answer matters.
    public func after(
        _ event: OutboxEvent, hasConflicts: @autoclosure () throws -> Bool
    ) rethrows -> OutboxEntry? {
        var entry = self
        switch event {
        case .sent(let instant):
            guard state == .pending || state == .unknown else { return nil }
            entry.state = .sending
            entry.attempts += 1
            // From now on, the remote may be processing it.
            entry.notBefore = instant
        case .settled(let outcome):
            guard try entry.settle(outcome, hasConflicts: hasConflicts) else { return nil }
        case .senderEnded:
            guard state == .sending else { return nil }
            entry.state = .unknown
            entry.mayHaveArrived = true
            entry.failure = OutboxFailure(
                code: "unknown", message: "the process that sent it ended before the answer arrived")
        case .retried(let sendingUnknown, let newKey):
            guard state != .sending else { return nil }
            if state == .refused || state == .conflict, try hasConflicts() { return nil }
            entry.notBefore = nil
            switch state {
            case .unknown where sendingUnknown: entry.state = .pending
            case .pending, .unknown, .sending: break
            case .refused, .conflict:
                entry.state = .pending
                // The refused edit was not applied, so this is a new request.
                entry.idempotencyKey = newKey
            }
        case .edited:
            guard state == .refused else { return nil }
            entry.state = .pending
            entry.notBefore = nil
        case .replaced:
            guard takesEdits else { return nil }
            entry.state = .pending
        case .recreated(let newKey):
            guard isAtRest else { return nil }
            entry.becomeNewRequest(newKey)
        case .conflictFound:
            guard isAtRest else { return nil }
            entry.state = .conflict
        case .conflictGone:
            guard state == .conflict else { return nil }
            entry.state = .pending
            entry.notBefore = nil
        case .conflictsResolved(let newKey):
            guard state == .conflict else { return nil }
            entry.becomeNewRequest(newKey)
        }
        return entry
    }

    /// Returns the entry after an event where the object has no undecided conflicts, or they do not matter.
    public func after(_ event: OutboxEvent) -> OutboxEntry? { after(event, hasConflicts: false) }

    /// Returns the entry after an event that its caller knows to apply.
    ///
    /// - Throws: ``StoreError`` of the code `internal` if it does not.
    package func changed(by event: OutboxEvent) throws -> OutboxEntry {
        guard let entry = after(event) else {
            throw StoreError(.internal, "edit \(id) is \(state.rawValue), which \(event) does not change")
        }
        return entry
    }

    private mutating func becomeNewRequest(_ newKey: String) {
        (state, failure, notBefore) = (.pending, nil, nil)
        idempotencyKey = newKey
    }

    /// Sets the state by an outcome.
    ///
    /// - Returns: Whether the entry stays in the outbox; else it is unchanged.
    private mutating func settle(_ outcome: EditOutcome, hasConflicts: () throws -> Bool) rethrows -> Bool {
        switch outcome {
        case .sent, .dropped: return false
        case .waits(until: let instant, let failure):
            // A conflict that an import has found meanwhile must be resolved first.
            (state, self.failure) = (try hasConflicts() ? .conflict : .pending, failure)
            notBefore = instant
            if failure?.mayHaveArrived == true { mayHaveArrived = true }
        case .refused(let failure):
            (state, self.failure, notBefore) = (.refused, failure, nil)
            mayHaveArrived = false
        case .unknown(sent: let instant, let failure):
            (state, self.failure) = (.unknown, failure)
            notBefore = instant
            mayHaveArrived = true
        case .conflict(let failure):
            (state, self.failure, notBefore) = (.conflict, failure, nil)
            mayHaveArrived = false
        }
        return true
    }

    /// Whether the entry is not being sent and its last outcome is known.
    public var isAtRest: Bool { state == .pending || state == .refused || state == .conflict }

    /// Whether later edits may be merged into it, which must not change what the remote may have received.
    public var takesEdits: Bool { isAtRest && !mayHaveArrived }
}
