internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// What became of an edit whose answer nobody has: it is looked for before anything is sent again.
extension PushSender {
    func look(for entry: OutboxEntry, _ place: Place, isLate: Bool) async throws -> Outcome {
        do {
            switch entry.operation {
            case .create: return try await lookForCreated(entry, place, isLate)
            case .update, .delete:
                switch try await reader(place).object(key: entry.key) {
                case .cannotTell(let why): return .over(try await stayUnknown(entry, OutboxFailureError(why)))
                case .gone where entry.operation == .delete: return try await acknowledge(entry, place, nil)
                case .gone:
                    let failure = OutboxFailure(code: "not_found", message: "the remote has it no more")
                    _ = try await settle(entry, .conflict(failure), .conflict, failure)
                    return try await noteGone(entry, place, failure)
                case .object(let record):
                    if entry.operation == .update, has(record, entry, place) {
                        return try await acknowledge(entry, place, record)
                    }
                    return try await sendAgain(entry, isLate)
                }
            }
        } catch let failure as BridgeFailure {
            let edit = try await stayUnknown(entry, OutboxFailureError(failure.code.rawValue, "\(failure)", nil))
            return failure.isRetryable ? .down(bridge: place.bridge, edit) : .over(edit)
        } catch let error as SecretError {
            let words = OutboxFailureError("configuration", error.message, error.remedy)
            return .down(bridge: place.bridge, try await stayUnknown(entry, words))
        } catch let refusal as OutgoingPlan.Refusal {
            return .over(try await stayUnknown(entry, OutboxFailureError("mapping", refusal.description, nil)))
        } catch let error as StoreError where error.code == .request {
            // What the remote has does not fit the database; the others can be sent all the same.
            return .over(try await stayUnknown(entry, OutboxFailureError("mapping", error.message, error.remedy)))
        }
    }

    private func lookForCreated(_ entry: OutboxEntry, _ place: Place, _ isLate: Bool) async throws -> Outcome {
        // A remote that keeps its promise tells by the key whether it has it.
        if place.entity.honoursIdempotencyKeys, entry.cause?.code != OutboxFailure.accepted {
            return try await sendAgain(entry, true)
        }
        if !entry.hasTemporaryKey {
            switch try await reader(place).object(key: entry.key) {
            case .object(let record): return try await acknowledge(entry, place, record)
            case .gone: return try await sendAgain(entry, isLate)
            case .cannotTell(let why): return .over(try await stayUnknown(entry, OutboxFailureError(why)))
            }
        }
        let names = model.model.lineage(of: model.model.entities[place.index]).last { !$0.match.isEmpty }?.match ?? []
        let values = entry.changes.filter { names.contains($0.name) && $0.new != nil && $0.new != .null }
        guard !values.isEmpty else {
            let why =
                names.isEmpty
                ? "the entity has no \"match\" by which to find it"
                : "it has no value of \(names.joined(separator: ", "))"
            return .over(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        entry.failure?.code ?? "timeout", why, Self.decide(entry))))
        }
        let sent = Dictionary(entry.changes.map { ($0.name, $0.new ?? .null) }, uniquingKeysWith: { $1 })
        let wanted = Dictionary(names.map { ($0, sent[$0] ?? .null) }, uniquingKeysWith: { $1 })
        let root = model.entities[model.entities[place.index].root]
        let database = store.store
        let candidates = try await reader(place).objects(like: wanted, sent: sent) { key in
            (try? database.hasObject(root, key: key, before: entry.created)) ?? true
        }
        let words = wanted.keys.sorted().joined(separator: ", ")
        guard candidates.found.count < 2 else {
            return .over(
                try await stayUnknown(
                    entry, OutboxFailureError("the remote has several objects with its \(words): which is it?")))
        }
        guard candidates.isSure else {
            return .over(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        "the listing was looked through as far as \(PushReader.mostRecords) records, or is not complete"
                    )))
        }
        if let record = candidates.found.first { return try await acknowledge(entry, place, record) }
        if let other = candidates.other {
            let name = ([entry.entity] + other.key.map(\.description)).joined(separator: " ")
            return .over(
                try await stayUnknown(
                    entry,
                    OutboxFailureError(
                        "unknown", "the remote has \(name) with its \(words), which is another object: \(other.why)",
                        Self.decide(entry))))
        }
        return try await sendAgain(entry, isLate)
    }

    private static func decide(_ entry: OutboxEntry) -> String {
        "look at the remote; then `bmo outbox retry --unknown \(entry.id)` sends it again, and "
            + "`bmo outbox drop \(entry.id)` takes it back here"
    }

    /// Whether the reply to a create shows the new object under another key: all that it shows is what was sent.
    func isCreated(_ record: RecordBatch?, _ entry: OutboxEntry, _ place: Place) -> Bool {
        guard let record else { return false }
        let keys = model.entities[place.index].key
        let shown = comparison(record, entry, place).filter { !keys.contains($0.field) && $0.isSame != nil }
        return !shown.isEmpty && shown.allSatisfy { $0.isSame == true }
    }

    /// The columns that an update sets, where a record shows nothing of the object but its key and its version: it has
    /// another shape than the listing's records.
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

    /// What an edit sets beside what a record has: nil where it does not show it.
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

    /// Whether the remote's object has what the edit wanted.
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

    /// The remote does not have it.
    ///
    /// It may still be at it: what is not there at once is looked for again.
    private func sendAgain(_ entry: OutboxEntry, _ isLate: Bool) async throws -> Outcome {
        let failure = entry.cause ?? OutboxFailure(code: "timeout", message: "no answer came")
        guard failure.code != OutboxFailure.accepted else {
            return .over(
                try await stayUnknown(
                    entry, OutboxFailureError(failure.code, "it was not found there", Self.decide(entry))))
        }
        guard isLate else {
            let next = entry.notBefore ?? Clock.text(after: options.grace)
            let words = OutboxFailure(
                code: failure.code, message: "\(failure.message); the remote does not have it so far",
                remedy: "the next push after \(next) looks again, then sends it again", remote: failure.remote)
            var edit = try await settle(entry, .unknown(at: next, failure), .unknown, words)
            edit.next = next
            return .over(edit)
        }
        try await store.run { try $0.settle(entry.id, .retry(at: nil, failure)) }
        return .again(PushReport.Edit(entry, .waits, failure))
    }
}
