internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Sends one edit, and determines its outcome.
struct PushSender {
    let workspace: Workspace
    let store: PushStore
    let connections: Connections
    let options: Workspace.PushOptions

    var model: CompiledModel { workspace.model }

    /// Sends a waiting edit.
    ///
    /// - Throws: Errors of the store; the edit may then have been sent.
    func send(_ entry: OutboxEntry) async throws -> PushAttempt {
        if let entity = model.model.entity(named: entry.entity), !model.model.isWritable(entity) {
            let failure = OutboxFailure(
                code: "configuration", message: "\(entry.entity) is no longer writable",
                remedy: "set \"writable: true\" again to send it, or `bmo outbox drop \(entry.id)` rolls it back here")
            return PushAttempt(PushReport.Edit(entry, .waits(until: nil, failure)))
        }
        var place: Destination
        switch try await self.place(of: entry) {
        case .success(let found): place = found
        case .failure(let failure):
            return PushAttempt(try await settle(entry, .refused(failure.failure)))
        }
        let connection: BridgeConnection
        do {
            connection = try await connections.connection(for: place.bridge)
        } catch let failure as BridgeFailure {
            return PushAttempt(try await wait(entry, failure), unusableBridge: place.bridge)
        } catch let error as SecretError {
            let failure = BridgeFailure(.configuration, error.message, bridge: place.bridge, remedy: error.remedy)
            return PushAttempt(try await wait(entry, failure), unusableBridge: place.bridge)
        }
        // Includes edits made while the bridge was connecting; later edits follow.
        guard let marked = try await store.run({ try $0.markSending(entry.id) }) else {
            return PushAttempt(entry: entry.id)
        }
        if !marked.sendsTheSame(as: entry) {
            switch try await self.place(of: marked) {
            case .success(let found): place = found
            case .failure(let failure):
                return PushAttempt(try await settle(marked, .refused(failure.failure)))
            }
        }
        do {
            return try await exchange(marked, place, connection)
        } catch let error as StoreError where error.isOfOneEdit {
            // The new key, the deletion or the commit failed; values that the store refuses go to quarantine instead, and
            // leave the edit sent. Other edits can still be sent.
            let isCreate = marked.operation == .create
            let words = OutboxFailure(
                code: isCreate ? OutboxFailure.accepted : "mapping",
                message: "the remote's answer cannot be imported: \(error.message)", remedy: error.remedy)
            return PushAttempt(try await settle(marked, .unknown(sent: marked.notBefore, words)))
        }
    }

    /// Sends an edit that is marked as sent, and carries out what follows from the answer.
    private func exchange(
        _ entry: OutboxEntry, _ place: Destination, _ connection: BridgeConnection
    ) async throws -> PushAttempt {
        do {
            let batch = place.request.batch
            // Not cancelled with the push: the outcome would be unknown.
            let reply = try await Task { try await connection.write(batch) }.value
            return try await accept(entry, place, reply)
        } catch let failure as BridgeFailure {
            let pause = Backoff.pause(afterFailures: entry.attempts, atLeast: failure.retryAfter)
            return try await perform(
                decision(entry).afterFailure(failure, nextTry: Clock.text(after: pause)), entry, place)
        }
    }

    /// Looks up whether an edit in an unknown state arrived.
    ///
    /// - Throws: Errors of the store.
    func look(for entry: OutboxEntry) async throws -> PushAttempt {
        switch try await place(of: entry) {
        case .success(let place): return try await look(for: entry, place, isLate: isLate(entry))
        case .failure(let failure):
            return PushAttempt(try await settle(entry, decision(entry).unknown(failure.failure)))
        }
    }

    /// Returns whether the grace period is over, after which a missing edit will not arrive.
    private func isLate(_ entry: OutboxEntry) -> Bool {
        options.grace == .zero || entry.isLate(at: Clock.now(), grace: options.grace) ?? false
    }

    // MARK: destination

    /// The destination of an edit.
    struct Destination: Sendable {
        let index: Int
        let entity: Entity
        let request: PushRequest
        var bridge: String { entity.bridge }
    }

