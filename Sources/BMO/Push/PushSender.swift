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
                code: "configuration", message: "\(entry.entity) is not writable any more",
                remedy: "set \"writable: true\" again to send it, or `bmo outbox drop \(entry.id)` takes it back here")
            return PushAttempt(PushReport.Edit(entry, .waits(until: nil, failure)))
        }
        var place: Place
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
        let entry = marked
        do {
            let batch = place.request.batch
            // Not cancelled with the push: the outcome would be unknown.
            let reply = try await Task { try await connection.write(batch) }.value
            return try await accept(entry, place, reply)
        } catch let failure as BridgeFailure {
            return try await failed(entry, place, failure)
        }
    }

    /// Looks up whether an edit in an unknown state arrived.
    ///
    /// - Throws: Errors of the store.
    func look(for entry: OutboxEntry) async throws -> PushAttempt {
        switch try await place(of: entry) {
        case .success(let place): return try await look(for: entry, place, isLate: isLate(entry))
        case .failure(let failure): return PushAttempt(try await stayUnknown(entry, failure))
        }
    }

    /// Returns whether the grace period is over, after which a missing edit will not arrive.
    private func isLate(_ entry: OutboxEntry) -> Bool {
        options.grace == .zero || entry.notBefore.map { Clock.text($0, plus: options.grace) <= Clock.now() } ?? false
    }

    // MARK: destination

    /// The destination of an edit.
    struct Place: Sendable {
        let index: Int
        let entity: Entity
        let request: PushRequest
        var bridge: String { entity.bridge }
    }

    private func place(of entry: OutboxEntry) async throws -> Result<Place, OutboxFailureError> {
        guard let index = model.index(of: entry.entity) else {
            return .failure(
                OutboxFailureError("configuration", "the configuration has no entity \(entry.entity)", "drop the edit"))
        }
        let entity = model.model.walked(model.model.entities[index])
        let workspace = workspace
        do {
            let request = try await store.run { try PushRequest(entry, index, in: workspace, $0) }
            return .success(Place(index: index, entity: entity, request: request))
        } catch let refusal as OutgoingPlan.Refusal {
            return .failure(OutboxFailureError("mapping", refusal.description, nil))
        } catch let error as SecretError {
            return .failure(OutboxFailureError("configuration", error.message, error.remedy))
        }
    }

    func reader(_ place: Place) -> PushReader {
        PushReader(workspace, connections, place.index, place.request)
    }

    // MARK: accepted edits

    private func accept(_ entry: OutboxEntry, _ place: Place, _ reply: RecordBatch?) async throws -> PushAttempt {
        guard entry.operation != .delete else { return try await acknowledge(entry, place, nil) }
        var record = reply
        // A reply that shows another object (a log entry, a job) is not this object.
        if !entry.hasTemporaryKey, let key = key(in: record, place), key != entry.key,
            // An object with the sent values is the new one, under the remote's key: a UUID that the remote generated,
            // another spelling.
            entry.operation != .create || !isCreated(record, entry, place)
        {
            record = nil
        }
        if record == nil, !entry.hasTemporaryKey, place.entity.readOne != nil,
            case .object(let found)? = try? await reader(place).object(key: entry.key)
        {
            record = found
        }
        guard entry.hasTemporaryKey, key(in: record, place) == nil else {
            guard let nested = place.request.nested, let lost = record.flatMap({ LostParts(in: $0, nested) }) else {
                return try await acknowledge(entry, place, record)
            }
            var attempt = try await acknowledge(entry, place, lost.record)
            attempt.edit?.warning = Self.words(lost)
            return attempt
        }
        // The object exists under an unknown key.
        let failure = OutboxFailure(
            code: OutboxFailure.accepted,
            message: "the remote accepted it, and its reply does not tell the new object's key",
            remedy: "say where the reply has it (key_field, records), or how to find the object: \"match\"")
        _ = try await settle(entry, .unknown(sent: entry.notBefore, failure))
        var entry = entry
        entry.failure = failure
        return try await look(for: entry, place, isLate: false)
    }

    private func key(in record: RecordBatch?, _ place: Place) -> [StoredValue]? {
        guard let record, record.count > 0 else { return nil }
        return withExtendedLifetime(record) {
            Mapper(model).key(of: record[0], as: place.index, parent: place.request.parent?.key)
        }
    }

    /// Removes the edit from the outbox and imports the remote's object, in one transaction.
    func acknowledge(_ entry: OutboxEntry, _ place: Place, _ record: RecordBatch?) async throws -> PushAttempt {
        let found = key(in: record, place)
        let key = found == entry.key ? nil : found
        let answer = record.map { mapped($0, of: place) }
        try await importing(place, isListed: try await store.mayList(place)) { page in
            try page.acknowledge(entry.id, key: key)
            if let answer { try page.add(answer, location: nil) }
        }
        return PushAttempt(PushReport.Edit(entry, .sent(key: key)))
    }

    private func mapped(_ record: RecordBatch, of place: Place) -> MappedBatch {
        MappedBatch(record, by: Mapper(model), as: place.index, parent: place.request.parent?.key)
    }

    private func importing(
        _ place: Place, isListed: Bool, _ body: @escaping @Sendable (PageImport) throws -> Void
    ) async throws {
        let model = model
        let parent = place.request.parent.flatMap { parent in parent.relationship.map { ($0, parent.key) } }
        var origin = PageImport.Origin(bridge: place.bridge, page: 1)
        // The remote has answered, so the connection is already open.
        origin.redaction = try await connections.connection(for: place.bridge).redaction
        origin.walk = WalkTarget(
            scope: WalkScope(entity: place.entity.name, parent: place.request.parent?.text ?? ""), entity: place.index,
            isListing: isListed, parent: parent)
        try await store.run { [origin] store in
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

    // MARK: rejected edits

    private func failed(_ entry: OutboxEntry, _ place: Place, _ failure: BridgeFailure) async throws -> PushAttempt {
        let words = OutboxFailure(failure)
        switch failure.code {
        case _ where failure.isRetryable, .unreachable, .authentication, .tls, .rateLimited:
            let edit = try await wait(entry, failure)
            let isBridge = [.unreachable, .authentication, .tls].contains(failure.code)
            return PushAttempt(edit, unusableBridge: isBridge ? place.bridge : nil)
        case .conflict where entry.operation == .create:
            return try await lookForTaken(entry, place, failure)
        case .conflict:
            _ = try await settle(entry, .conflict(words))
            return try await meet(entry, place, words)
        case .notFound where entry.operation == .update:
            _ = try await settle(entry, .conflict(words))
            return try await checkGone(entry, place, failure)
        case .notFound where entry.operation == .delete:
            return try await acknowledge(entry, place, nil)
        case .timeout, .crashed, .cancelled, .malformed, .internal:
            // Marked first: after a crash here, the edit must not be sent again.
            _ = try await settle(entry, .unknown(sent: entry.notBefore, words))
            var unknown = entry
            unknown.failure = words
            return try await look(for: unknown, place, isLate: options.grace == .zero)
        case .configuration, .permission, .notFound, .remote, .unsupported, .limit:
            return PushAttempt(try await settle(entry, .refused(words)))
        }
    }

    /// Imports the remote's differing object, which merges it with the edit.
    private func meet(_ entry: OutboxEntry, _ place: Place, _ failure: OutboxFailure) async throws -> PushAttempt {
        // A conflict can be decided only if the object can be read.
        var unread = failure
        unread.remedy =
            "the remote has another version, which could not be read (\"read_one\"); `bmo outbox retry \(entry.id)` sends "
            + "it again"
        let edit = try await settle(entry, .conflict(unread))
        do {
            switch try await reader(place).object(key: entry.key) {
            case .gone where entry.operation == .delete: return try await acknowledge(entry, place, nil)
            case .gone: return try await noteGone(entry, place, failure)
            case .cannotTell: return PushAttempt(edit)
            case .object(let record):
                let found = mapped(record, of: place)
                try await importing(place, isListed: false) { page in try page.add(found, location: nil) }
                let unseen = entry.operation == .update ? unseen(record, entry, place) : []
                if !unseen.isEmpty { return PushAttempt(try await stayUnseen(entry, unseen, failure)) }
            }
        } catch let error where Self.cannotAsk(error) {
            unread.remedy =
                "the remote has another version, and reading it failed: \(error); `bmo outbox retry \(entry.id)` sends it again"
            return PushAttempt(try await settle(entry, .conflict(unread)))
        }
        if let settled = try await settled(entry) { return PushAttempt(settled) }
        guard try await store.run({ try $0.conflicts(entity: entry.entity, key: entry.key) }).isEmpty else {
            return PushAttempt(try await settle(entry, .conflict(failure)))
        }
        // Changes on one side only are not a conflict: the edit is now based on the remote's version.
        try await store.run { try $0.settle(entry.id, .waits(until: nil, failure)) }
        return PushAttempt(edit, isDueAgain: true)
    }

    /// Keeps a conflict for an object that was read without the values that the edit sets: whether the remote changed
    /// them is unknown.
    private func stayUnseen(
        _ entry: OutboxEntry, _ names: [String], _ failure: OutboxFailure
    ) async throws -> PushReport.Edit {
        var words = failure
        words.message += "; the object as it is read has no \(names.joined(separator: ", "))"
        words.remedy =
            "let \"read_one\" bring it (its records, or a preset), to see what the remote has; "
            + "`bmo outbox retry \(entry.id)` sends yours all the same"
        return try await settle(entry, .conflict(words))
    }

    /// Returns whether an error means that the remote could not be queried for an object.
    static func cannotAsk(_ error: any Error) -> Bool {
        error is BridgeFailure || error is SecretError || error is OutgoingPlan.Refusal
    }

    /// Handles an update that the remote rejects as not found: the object counts as gone once it cannot be read either.
    private func checkGone(_ entry: OutboxEntry, _ place: Place, _ failure: BridgeFailure) async throws -> PushAttempt {
        var words = OutboxFailure(failure)
        do {
            guard case .object = try await reader(place).object(key: entry.key) else {
                return try await noteGone(entry, place, words)
            }
        } catch let error where Self.cannotAsk(error) {
            return PushAttempt(try await wait(entry, failure))
        }
        // A part of the remote may lag behind; a repeated rejection means that updates have another path.
        guard entry.attempts >= 3 else { return PushAttempt(try await wait(entry, failure)) }
        words.message += "; yet the object can be read"
        words.remedy = "look at the path of the update; `bmo outbox retry \(entry.id)` sends it again"
        return PushAttempt(try await settle(entry, .refused(words)))
    }

    /// Imports the deletion of an object that the remote no longer has.
    func noteGone(_ entry: OutboxEntry, _ place: Place, _ failure: OutboxFailure) async throws -> PushAttempt {
        let plan = OutgoingPlan(of: place.index, in: model)
        let layout = model.entities[place.index]
        let key = Dictionary(
            zip(layout.key.map { layout.fields[$0].name }, entry.key).map { ($0, $1) },
            uniquingKeysWith: { first, _ in first })
        let writer = RecordBatchWriter()
        try plan.object(key).write(to: writer)
        let gone = mapped(try writer.finish(), of: place)
        try await importing(place, isListed: true) { page in try page.delete(gone, location: nil) }
        return PushAttempt(try await settled(entry) ?? PushReport.Edit(entry, .conflict(failure)))
    }

    /// Returns the outcome of an edit that the import of the remote's object removed from the outbox: sent where the
    /// object has its values, else dropped.
    private func settled(_ entry: OutboxEntry) async throws -> PushReport.Edit? {
        let (isThere, wasDropped) = try await store.run { store in
            (try store.outboxEntry(entry.id) != nil, try store.wasDropped(entry.id))
        }
        guard !isThere else { return nil }
        guard wasDropped else { return PushReport.Edit(entry, .sent(key: nil)) }
        let failure = OutboxFailure(
            code: "conflict",
            message: "the remote's object was changed too, and by `conflicts` of \(entry.entity) that counts",
            remedy: "`bmo diff` shows what was given up")
        return PushReport.Edit(entry, .dropped(failure))
    }

    // MARK: kept edits

    func stayUnknown(_ entry: OutboxEntry, _ failure: OutboxFailureError) async throws -> PushReport.Edit {
        var words = failure.failure
        if let cause = entry.cause {
            // The original failure, followed by the result of the last lookup.
            let look = words.message == cause.message ? "" : OutboxEntry.look + words.message
            words = OutboxFailure(
                code: cause.code, message: cause.message + look, remedy: words.remedy, remote: cause.remote)
        }
        return try await settle(entry, .unknown(sent: entry.notBefore, words))
    }

    func wait(_ entry: OutboxEntry, _ failure: BridgeFailure) async throws -> PushReport.Edit {
        let pause = Backoff.pause(afterFailures: entry.attempts, atLeast: failure.retryAfter)
        return try await settle(entry, .waits(until: Clock.text(after: pause), OutboxFailure(failure)))
    }

    /// Records the outcome of an edit that stays in the outbox.
    func settle(_ entry: OutboxEntry, _ outcome: EditOutcome) async throws -> PushReport.Edit {
        try await store.run { try $0.settle(entry.id, outcome) }
        return PushReport.Edit(entry, outcome)
    }
}

extension OutboxEntry {
    /// The separator between the cause and the result of the last lookup.
    fileprivate static let look = "; bmo looked: "

    /// The reason why the edit was not sent or accepted, without the results of later lookups.
    var cause: OutboxFailure? {
        guard var cause = failure else { return nil }
        if let look = cause.message.firstRange(of: Self.look) {
            cause.message = String(cause.message[..<look.lowerBound])
        }
        return cause
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

extension OutboxEntry {
    /// Returns whether the remote would receive the same request as for another state of the entry.
    fileprivate func sendsTheSame(as other: OutboxEntry) -> Bool {
        operation == other.operation && key == other.key && changes == other.changes && links == other.links
            && idempotencyKey == other.idempotencyKey && entity == other.entity
            && hasTemporaryKey == other.hasTemporaryKey
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
            remote: failure.remote)
    }
}
