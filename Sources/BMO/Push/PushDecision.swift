internal import BridgeHost
internal import Mapping
internal import StoreContract

/// The decisions of a push about one edit, without I/O: what the remote's answer, or the lack of one, means.
struct PushDecision: Sendable {
    /// What the remote has of an edit's object.
    enum Remote: Sendable, Equatable {
        /// The object, and whether it has the edit's values.
        case object(hasEdit: Bool)
        /// The remote has no such object.
        case gone
        /// The state is unknown, and why.
        case cannotTell(String)
    }

    /// The edit, as it was sent.
    let entry: OutboxEntry
    /// How long after it was sent an edit that is missing is given up: until then, the remote may still process it.
    let grace: Duration

    // MARK: answers to the request

    /// Decides after a reply whether it is ignored, as it shows another object than the edited one (a log entry, a job).
    ///
    /// - Parameters:
    ///   - key: The key of the object in the reply; nil if it has none.
    ///   - movesObjects: Whether the bridge answers an update with the edited object alone, also under a new key.
    ///   - isCreated: Whether that object has the sent values. It is then the new one, under the remote's key: a UUID
    ///     that the remote generated, another spelling.
    func ignoresReply(key: [StoredValue]?, movesObjects: Bool, isCreated: @autoclosure () -> Bool) -> Bool {
        guard !entry.hasTemporaryKey, let key, key != entry.key else { return false }
        return entry.operation == .create ? !isCreated() : !movesObjects
    }

    /// Decides after the remote accepted the edit.
    ///
    /// - Parameter key: The key of the object in its answer; nil if the answer has none.
    func afterSuccess(key: [StoredValue]?) -> PushStep {
        guard entry.hasTemporaryKey, key == nil else { return .acknowledge }
        // The object exists under an unknown key.
        let failure = OutboxFailure(
            code: OutboxFailure.accepted,
            message: "the remote accepted it, but its reply does not contain the new object's key",
            remedy: "say where the reply has it (key_field, records), or how to find the object: \"match\"")
        return .ask(.arrival(isLate: false), after: .unknown(sent: entry.notBefore, failure))
    }

    /// Decides after the bridge failed.
    ///
    /// - Parameter nextTry: The time of the next try, for a failure that may pass.
    func afterFailure(_ failure: BridgeFailure, nextTry: String) -> PushStep {
        let words = OutboxFailure(failure)
        switch failure.code {
        case _ where failure.isRetryable, .unreachable, .authentication, .tls, .rateLimited:
            return .settle(
                .waits(until: nextTry, words),
                isBridgeUnusable: [.unreachable, .authentication, .tls].contains(failure.code))
        case .conflict where entry.operation == .create: return .ask(.creation(words, nextTry: nextTry))
        case .conflict: return .ask(.version(words), after: .conflict(unread(words)))
        case .notFound where entry.operation == .update:
            return .ask(.existence(words, nextTry: nextTry), after: .conflict(words))
        case .notFound where entry.operation == .delete: return .acknowledge
        case .timeout, .crashed, .cancelled, .malformed, .internal:
            return .ask(.arrival(isLate: grace == .zero), after: .unknown(sent: entry.notBefore, words))
        case .configuration, .permission, .notFound, .remote, .unsupported, .limit: return .settle(.refused(words))
        }
    }

    // MARK: conflicts

    /// Decides about a conflict whose object was not read: it can be decided only if it can be read.
    ///
    /// - Parameter failure: The rejection.
    func afterConflict(_ remote: Remote, _ failure: OutboxFailure) -> PushStep {
        switch remote {
        case .gone where entry.operation == .delete: .acknowledge
        case .gone: .importDeletion(failure)
        case .cannotTell(let why): .settle(.conflict(unread(failure, why)))
        case .object: .finish(.conflict(unread(failure)))
        }
    }

    /// Decides about a conflict whose object could not be read.
    func afterConflict(_ error: any Error, _ failure: OutboxFailure) -> PushStep {
        var words = failure
        words.remedy =
            "the remote has a different version, and reading it failed: \(error); `bmo outbox retry \(entry.id)` sends it again"
        return .settle(.conflict(words))
    }

