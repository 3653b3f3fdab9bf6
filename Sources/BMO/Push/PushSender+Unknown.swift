internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Edits in an unknown state: the remote is searched for them before anything is sent again.
extension PushSender {
    /// Looks whether an edit arrived.
    ///
    /// - Parameter isLate: Whether the edit is sent again if it did not.
    func look(for entry: OutboxEntry, _ place: Destination, isLate: Bool) async throws -> PushAttempt {
        let decision = self.decision(entry)
        do {
            // A remote that honours idempotency keys recognizes the request by its key.
            let isCreate = entry.operation == .create
            if isCreate, place.entity.honoursIdempotencyKeys, entry.cause?.code != OutboxFailure.accepted {
                return try await perform(missing(entry, isLate: true), entry, place)
            }
            if isCreate, entry.hasTemporaryKey { return try await lookForCreated(entry, place, isLate) }
            let found = try await reader(place).object(key: entry.key)
            let step = decision.afterLook(found.remote(for: entry), missing: missing(entry, isLate: isLate))
            guard case .object(let object) = found else { return try await perform(step, entry, place) }
            if case .sendAgain(let failure, _) = step, entry.operation == .update {
                return try await sendAgain(entry, over: object, failure, place)
            }
            return try await perform(step, entry, place, object: object)
        } catch let failure as BridgeFailure {
            let words = OutboxFailure(code: failure.code.rawValue, message: "\(failure)")
            return try await perform(
                decision.stayUnknown(words, isBridgeUnusable: failure.isRetryable), entry, place)
        } catch let error as SecretError {
            let words = OutboxFailure(code: "configuration", message: error.message, remedy: error.remedy)
            return try await perform(decision.stayUnknown(words, isBridgeUnusable: true), entry, place)
        } catch let refusal as OutgoingPlan.Refusal {
            let words = OutboxFailure(code: "mapping", message: refusal.description)
            return try await perform(decision.stayUnknown(words), entry, place)
        } catch let error as StoreError where error.isOfOneEdit {
            // The remote's data does not fit the database; other edits can still be sent.
            let words = OutboxFailure(code: "mapping", message: error.message, remedy: error.remedy)
            return try await perform(decision.stayUnknown(words), entry, place)
        }
    }

    /// Sends an update again that the remote does not have, unless another's later change would be lost: the object is
    /// imported first, which merges it with the edit.
    private func sendAgain(
        _ entry: OutboxEntry, over object: RemoteObject, _ failure: OutboxFailure, _ place: Destination
    ) async throws -> PushAttempt {
        if let reason = object.rejection {
            // Whether the remote changed it is unknown.
            let words = OutboxFailure(code: "unknown", message: "the remote's object cannot be imported: \(reason)")
            return try await perform(decision(entry).stayUnknown(words), entry, place)
        }
        let unseen = object.unseen(of: entry)
        guard unseen.isEmpty else {
            let step = decision(entry).afterMerge(failure, unseen: unseen, gone: nil, hasConflicts: false)
            return try await perform(step, entry, place)
        }
        try await importing(place, isListed: false) { page in try page.add(object.mapped, location: nil) }
        let gone = try await outcomeOfGone(entry)
        let conflicts = try await store.run { try $0.conflicts(entity: entry.entity, key: entry.key) }
        let step = decision(entry).afterLook(failure, gone: gone, hasConflicts: !conflicts.isEmpty)
        return try await perform(step, entry, place)
    }

    /// Looks for a new object whose key is unknown.
    private func lookForCreated(_ entry: OutboxEntry, _ place: Destination, _ isLate: Bool) async throws -> PushAttempt
    {
        let decision = self.decision(entry)
        let wanted = matched(entry, place)
        if let step = decision.afterLook(wanted, nil, missing: missing(entry, isLate: isLate)) {
            return try await perform(step, entry, place)
        }
        let candidates = try await candidates(entry, place, wanted)
        guard let step = decision.afterLook(wanted, candidates, missing: missing(entry, isLate: isLate)) else {
            return PushAttempt(entry: entry.id)
        }
        return try await perform(step, entry, place, object: candidates.found.first)
    }

