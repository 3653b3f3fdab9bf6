internal import Importer
internal import Mapping
internal import Model
internal import SQLiteStore
internal import Synchronization

/// What a save did here, and what becomes of it on the remote.
public struct ObjectSave: Sendable {
    /// An object that was saved.
    public struct Saved: Sendable, Equatable {
        /// The object; a new one perhaps with a temporary key.
        public var id: ObjectID
        /// The number of its entry in the outbox; nil where there is nothing to send.
        public var entry: Int64?
    }

    /// The objects, in the order of the edits; those that were saved because they were inside others among them.
    public let saved: [Saved]
    private let task: Task<[Int64: PushOutcome], any Error>?

    init(_ saved: [Saved], _ task: Task<[Int64: PushOutcome], any Error>?) {
        self.saved = saved
        self.task = task
    }

    /// What became of each entry; empty without a pusher: the entries wait in the outbox.
    ///
    /// - Throws: What kept the pusher from beginning.
    public var remote: [Int64: PushOutcome] {
        get async throws { try await task?.value ?? [:] }
    }
}

extension RequestManager {
    /// Saves changes here and has them sent.
    ///
    /// All of them are one transaction: the rows, and the entries of the outbox that survive the program. Without a
    /// ``Pusher`` they wait there for `bmo push`.
    ///
    /// - Parameters:
    ///   - edits: The changes, in their order.
    ///   - workflow: When they count, and what a refusal does.
    ///   - pusher: Sends them.
    /// - Throws: ``RequestError``: a change that does not fit the model, or, with ``SaveWorkflow/afterRemote``, one that the
    ///   remote refused.
    public func save(
        _ edits: [ObjectEdit], workflow: SaveWorkflow = .localFirst, pusher: (any Pusher)? = nil
    ) async throws -> ObjectSave {
        let entity = edits.first?.entity ?? ""
        if workflow == .afterRemote, pusher == nil {
            throw RequestError(
                .requested, entity: entity, code: "request", "a save after the remote needs a pusher to reach it",
                remedy: "give one, or save local first")
        }
        let receipts = try await atStep(.importing, entity) {
            let edits = try await reader.run { [reader] in
                var builder = EditBuilder(reader)
                for edit in edits { try builder.add(edit) }
                return builder.edits
            }
            // A page that is being imported may make it wait: not on the thread of those who read.
            return try await editing.run { [reader] in
                edits.isEmpty ? [] : try reader.store.edit(edits, joining: workflow == .localFirst)
            }
        }
        let saved = try receipts.map { receipt in
            let schema = try reader.schema(of: receipt.entity)
            return ObjectSave.Saved(id: schema.id(of: receipt.key, in: schema.layout), entry: receipt.entry)
        }
        let entries = saved.compactMap(\.entry)
        guard let pusher, !entries.isEmpty else { return ObjectSave(saved, nil) }
        let task = Task { [reader, editing] in
            let outcomes = try await pusher.push(entries)
            if workflow != .localFirst {
                let lost = entries.filter { outcomes[$0]?.isLost == true }
                if !lost.isEmpty { try await editing.run { try reader.store.dropOutbox(lost) } }
            }
            return outcomes
        }
        guard workflow == .afterRemote else { return ObjectSave(saved, task) }
        let outcomes = try await atStep(.contacting, entity) { try await task.value }
        for entry in entries {
            guard let failure = outcomes[entry]?.failure else { continue }
            var error = RequestError(
                .contacting, entity: entity, code: failure.code, failure.message, remedy: failure.remedy)
            error.remote = failure.remote
            throw error
        }
        return ObjectSave(saved, task)
    }
}

extension PushOutcome {
    /// Whether the remote will not have it.
    var isLost: Bool {
        switch self {
        case .refused, .conflict: true
        case .done, .waiting: false
        }
    }

    /// Why it is not on the remote, as far as that is known.
    var failure: OutboxFailure? {
        switch self {
        case .done: nil
        case .refused(let failure), .conflict(let failure): failure
        case .waiting(let failure):
            failure
                ?? OutboxFailure(code: "unreachable", message: "the edit was not sent yet; it waits in the outbox")
        }
    }
}