    /// Decides about a conflict whose object was read and imported, which merged it with the edit.
    ///
    /// - Parameters:
    ///   - unseen: The columns that the edit sets, where the object does not show any values.
    ///   - gone: What became of the edit, if the import removed it from the outbox.
    ///   - hasConflicts: Whether values were changed on both sides.
    func afterMerge(
        _ failure: OutboxFailure, unseen: [String], gone: EditOutcome?, hasConflicts: Bool
    ) -> PushStep {
        guard unseen.isEmpty else {
            // Whether the remote changed them is unknown.
            var words = failure
            words.message += "; the object as it is read has no \(unseen.joined(separator: ", "))"
            words.remedy =
                "let \"read_one\" return it (its records, or a preset), to see the remote's value; "
                + "`bmo outbox retry \(entry.id)` sends yours anyway"
            return .settle(.conflict(words))
        }
        if let gone { return .finish(gone) }
        // Changes on one side only are not a conflict: the edit is now based on the remote's version.
        return hasConflicts ? .settle(.conflict(failure)) : .sendAgain(failure, isConflict: true)
    }

    private func unread(_ failure: OutboxFailure, _ why: String? = nil) -> OutboxFailure {
        var words = failure
        words.remedy =
            "the remote has a different version, which could not be read (\(why ?? "\"read_one\"")); `bmo outbox retry "
            + "\(entry.id)` sends it again"
        return words
    }

    /// Decides about an update that the remote rejected as not found: the object counts as gone once it cannot be read.
    ///
    /// - Parameter nextTry: The time of the next try.
    func afterNotFound(_ remote: Remote, _ failure: OutboxFailure, nextTry: String) -> PushStep {
        var words = failure
        guard case .object = remote else { return .importDeletion(words) }
        // A part of the remote may lag behind; a repeated rejection means that updates have another path.
        guard entry.attempts >= 3 else { return .settle(.waits(until: nextTry, words)) }
        words.message += "; yet the object can be read"
        words.remedy = "check the path of the update; `bmo outbox retry \(entry.id)` sends it again"
        return .settle(.refused(words))
    }

    // MARK: unknown outcomes

    /// Decides about an edit with unknown outcome whose object has been looked for by its key.
    ///
    /// - Parameter missing: The step if the remote does not have the edit.
    func afterLook(_ remote: Remote, missing: @autoclosure () -> PushStep) -> PushStep {
        let gone = OutboxFailure(code: "not_found", message: "the remote no longer has it")
        return switch (entry.operation, remote) {
        case (_, .cannotTell(let why)): stayUnknown(OutboxFailure(code: "unknown", message: why))
        case (.create, .object), (.update, .object(hasEdit: true)), (.delete, .gone): .acknowledge
        case (.create, .gone), (.update, .object), (.delete, .object): missing()
        case (.update, .gone): .importDeletion(gone, after: .conflict(gone))
        }
    }

    /// Decides about an update that did not arrive, after the remote's object was imported, which merged it with the edit.
    ///
    /// - Parameters:
    ///   - failure: Why the outcome was unknown.
    ///   - gone: What became of the edit, if the import removed it from the outbox.
    ///   - hasConflicts: Whether values were changed on both sides.
    func afterLook(_ failure: OutboxFailure, gone: EditOutcome?, hasConflicts: Bool) -> PushStep {
        if let gone { return .finish(gone) }
        guard hasConflicts else { return .sendAgain(failure) }
        var words = failure
        words.message += "; bmo checked: the remote has other values now"
        words.remedy = nil
        return .settle(.conflict(words))
    }

    /// Decides about a create with unknown outcome, whose object can only be found by other values than its key.
    ///
    /// - Parameters:
    ///   - values: The values of `match`, by column.
    ///   - candidates: What was found by them; nil before it is looked for.
    ///   - missing: The step if the remote does not have the object.
    /// - Returns: Nil if the remote has to be searched.
    func afterLook(
        _ values: [String: StoredValue], _ candidates: PushReader.Candidates?, missing: @autoclosure () -> PushStep
    ) -> PushStep? {
        let words = values.keys.sorted().joined(separator: ", ")
        guard values.contains(where: { $0.value != .null }) else {
            let why =
                values.isEmpty ? "the entity has no \"match\" by which to find it" : "it has no value of \(words)"
            return stayUnknown(
                OutboxFailure(code: entry.failure?.code ?? "timeout", message: why, remedy: choices))
        }
        guard let candidates else { return nil }
        guard candidates.found.count < 2 else {
            return stayUnknown(
                OutboxFailure(
                    code: "unknown", message: "the remote has several objects with its \(words): which is it?"))
        }
        guard candidates.isSure else {
            let why =
                "the listing was searched up to \(PushReader.maxRecords) records, or is not complete"
            return stayUnknown(OutboxFailure(code: "unknown", message: why))
        }
        if !candidates.found.isEmpty { return .acknowledge }
        guard let other = candidates.other else { return missing() }
        let name = ([entry.entity] + other.key.map(\.description)).joined(separator: " ")
        return stayUnknown(
            OutboxFailure(
                code: "unknown",
                message: "the remote has \(name) with its \(words), which is a different object: \(other.why)",
                remedy: choices))
    }

    /// Decides about an edit that the remote does not have.
    ///
    /// The remote may still be processing it, so an edit that is missing at first is looked up again later.
    ///
    /// - Parameters:
    ///   - isLate: Whether the edit is given up because it was sent long enough ago.
    ///   - now: The time, as ISO 8601.
    func missing(isLate: Bool, now: String) -> PushStep {
        let failure = entry.cause ?? OutboxFailure(code: "timeout", message: "no answer arrived")
        guard failure.code != OutboxFailure.accepted else {
            return stayUnknown(
                OutboxFailure(code: failure.code, message: "it was not found there", remedy: choices))
        }
        if isLate, let pause = pauseBeforeSecondCreate(now) { return .lookAgain(after: pause) }
        guard isLate else {
            let sent = entry.notBefore ?? now
            return .lookLater(failure, sent: sent, next: Clock.text(sent, plus: grace))
        }
        return .sendAgain(failure)
    }

    /// The minimum time after sending at which a create may be sent again, whatever the user says: a server continues a
    /// request whose sender was killed.
    static let leastCreation: Duration = .seconds(5)

    /// Returns the wait before resending a create that the remote could not recognize as a repetition; nil for none.
    private func pauseBeforeSecondCreate(_ now: String) -> Duration? {
        guard entry.operation == .create, entry.hasTemporaryKey, let sent = entry.notBefore, sent <= now,
            Clock.text(sent, plus: Self.leastCreation) > now
        else { return nil }
        return Self.leastCreation
    }

    /// Keeps the outcome unknown.
    func stayUnknown(_ failure: OutboxFailure, isBridgeUnusable: Bool = false) -> PushStep {
        .settle(unknown(failure), isBridgeUnusable: isBridgeUnusable)
    }

    /// Returns the unknown outcome: with the original failure, followed by the result of the last look.
    func unknown(_ failure: OutboxFailure) -> EditOutcome {
        var words = failure
        if let cause = entry.cause {
            let look = words.message == cause.message ? "" : OutboxEntry.look + words.message
            words = OutboxFailure(
                code: cause.code, message: cause.message + look, remedy: words.remedy, remote: cause.remote)
        }
        return .unknown(sent: entry.notBefore, words)
    }

    private var choices: String {
        "check the remote; then `bmo outbox retry --unknown \(entry.id)` sends it again"
            + (entry.operation == .create ? ", which makes a second object if the remote has this one" : "") + ", and "
            + "`bmo outbox drop \(entry.id)` rolls it back here"
    }
}

extension OutboxEntry {
    /// The separator between the cause and the result of the last lookup.
    fileprivate static let look = "; bmo checked: "
    /// The separator in outboxes that an earlier version wrote.
    private static let formerLook = "; bmo looked: "

    /// The reason why the edit was not sent or accepted, without the results of later lookups.
    var cause: OutboxFailure? {
        guard var cause = failure else { return nil }
        for look in [Self.look, Self.formerLook] {
            guard let found = cause.message.firstRange(of: look) else { continue }
            cause.message = String(cause.message[..<found.lowerBound])
        }
        return cause
    }
}

extension OutboxFailure {
    /// The code of an edit that the remote accepted without reporting the new object's key; it is never resent
    /// automatically.
    static let accepted = "accepted"

    /// Creates a failure from a bridge's.
    init(_ failure: BridgeFailure) {
        let place = failure.location.map { failure.message.contains($0) ? "" : " (\($0))" } ?? ""
        self.init(
            code: failure.code.rawValue, message: failure.message + place, remedy: failure.remedy,
            remote: failure.remote, mayHaveArrived: failure.isRetryable && failure.mayHaveArrived)
    }
}