    /// Decides about an edit that the remote does not have.
    func missing(_ entry: OutboxEntry, isLate: Bool) -> PushStep {
        decision(entry).missing(isLate: isLate && !Task.isCancelled, now: Clock.now())
    }

    /// Resolves a create that the remote rejects because the object, or one with the same unique value, exists.
    ///
    /// The object is ours where an earlier request made it and its answer was lost: here, in a proxy, or in a server
    /// that repeats requests.
    func lookForTaken(
        _ entry: OutboxEntry, _ place: Destination, _ failure: OutboxFailure, _ nextTry: String
    ) async throws -> PushAttempt {
        var words = failure
        do {
            if let object = try await taken(entry, place, &words) {
                return try await perform(.acknowledge, entry, place, object: object)
            }
        } catch let error as BridgeFailure where error.isRetryable {
            return try await perform(
                .settle(.waits(until: nextTry, failure)), entry, place)
        } catch let error where Self.cannotAsk(error) {
            words.message += "; checking whether it is this one failed: \(error)"
        }
        return try await perform(.settle(.refused(words)), entry, place)
    }

    /// Returns the remote's object where it is the created one; else adds the findings to `words`.
    private func taken(
        _ entry: OutboxEntry, _ place: Destination, _ words: inout OutboxFailure
    ) async throws -> RemoteObject? {
        guard entry.hasTemporaryKey else {
            guard case .object(let object) = try await reader(place).object(key: entry.key) else { return nil }
            let layout = model.entities[place.index]
            // A generated UUID is unique.
            let isOurKey = layout.key.count == 1 && layout.fields[layout.key[0]].type == .uuid && entry.mayHaveArrived
            guard let other = object.otherValues(than: entry).first, !isOurKey else { return object }
            words.message += "; the remote's object has a different \(other)"
            return nil
        }
        // Where no request was lost, a matching object is a different one.
        guard entry.mayHaveArrived else { return nil }
        let wanted = matched(entry, place)
        guard wanted.contains(where: { $0.value != .null }) else { return nil }
        let candidates = try await candidates(entry, place, wanted)
        return candidates.isSure && candidates.found.count == 1 ? candidates.found.first : nil
    }

    /// Returns the values that identify the object: those of the attributes in `match`.
    private func matched(_ entry: OutboxEntry, _ place: Destination) -> [String: StoredValue] {
        let names = model.model.lineage(of: model.model.entities[place.index]).last { !$0.match.isEmpty }?.match ?? []
        let layout = model.entities[place.index]
        let columns = names.flatMap { name -> [String] in
            guard let toOne = layout.toOne.first(where: { $0.name == name }) else { return [name] }
            return layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
        }
        let sent = Dictionary(entry.changes.map { ($0.name, $0.new ?? .null) }, uniquingKeysWith: { $1 })
        return Dictionary(columns.map { ($0, sent[$0] ?? .null) }, uniquingKeysWith: { $1 })
    }

    private func candidates(
        _ entry: OutboxEntry, _ place: Destination, _ wanted: [String: StoredValue]
    ) async throws -> PushReader.Candidates {
        let root = model.entities[model.entities[place.index].root]
        return try await reader(place).objects(like: wanted, createdBy: entry) { key in
            (try? await store.run { try $0.hasObject(root, key: key, before: entry.created) }) ?? true
        }
    }
}

extension PushReader.Found {
    /// What the remote has of the object of an edit.
    func remote(for entry: OutboxEntry) -> PushDecision.Remote {
        switch self {
        case .object(let object): .object(hasEdit: object.has(entry))
        case .gone: .gone
        case .cannotTell(let why): .cannotTell(why)
        }
    }
}
