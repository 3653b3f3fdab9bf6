internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import Synchronization

/// The local result of a save, and its outcome on the remote.
public struct ObjectSave: Sendable {
    /// A saved object.
    public struct Saved: Sendable, Equatable {
        /// The object, possibly with a temporary key if it is new.
        public var id: ObjectID
        /// The number of its outbox entry; nil where nothing is sent.
        public var entry: Int64?
    }

    /// The objects, in the order of the edits, including objects nested in others.
    public let saved: [Saved]
    private let reader: ObjectReader
    private let task: Task<[Int64: EditOutcome], any Error>?

    init(_ saved: [Saved], _ reader: ObjectReader, _ task: Task<[Int64: EditOutcome], any Error>?) {
        self.saved = saved
        self.reader = reader
        self.task = task
    }

    /// The outcome of each entry; empty where nothing is sent because the entries wait in the outbox.
    ///
    /// The entries are sent even if this property is never read.
    ///
    /// - Throws: The reason why the pusher could not start: another process was sending for too long. The entries wait.
    public var remote: [Int64: EditOutcome] {
        get async throws { try await task?.value ?? [:] }
    }

    /// ``saved`` after the push: objects whose keys the remote replaced have their new identities.
    ///
    /// - Throws: As ``remote``.
    public var current: [Saved] {
        get async throws {
            let outcomes = try await remote
            return saved.map { object in
                guard let entry = object.entry, case .sent(let key?) = outcomes[entry],
                    let schema = try? reader.schema(of: object.id.entity)
                else { return object }
                return Saved(id: schema.id(of: key, in: schema.layout), entry: entry)
            }
        }
    }
}

extension RequestManager {
    /// Saves changes locally and sends them.
    ///
    /// All changes are one transaction: the rows, and the outbox entries, which survive the program. They are sent in
    /// the order of their dependencies; entries that cannot be sent now wait for ``push(_:)`` or `bmo push`.
    ///
    /// - Parameters:
    ///   - edits: The changes, in their order.
    ///   - workflow: When they take effect, and how a rejection is handled.
    ///   - pusher: The pusher that sends them; nil for the manager's own.
    /// - Throws: ``RequestError``: a change that does not fit the model or cannot be sent by its bridge, or, with
    ///   ``SaveWorkflow/afterRemote``, one that the remote does not have.
    public func save(
        _ edits: [ObjectEdit], workflow: SaveWorkflow = .localFirst, pusher: (any Pusher)? = nil
    ) async throws -> ObjectSave {
        let entity = edits.first?.entity ?? ""
        let sender = workflow == .localOnly ? nil : pusher ?? (options.sendsEdits ? self.pusher : nil)
        if workflow == .afterRemote, sender == nil {
            throw RequestError(
                .requested, entity: entity, code: "request",
                "a save after the remote has to be sent, and the manager's option sendsEdits is off",
                remedy: "give a pusher, or save local first")
        }
        let (saved, entries) = try await edit(edits, entity, joining: [.localFirst, .localOnly].contains(workflow))
        guard let sender, !entries.isEmpty else { return ObjectSave(saved, reader, nil) }
        let task = tasks.begin { [editing, reader] in
            var outcomes = try await sender.push(entries)
            guard workflow != .localFirst, outcomes.values.contains(where: \.isRejected) else { return outcomes }
            let sent = outcomes
            for (entry, outcome) in try await editing.run({ Self.rollBack(entries, sent, in: reader.store) }) {
                outcomes[entry] = outcome
            }
            return outcomes
        }
        guard workflow == .afterRemote else { return ObjectSave(saved, reader, task) }
        let outcomes = try await atStep(.contacting, entity) { try await task.value }
        let failed = entries.first { outcomes[$0]?.isRejected == true } ?? entries.first { outcomes[$0]?.reason != nil }
        if let failed, let outcome = outcomes[failed], let failure = outcome.reason {
            let name = saved.first { $0.entry == failed }?.id.entity ?? entity
            var error = RequestError(
                .contacting, entity: name, code: failure.code, failure.message, remedy: failure.remedy)
            error.remote = failure.remote
            if !outcome.isRejected {
                error.isRetryable = true
                error.remedy =
                    "\(failure.remedy.map { "\($0); " } ?? "")the edit stays in the outbox, and `push()` \(outcome.nextStep)"
            }
            throw error
        }
        return ObjectSave(saved, reader, task)
    }

    /// Sends waiting edits, including those made by `bmo` or other programs.
    ///
    /// Waits for the pushes of earlier saves. When the task is cancelled, edits that are being sent are waited for, and
    /// nothing more is sent.
    ///
    /// - Parameter options: The edits to send; nil for all.
    /// - Throws: `StoreError`: `busy` when another process sends for longer than the manager's time limit, others when
    ///   the outbox cannot be read or written; `CancellationError` after ``close()``.
    public func push(_ options: Workspace.PushOptions? = nil) async throws -> PushReport {
        try await pusher.push(options ?? Workspace.PushOptions(lockTimeout: self.options.lockTimeout))
    }

