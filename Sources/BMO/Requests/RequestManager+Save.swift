internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

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
    /// The user info that the edits were saved with.
    public let userInfo: UserInfo?
    private let reader: ObjectReader
    private let task: Task<[Int64: EditOutcome], any Error>?

    init(
        _ saved: [Saved], _ userInfo: UserInfo?, _ reader: ObjectReader,
        _ task: Task<[Int64: EditOutcome], any Error>?
    ) {
        self.saved = saved
        self.userInfo = userInfo
        self.reader = reader
        self.task = task
    }

    /// The outcome of each entry; empty where nothing is sent because the entries wait in the outbox.
    ///
    /// The entries are sent even if this property is never read.
    ///
    /// - Throws: The reason why the pusher could not start: another process was sending for too long. The entries wait.
    ///   Under ``SaveWorkflow/acceptedOnly``, only an error that names entries which could not be rolled back.
    public var remote: [Int64: EditOutcome] {
        get async throws { try await task?.value ?? [:] }
    }

    /// ``saved`` after the push: objects whose keys the remote replaced have their new identities.
    ///
    /// That another push replaced a key, such as one of another process, is known as far as the history is kept.
    ///
    /// - Throws: As ``remote``.
    public var current: [Saved] {
        get async throws {
            var outcomes = try await remote
            // They may have been sent later.
            let others = saved.compactMap(\.entry).filter { outcomes[$0]?.kind != .sent }
            if !others.isEmpty {
                let later = try? await reader.run { [reader] in
                    try reader.store.outcomes(of: others)
                }
                outcomes.merge(later ?? [:]) { $1 }
            }
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
    ///   - userInfo: What the bridge and the result get with the edits. It is stored with each edit, as JSON, until the
    ///     remote has the edit.
    ///   - pusher: The pusher that sends them; nil for the manager's own.
    /// - Throws: ``RequestError``: a change that does not fit the model or cannot be sent by its bridge, or, with
    ///   ``SaveWorkflow/afterRemote``, one that the remote does not have; the code `closed` after ``close()``, which waits
    ///   for saves that have begun.
    public func save(
        _ edits: [ObjectEdit], workflow: SaveWorkflow = .localFirst, userInfo: UserInfo? = nil,
        pusher: (any Pusher)? = nil
    ) async throws -> ObjectSave {
        try tasks.enter(edits.first?.entity ?? "")
        defer { tasks.leave() }
        do {
            return try await saving(edits, workflow, userInfo, pusher)
        } catch let error as RequestError {
            throw error.adding(userInfo)
        }
    }

    private func saving(
        _ edits: [ObjectEdit], _ workflow: SaveWorkflow, _ userInfo: UserInfo?, _ pusher: (any Pusher)?
    ) async throws -> ObjectSave {
        let entity = edits.first?.entity ?? ""
        let own: any Pusher = workflow == .acceptedOnly ? ImmediatePusher(pusher: self.pusher) : self.pusher
        let sender = workflow == .localOnly ? nil : pusher ?? (options.sendsEdits ? own : nil)
        if workflow == .afterRemote, sender == nil {
            throw RequestError(
                .requested, entity: entity, code: "request",
                "a save after the remote has to be sent, but the manager's option sendsEdits is off",
                remedy: "give a pusher, or save local first")
        }
        let save = try await edit(edits, entity, workflow, userInfo)
        let saved = try save.receipts.map { receipt in
            let schema = try reader.schema(of: receipt.entity)
            return ObjectSave.Saved(id: schema.id(of: receipt.key, in: schema.layout), entry: receipt.entry)
        }
        guard let sender, !save.entries.isEmpty else { return ObjectSave(saved, userInfo, reader, nil) }
        let task = tasks.begin { [editing, reader] () async throws -> [Int64: EditOutcome] in
            let result = try await save.send(by: sender, in: reader.store, on: editing)
            // A rejected edit's outcome says itself that the edit stays.
            let hasWaiting = result.outcomes.values.contains { $0.kind == .waits }
            if workflow == .acceptedOnly, hasWaiting, let fault = result.fault { throw fault }
            return result.outcomes
        }
        guard workflow == .afterRemote else { return ObjectSave(saved, userInfo, reader, task) }
        let outcomes = try await atStep(.contacting, entity) { try await task.value }
        let failed =
            save.entries.first { outcomes[$0]?.isRejected == true }
            ?? save.entries.first { outcomes[$0]?.reason != nil }
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
        return ObjectSave(saved, userInfo, reader, task)
    }

    /// Sends waiting edits, including those made by `bmo` or other programs.
    ///
    /// Waits for the pushes of earlier saves. When the task is cancelled, edits that are being sent are waited for, and
    /// nothing more is sent.
    ///
    /// - Parameter options: The edits to send; nil for all.
    /// - Throws: `StoreError`: `busy` when another process sends for longer than the manager's time limit, others when
    ///   the outbox cannot be read or written; `CancellationError` when ``close()`` comes first; ``RequestError`` of the
    ///   code `closed` after it.
    public func push(_ options: Workspace.PushOptions? = nil) async throws -> PushReport {
        try tasks.enter("")
        defer { tasks.leave() }
        return try await pusher.push((options ?? Workspace.PushOptions()).waiting(self.options.lockTimeout))
    }

    // MARK: local

    /// Applies the edits and writes their outbox entries.
    private func edit(
        _ edits: [ObjectEdit], _ entity: String, _ workflow: SaveWorkflow, _ userInfo: UserInfo?
    ) async throws -> EditSave {
        try await atStep(.importing, entity) {
            let planned = try await reader.run { [reader] in
                var builder = EditBuilder(reader)
                for edit in edits { try builder.add(edit) }
                return builder.edits
            }
            let told = try tell(userInfo, planned)
            // An open import page may block this, so it does not run on the readers' thread.
            return try await editing.run { [reader, workspace] in
                try EditSave(told, workflow, of: workspace, in: reader.store)
            }
        }
    }

    /// Returns the edits with the user info for those bridges that take it.
    private func tell(_ userInfo: UserInfo?, _ edits: [PlannedEdit]) throws -> [PlannedEdit] {
        guard let userInfo, userInfo.delivery != .never else { return edits }
        return try edits.map { planned in
            guard let entity = workspace.model.model.entity(named: planned.edit.entity) else { return planned }
            let bridge = workspace.model.model.scanned(entity).bridge
            guard workspace.can("user_info", bridge) else {
                guard userInfo.delivery == .required else { return planned }
                throw RequestError(
                    .translating, entity: entity.name, code: "unsupported",
                    "the bridge \(bridge) takes no user info, and the save requires it to",
                    remedy: "give the user info without \"delivery: .required\": then your program alone has it; or "
                        + "use a bridge with the capability user_info")
            }
            var told = planned
            told.edit.userInfo = userInfo.json
            return told
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
        case .dropped: OutboxFailure(code: "dropped", message: "the edit was rolled back here before it was sent")
        }
    }

    /// The next push's action for it.
    fileprivate var nextStep: String { if case .unknown = self { "checks whether it arrived" } else { "sends it" } }
}