    private func place(of entry: OutboxEntry) async throws -> Result<Destination, OutboxFailureError> {
        guard let index = model.index(of: entry.entity) else {
            return .failure(
                OutboxFailureError("configuration", "the configuration has no entity \(entry.entity)", "drop the edit"))
        }
        let entity = model.model.scanned(model.model.entities[index])
        let workspace = workspace
        do {
            let request = try await store.run { try PushRequest(entry, index, in: workspace, $0) }
            return .success(Destination(index: index, entity: entity, request: request))
        } catch let refusal as OutgoingPlan.Refusal {
            return .failure(OutboxFailureError("mapping", refusal.description, nil))
        } catch let error as SecretError {
            return .failure(OutboxFailureError("configuration", error.message, error.remedy))
        } catch let error as StoreError where error.isOfOneEdit {
            return .failure(OutboxFailureError("mapping", error.message, error.remedy))
        }
    }

    func reader(_ place: Destination) -> PushReader {
        PushReader(workspace, connections, place.index, place.request)
    }

    // MARK: accepted edits

    private func accept(_ entry: OutboxEntry, _ place: Destination, _ reply: RecordBatch?) async throws -> PushAttempt {
        guard entry.operation != .delete else { return try await acknowledge(entry, place, nil) }
        let decision = self.decision(entry)
        var object = reply.map { self.object($0, place) }
        if let shown = object,
            decision.ignoresReply(
                key: shown.key, movesObjects: workspace.can("moves", place.bridge),
                isCreated: shown.isCreated(by: entry))
        {
            object = nil
        }
        if object == nil, !entry.hasTemporaryKey, place.entity.readOne != nil,
            case .object(let found)? = try? await reader(place).object(key: entry.key)
        {
            object = found
        }
        let step = decision.afterSuccess(key: object?.key)
        guard step == .acknowledge else { return try await perform(step, entry, place, object: object) }
        let lost = place.request.nested.flatMap { nested in object.flatMap { LostParts(in: $0.record, nested) } }
        let others = object?.otherValues(than: entry) ?? []
        var attempt = try await acknowledge(entry, place, lost.map { self.object($0.record, place) } ?? object)
        let warnings = [lost.map(Self.words), Self.words(others: others)].compactMap(\.self)
        if !warnings.isEmpty { attempt.edit?.warning = warnings.joined(separator: "; ") }
        return attempt
    }

    /// Describes values that the remote ignored, or changed (trimmed, for example), without a word; nil for none.
    private static func words(others columns: [String]) -> String? {
        columns.isEmpty ? nil : "the remote has other values than were sent: \(columns.joined(separator: ", "))"
    }

    private func object(_ record: RecordBatch, _ place: Destination) -> RemoteObject {
        RemoteObject(record, place.index, parent: place.request.parent?.key, in: model)
    }

    /// Removes the edit from the outbox and imports the remote's object, in one transaction.
    private func acknowledge(
        _ entry: OutboxEntry, _ place: Destination, _ object: RemoteObject?
    ) async throws -> PushAttempt {
        let key = object?.key == entry.key ? nil : object?.key
        // The remote's key may be the same as the temporary one.
        let assigned = entry.hasTemporaryKey ? object?.key : key
        try await importing(place, isListed: try await store.mayList(place)) { page in
            try page.acknowledge(entry.id, key: assigned)
            if let object { try page.add(object.mapped, location: nil) }
        }
        return PushAttempt(PushReport.Edit(entry, .sent(key: key)))
    }