    // MARK: local

    /// Applied edits, and their outbox entries.
    private struct Made: Sendable {
        let receipts: [EditReceipt]
        let entries: [Int64]
    }

    /// Applies the edits and writes their outbox entries.
    private func edit(
        _ edits: [ObjectEdit], _ entity: String, joining: Bool
    ) async throws -> (saved: [ObjectSave.Saved], entries: [Int64]) {
        let made: Made = try await atStep(.importing, entity) {
            let planned = try await reader.run { [reader] in
                var builder = EditBuilder(reader)
                for edit in edits { try builder.add(edit) }
                return builder.edits
            }
            guard !planned.isEmpty else { return Made(receipts: [], entries: []) }
            // An open import page may block this, so it does not run on the readers' thread.
            return try await editing.run { [reader, workspace] in
                try workspace.check(planned.map(\.edit), in: reader.store)
                let receipts = try reader.store.edit(
                    inTurn: planned.map { edit in { edit.made(after: $0) } }, joining: joining)
                return Made(receipts: receipts, entries: try Self.entries(of: receipts, in: reader.store))
            }
        }
        let saved = try made.receipts.map { receipt in
            let schema = try reader.schema(of: receipt.entity)
            return ObjectSave.Saved(id: schema.id(of: receipt.key, in: schema.layout), entry: receipt.entry)
        }
        return (saved, made.entries)
    }

    /// Returns the entries of edits, with updates that were deferred until objects that refer to each other are
    /// created.
    private static func entries(of receipts: [EditReceipt], in store: any Store) throws -> [Int64] {
        var entries = Set(receipts.compactMap(\.entry))
        for receipt in receipts.count > 1 ? receipts : [] {
            guard let entry = receipt.entry else { continue }
            let later = try store.outbox(entity: receipt.entity).filter { $0.key == receipt.key && $0.id > entry }
            entries.formUnion(later.map(\.id))
        }
        return entries.sorted()
    }

    /// Rolls back edits that the remote rejected, with the edits of the same save that depend on them.
    ///
    /// - Returns: The outcomes that this changed.
    private static func rollBack(
        _ entries: [Int64], _ outcomes: [Int64: EditOutcome], in store: any Store
    ) -> [Int64: EditOutcome] {
        var changed: [Int64: EditOutcome] = [:]
        var lost: [OutboxEntry] = []
        do {
            for entry in try entries.compactMap({ try store.outboxEntry($0) }) {
                let isRefused = entry.state == .refused || entry.state == .conflict
                if outcomes[entry.id]?.isRejected == true, isRefused {
                    lost.append(entry)
                } else if entry.state == .pending,
                    let cause = lost.first(where: {
                        entry.dependsOn.contains($0.id) || entry.entity == $0.entity && entry.key == $0.key
                    })
                {
                    lost.append(entry)
                    changed[entry.id] = .refused(
                        OutboxFailure(
                            code: "depends", message: "it builds upon edit \(cause.id), which the remote did not take"))
                }
            }
            if !lost.isEmpty { try store.dropOutbox(lost.map(\.id)) }
            return changed
        } catch {
            // The remote's message matters more: the edits stay, with a note on the failed rollback.
            let words = "it stays in the outbox, for it could not be rolled back: \(error)"
            return outcomes.compactMapValues { $0.isRejected ? $0.adding(remedy: words) : nil }
        }
    }
}

extension EditOutcome {
    /// The reason why the remote does not have the edit, for an error.
    fileprivate var reason: OutboxFailure? {
        switch self {
        case .sent, .refused, .unknown: failure
        case .waits: failure ?? OutboxFailure(code: "unreachable", message: "the edit was not sent yet")
        case .conflict: failure ?? OutboxFailure(code: "conflict", message: "the remote's object was changed, too")
        case .dropped: OutboxFailure(code: "dropped", message: "the edit was taken back here before it was sent")
        }
    }

    /// The next push's action for it.
    fileprivate var nextStep: String { if case .unknown = self { "looks whether it arrived" } else { "sends it" } }

    fileprivate func adding(remedy: String) -> EditOutcome {
        func more(_ failure: OutboxFailure?) -> OutboxFailure? {
            guard var failure else { return nil }
            failure.remedy = failure.remedy.map { "\($0); \(remedy)" } ?? remedy
            return failure
        }
        return switch self {
        case .sent, .waits, .unknown, .dropped: self
        case .refused(let failure): .refused(more(failure) ?? failure)
        case .conflict(let failure): .conflict(more(failure))
        }
    }
}
