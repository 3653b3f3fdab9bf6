internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Edits in an unknown state: the remote is searched for them before anything is sent again.
extension PushSender {
    func look(for entry: OutboxEntry, _ place: Place, isLate: Bool) async throws -> PushAttempt {
        do {
            switch entry.operation {
            case .create: return try await lookForCreated(entry, place, isLate)
            case .update, .delete:
                switch try await reader(place).object(key: entry.key) {
                case .cannotTell(let why): return PushAttempt(try await stayUnknown(entry, OutboxFailureError(why)))
                case .gone where entry.operation == .delete: return try await acknowledge(entry, place, nil)
                case .gone:
                    let failure = OutboxFailure(code: "not_found", message: "the remote has it no more")
                    _ = try await settle(entry, .conflict(failure))
                    return try await noteGone(entry, place, failure)
                case .object(let record):
                    if entry.operation == .update, has(record, entry, place) {
                        return try await acknowledge(entry, place, record)
                    }
                    return try await sendAgain(entry, place, isLate)
                }
            }
        } catch let failure as BridgeFailure {
            let edit = try await stayUnknown(entry, OutboxFailureError(failure.code.rawValue, "\(failure)", nil))
            return PushAttempt(edit, unusableBridge: failure.isRetryable ? place.bridge : nil)
        } catch let error as SecretError {
            let words = OutboxFailureError("configuration", error.message, error.remedy)
            return PushAttempt(try await stayUnknown(entry, words), unusableBridge: place.bridge)
        } catch let refusal as OutgoingPlan.Refusal {
            return PushAttempt(try await stayUnknown(entry, OutboxFailureError("mapping", refusal.description, nil)))
        } catch let error as StoreError where error.code == .request {
            // The remote's data does not fit the database; other edits can still be sent.
            return PushAttempt(try await stayUnknown(entry, OutboxFailureError("mapping", error.message, error.remedy)))
        }
    }