    func importing(
        _ place: Destination, isListed: Bool, _ body: @escaping @Sendable (PageImport) throws -> Void
    ) async throws {
        let model = model
        let parent = place.request.parent.flatMap { parent in parent.relationship.map { ($0, parent.key) } }
        var origin = PageImport.Origin(bridge: place.bridge, page: 1)
        origin.parent = place.request.parent.flatMap { $0.relationship == nil ? nil : $0.text }
        // A reply may have only a part of the object.
        origin.replacesQuarantined = false
        // Members beside the object's values tell what became of the change.
        origin.notesUnknownFields = false
        // The remote has answered, so the connection is already open.
        origin.redaction = try await connections.connection(for: place.bridge).redaction
        origin.scan = ScanTarget(
            scope: ScanScope(entity: place.entity.name, parent: place.request.parent?.text ?? ""), entity: place.index,
            isListing: isListed, parent: parent)
        try await store.run { [origin] store in
            // The remote has accepted the edit: if this is lost, the edit's outcome is unknown.
            try TransientRetry.usual.run {
                let page = try PageImport(place.index, of: model, from: origin, into: store)
                do {
                    try body(page)
                } catch {
                    page.rollback()
                    throw error
                }
                try page.commitKeepingProgress()
            }
        }
    }

    // MARK: steps

    func decision(_ entry: OutboxEntry) -> PushDecision { PushDecision(entry: entry, grace: options.grace) }

    /// Carries out a step, and those that follow from it.
    ///
    /// - Parameter object: The remote's object that led to the step.
    func perform(
        _ step: PushStep, _ entry: OutboxEntry, _ place: Destination, object: RemoteObject? = nil
    ) async throws -> PushAttempt {
        switch step {
        case .acknowledge: return try await acknowledge(entry, place, object)
        case .settle(let outcome, let isBridgeUnusable):
            return PushAttempt(
                try await settle(entry, outcome), unusableBridge: isBridgeUnusable ? place.bridge : nil)
        case .finish(let outcome): return PushAttempt(PushReport.Edit(entry, outcome))
        case .sendAgain(let failure, let isConflict):
            var edit = try await settle(entry, .waits(until: nil, failure))
            if isConflict { edit.outcome = .conflict(failure) }
            return PushAttempt(edit, isDueAgain: true)
        case .lookLater(let failure, let sent, let next):
            var edit = try await settle(entry, .unknown(sent: sent, failure))
            var words = failure
            words.message += "; the remote does not have it yet"
            words.remedy = "the next push after \(next) checks again, then sends it again"
            edit.outcome = .unknown(sent: sent, words)
            edit.nextLook = next
            return PushAttempt(edit)
        case .lookAgain(let pause):
            try? await Task.sleep(for: pause)
            guard !Task.isCancelled else { return try await perform(missing(entry, isLate: false), entry, place) }
            return try await look(for: entry, place, isLate: true)
        case .ask(let question, let outcome):
            var entry = entry
            if let outcome {
                _ = try await settle(entry, outcome)
                if outcome.kind == .unknown { entry.failure = outcome.failure }
            }
            return try await ask(question, entry, place)
        case .importDeletion(let failure, let outcome):
            if let outcome { _ = try await settle(entry, outcome) }
            return try await importDeletion(entry, place, failure)
        }
    }

    private func ask(
        _ question: PushStep.Question, _ entry: OutboxEntry, _ place: Destination
    ) async throws -> PushAttempt {
        switch question {
        case .arrival(let isLate): return try await look(for: entry, place, isLate: isLate)
        case .version(let failure): return try await mergeVersion(entry, place, failure)
        case .existence(let failure, let nextTry):
            let step: PushStep
            do {
                let found = try await reader(place).object(key: entry.key)
                step = decision(entry).afterNotFound(found.remote(for: entry), failure, nextTry: nextTry)
            } catch let error where Self.cannotAsk(error) {
                step = .settle(.waits(until: nextTry, failure))
            }
            return try await perform(step, entry, place)
        case .creation(let failure, let nextTry): return try await lookForTaken(entry, place, failure, nextTry)
        }
    }

    // MARK: rejected edits

    /// Reads the remote's version of the object, and imports it, which merges it with the edit.
    private func mergeVersion(
        _ entry: OutboxEntry, _ place: Destination, _ failure: OutboxFailure
    ) async throws -> PushAttempt {
        let decision = self.decision(entry)
        let found: PushReader.Found
        do {
            found = try await reader(place).object(key: entry.key)
        } catch let error where Self.cannotAsk(error) {
            return try await perform(decision.afterConflict(error, failure), entry, place)
        }
        guard case .object(let object) = found else {
            return try await perform(decision.afterConflict(found.remote(for: entry), failure), entry, place)
        }
        do {
            try await importing(place, isListed: false) { page in try page.add(object.mapped, location: nil) }
        } catch let error where Self.cannotAsk(error) {
            return try await perform(decision.afterConflict(error, failure), entry, place)
        }
        let gone = try await outcomeOfGone(entry)
        let conflicts = try await store.run { try $0.conflicts(entity: entry.entity, key: entry.key) }
        return try await perform(
            decision.afterMerge(
                failure, unseen: entry.operation == .update ? object.unseen(of: entry) : [], gone: gone,
                hasConflicts: !conflicts.isEmpty), entry, place)
    }

    /// Returns whether an error means that the remote could not be queried for an object.
    static func cannotAsk(_ error: any Error) -> Bool {
        error is BridgeFailure || error is SecretError || error is OutgoingPlan.Refusal
    }

    /// Imports the deletion of an object that the remote no longer has.
    private func importDeletion(
        _ entry: OutboxEntry, _ place: Destination, _ failure: OutboxFailure
    ) async throws -> PushAttempt {
        let plan = OutgoingPlan(of: place.index, in: model)
        let layout = model.entities[place.index]
        let key = Dictionary(
            zip(layout.key.map { layout.fields[$0].name }, entry.key).map { ($0, $1) },
            uniquingKeysWith: { first, _ in first })
        let writer = RecordBatchWriter()
        try plan.object(key).write(to: writer)
        let gone = object(try writer.finish(), place)
        try await importing(place, isListed: true) { page in try page.delete(gone.mapped, location: nil) }
        return PushAttempt(PushReport.Edit(entry, try await outcomeOfGone(entry) ?? .conflict(failure)))
    }

    /// Returns the outcome of an edit that the import of the remote's object removed from the outbox: sent where the
    /// object has its values, else dropped; nil if the edit is still there.
    func outcomeOfGone(_ entry: OutboxEntry) async throws -> EditOutcome? {
        let (isThere, wasDropped) = try await store.run { store in
            (try store.outboxEntry(entry.id) != nil, try store.wasDropped(entry.id))
        }
        guard !isThere else { return nil }
        guard wasDropped else { return .sent(key: nil) }
        return .dropped(
            OutboxFailure(
                code: "conflict",
                message: "the remote's object was changed too, and it wins by `conflicts` of \(entry.entity)",
                remedy: "`bmo diff` shows what was discarded"))
    }

    // MARK: kept edits

    private func wait(_ entry: OutboxEntry, _ failure: BridgeFailure) async throws -> PushReport.Edit {
        let pause = Backoff.pause(afterFailures: entry.attempts, atLeast: failure.retryAfter)
        return try await settle(entry, .waits(until: Clock.text(after: pause), OutboxFailure(failure)))
    }

    /// Records the outcome of an edit that stays in the outbox.
    private func settle(_ entry: OutboxEntry, _ outcome: EditOutcome) async throws -> PushReport.Edit {
        try await store.run { try $0.settle(entry.id, outcome) }
        return PushReport.Edit(entry, outcome)
    }
}

/// A failure that was detected locally.
struct OutboxFailureError: Error {
    let failure: OutboxFailure

    init(_ code: String, _ message: String, _ remedy: String?) {
        failure = OutboxFailure(code: code, message: message, remedy: remedy)
    }

    /// Creates a failure for an edit whose outcome cannot be determined.
    init(_ message: String) { self.init("unknown", message, nil) }
}

extension StoreError {
    /// Whether the error concerns the values of one edit, and not the database as a whole.
    var isOfOneEdit: Bool { code == .request || code == .constraint }
}

extension OutboxEntry {
    /// Returns whether the remote would receive the same request as for another state of the entry.
    fileprivate func sendsTheSame(as other: OutboxEntry) -> Bool {
        operation == other.operation && key == other.key && changes == other.changes && links == other.links
            && idempotencyKey == other.idempotencyKey && entity == other.entity
            && hasTemporaryKey == other.hasTemporaryKey && userInfo == other.userInfo
    }
}