    private func lookForCreated(_ entry: OutboxEntry, _ place: Place, _ isLate: Bool) async throws -> PushAttempt {
        // A remote that honours idempotency keys recognizes the request by its key.
        if place.entity.honoursIdempotencyKeys, entry.cause?.code != OutboxFailure.accepted {
            return try await sendAgain(entry, place, true)
        }
        if !entry.hasTemporaryKey {
            switch try await reader(place).object(key: entry.key) {
            case .object(let record): return try await acknowledge(entry, place, record)
            case .gone: return try await sendAgain(entry, place, isLate)
            case .cannotTell(let why): return PushAttempt(try await stayUnknown(entry, OutboxFailureError(why)))
            }
        }
        let wanted = matched(entry, place)
        let words = wanted.keys.sorted().joined(separator: ", ")
        guard wanted.contains(where: { $0.value != .null }) else {
            let why =
                wanted.isEmpty
                ? "the entity has no \"match\" by which to find it" : "it has no value of \(words)"
            return PushAttempt(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        entry.failure?.code ?? "timeout", why, Self.decide(entry))))
        }
        let candidates = try await candidates(entry, place, wanted)
        guard candidates.found.count < 2 else {
            return PushAttempt(
                try await stayUnknown(
                    entry, OutboxFailureError("the remote has several objects with its \(words): which is it?")))
        }
        guard candidates.isSure else {
            return PushAttempt(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        "the listing was looked through as far as \(PushReader.mostRecords) records, or is not complete"
                    )))
        }
        if let record = candidates.found.first { return try await acknowledge(entry, place, record) }
        if let other = candidates.other {
            let name = ([entry.entity] + other.key.map(\.description)).joined(separator: " ")
            return PushAttempt(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        "unknown", "the remote has \(name) with its \(words), which is another object: \(other.why)",
                        Self.decide(entry))))
        }
        return try await sendAgain(entry, place, isLate)
    }

    private static func decide(_ entry: OutboxEntry) -> String {
        "look at the remote; then `bmo outbox retry --unknown \(entry.id)` sends it again, and "
            + "`bmo outbox drop \(entry.id)` takes it back here"
    }

    /// Returns whether the reply to a create shows the new object under another key: all the values it shows are the
    /// sent ones.
    func isCreated(_ record: RecordBatch?, _ entry: OutboxEntry, _ place: Place) -> Bool {
        guard let record else { return false }
        let keys = model.entities[place.index].key
        let shown = comparison(record, entry, place).filter { !keys.contains($0.field) && $0.isSame != nil }
        return !shown.isEmpty && shown.allSatisfy { $0.isSame == true }
    }

    /// Returns the columns that an update sets, where a record shows only the object's key and version.
    ///
    /// Such a record has another shape than the listing's records.
    func unseen(_ record: RecordBatch, _ entry: OutboxEntry, _ place: Place) -> [String] {
        let page = Mapper(model).map(record, as: place.index, parent: place.request.parent?.key)
        return withExtendedLifetime((page, record)) {
            guard let row = page.rows.first else { return [] }
            let layout = model.entities[place.index]
            let lineage = model.model.lineage(of: model.model.entities[place.index])
            let given = Set(
                lineage.flatMap(\.attributes).filter { $0.write.permission == .never }.map(\.name)
                    + layout.key.map { layout.fields[$0].name })
            let isShown = layout.fields.indices.contains { field in
                !given.contains(layout.fields[field].name) && field != layout.discriminator
                    && page.cells[row.firstCell + field].value != nil
            }
            return isShown ? [] : entry.changes.filter { $0.new != nil }.map(\.name)
        }
    }

    /// Compares an edit's values with a record's; nil where the record does not show the value.
    private func comparison(
        _ record: RecordBatch, _ entry: OutboxEntry, _ place: Place
    ) -> [(field: Int, isSame: Bool?)] {
        let page = Mapper(model).map(record, as: place.index, parent: place.request.parent?.key)
        return withExtendedLifetime((page, record)) {
            guard let row = page.rows.first else { return [] }
            let layout = model.entities[place.index]
            return entry.changes.compactMap { change in
                guard let new = change.new, let field = layout.fields.firstIndex(where: { $0.name == change.name })
                else {
                    return nil
                }
                let cell = page.cells[row.firstCell + field].value
                return (field, cell.map { $0.isSame(as: new, layout.fields[field].type) })
            }
        }
    }

    /// Returns whether the remote's object has the edit's values.
    private func has(_ record: RecordBatch, _ entry: OutboxEntry, _ place: Place) -> Bool {
        let page = Mapper(model).map(record, as: place.index, parent: place.request.parent?.key)
        return withExtendedLifetime((page, record)) {
            guard page.rejections.isEmpty, let row = page.rows.first else { return false }
            let layout = model.entities[place.index]
            let fits = entry.changes.allSatisfy { change in
                guard let field = layout.fields.firstIndex(where: { $0.name == change.name }) else { return true }
                let cell = page.cells[row.firstCell + field].value
                return change.new.map { cell?.isSame(as: $0, layout.fields[field].type) ?? false } ?? true
            }
            return fits
                && entry.links.allSatisfy { edit in
                    guard
                        let link = page.links.first(where: { link in
                            link.row == 0 && layout.toMany[link.relationship].name == edit.relationship
                        })
                    else { return false }
                    let width = model.entities[layout.toMany[link.relationship].target].key.count
                    let keys = (0..<link.count).map { index in
                        (0..<width).map { page.linkCells[link.firstCell + index * width + $0].value ?? .null }
                    }
                    return keys == edit.new
                }
        }
    }

    /// How long after sending a create may still arrive, whatever the user says: a server continues a request whose
    /// sender was killed.
    static let leastCreation: Duration = .seconds(5)

    /// Returns the wait before resending a create that the remote could not recognize as a repetition; nil for none.
    private func pauseBeforeSecondCreate(_ entry: OutboxEntry) -> Duration? {
        let now = Clock.now()
        guard entry.operation == .create, entry.hasTemporaryKey, let sent = entry.notBefore, sent <= now,
            Clock.text(sent, plus: Self.leastCreation) > now
        else { return nil }
        return Self.leastCreation
    }

    /// Resolves a create that the remote rejects because the object, or one with the same unique value, exists.
    ///
    /// The object is ours where an earlier request made it and its answer was lost: here, in a proxy, or in a server
    /// that repeats requests.
    func lookForTaken(_ entry: OutboxEntry, _ place: Place, _ failure: BridgeFailure) async throws -> PushAttempt {
        var words = OutboxFailure(failure)
        do {
            if let record = try await taken(entry, place, &words) { return try await acknowledge(entry, place, record) }
        } catch let error as BridgeFailure where error.isRetryable {
            return PushAttempt(try await wait(entry, failure))
        } catch let error where Self.cannotAsk(error) {
            words.message += "; looking whether it is this one failed: \(error)"
        }
        return PushAttempt(try await settle(entry, .refused(words)))
    }

    /// Returns the remote's object where it is the created one; else adds the findings to `words`.
    private func taken(
        _ entry: OutboxEntry, _ place: Place, _ words: inout OutboxFailure
    ) async throws -> RecordBatch? {
        guard entry.hasTemporaryKey else {
            guard case .object(let record) = try await reader(place).object(key: entry.key) else { return nil }
            let layout = model.entities[place.index]
            let other = comparison(record, entry, place).first { !layout.key.contains($0.field) && $0.isSame == false }
            // A generated UUID is unique.
            let isOurKey = layout.key.count == 1 && layout.fields[layout.key[0]].type == .uuid && entry.mayHaveArrived
            guard let other, !isOurKey else { return record }
            words.message += "; the remote's object has another \(layout.fields[other.field].name)"
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
    private func matched(_ entry: OutboxEntry, _ place: Place) -> [String: StoredValue] {
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
        _ entry: OutboxEntry, _ place: Place, _ wanted: [String: StoredValue]
    ) async throws -> PushReader.Candidates {
        let sent = Dictionary(entry.changes.map { ($0.name, $0.new ?? .null) }, uniquingKeysWith: { $1 })
        let root = model.entities[model.entities[place.index].root]
        let database = store.store
        return try await reader(place).objects(like: wanted, sent: sent) { key in
            (try? database.hasObject(root, key: key, before: entry.created)) ?? true
        }
    }

    /// Sends an edit again that the remote does not have.
    ///
    /// The remote may still be processing it, so an edit that is missing at first is looked up again later.
    private func sendAgain(_ entry: OutboxEntry, _ place: Place, _ isLate: Bool) async throws -> PushAttempt {
        let failure = entry.cause ?? OutboxFailure(code: "timeout", message: "no answer came")
        guard failure.code != OutboxFailure.accepted else {
            return PushAttempt(
                try await stayUnknown(
                    entry, OutboxFailureError(failure.code, "it was not found there", Self.decide(entry))))
        }
        if isLate, let pause = pauseBeforeSecondCreate(entry) {
            try? await Task.sleep(for: pause)
            if !Task.isCancelled { return try await look(for: entry, place, isLate: true) }
        }
        guard isLate, !Task.isCancelled else {
            let sent = entry.notBefore ?? Clock.now()
            let next = Clock.text(sent, plus: options.grace)
            let words = OutboxFailure(
                code: failure.code, message: "\(failure.message); the remote does not have it so far",
                remedy: "the next push after \(next) looks again, then sends it again", remote: failure.remote)
            var edit = try await settle(entry, .unknown(sent: sent, failure))
            edit.outcome = .unknown(sent: sent, words)
            edit.nextLook = next
            return PushAttempt(edit)
        }
        return PushAttempt(try await settle(entry, .waits(until: nil, failure)), isDueAgain: true)
    }
}
