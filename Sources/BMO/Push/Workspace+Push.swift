// Push: what takes local edits to the remote. A pusher takes them one after the other from the outbox; a sender sends one
// and sees what became of it; a reader asks the remote for an object where nobody knows.

internal import Glibc
internal import Importer
internal import Mapping
internal import Model
public import SQLiteStore

extension Workspace {
    /// What a push should do.
    public struct PushOptions: Sendable {
        /// The entities whose edits are sent; nil is all.
        ///
        /// What these refer to and has to be created first goes along.
        public var entities: [String]?
        /// The outbox entries that are sent, with what has to be sent before them; nil is all.
        public var entries: Set<Int64>?
        /// How many objects are sent at a time.
        public var concurrency: Int
        /// How long to wait for another push of the same database to end.
        public var patience: FileLock.Patience
        /// How long after it was sent an edit is given up that is not on the remote: this may still be at it.
        public var grace: Duration

        /// The usual options.
        public init(
            entities: [String]? = nil, entries: Set<Int64>? = nil, concurrency: Int = 4,
            patience: FileLock.Patience = .none, grace: Duration = .seconds(30)
        ) {
            self.entities = entities
            self.entries = entries
            self.concurrency = concurrency
            self.patience = patience
            self.grace = grace
        }
    }

    /// Sends the edits that wait, and imports what the remote answers.
    ///
    /// An edit that fails is in the report, not thrown, and leaves those of other objects alone. When the task is
    /// cancelled, what is on its way is waited for, and nothing more is sent.
    ///
    /// - Parameters:
    ///   - store: The database; without the lock of its file, so that a sync may go on beside it.
    ///   - options: What to send.
    ///   - report: Called when an edit is over, from any thread.
    /// - Throws: ``StoreError``: `busy` when another process is pushing, others when the outbox cannot be read or written.
    public func push(
        from store: SQLiteStore, _ options: PushOptions = PushOptions(), command: String = "bmo push",
        report: @escaping @Sendable (PushReport.Edit) -> Void = { _ in }
    ) async throws -> PushReport {
        let lock = try await pushLock(command: command, patience: options.patience)
        defer { lock.release() }
        return try await PushRun(self, store, options, report).run()
    }

    /// The right to push, which one process has at a time.
    private func pushLock(command: String, patience: FileLock.Patience) async throws -> FileLock {
        let name = pushLockName
        do {
            return try await FileLock.take(of: name, command: command, patience: patience)
        } catch let error as StoreError where error.code == .busy {
            let holder = FileLock.holder(of: name)?.description ?? "another process"
            throw StoreError(
                .busy, "the edits of \(configuration.databasePath) are being sent by \(holder)",
                remedy: "it sends yours too; `bmo outbox` shows what waits")
        }
    }

    /// One database has one lock, by whatever path it is called.
    private var pushLockName: String {
        guard let resolved = realpath(configuration.databasePath, nil) else {
            return configuration.databasePath + "-push"
        }
        defer { free(resolved) }
        return String(cString: resolved) + "-push"
    }

    /// Checks local edits against the configuration, then makes them: rows and outbox in one transaction.
    ///
    /// - Parameter joining: Whether they may join edits of the same objects that wait; see ``SQLiteStore/edit(_:joining:)``.
    /// - Throws: ``StoreError`` of the code `request` for what cannot be written, with all reasons; others of the store.
    public func edit(_ edits: [LocalEdit], in store: SQLiteStore, joining: Bool = true) throws -> [EditReceipt] {
        try check(edits, in: store)
        return try store.edit(edits, joining: joining)
    }

    /// - Throws: ``StoreError`` of the code `request`, with all reasons why edits cannot go to the remote.
    func check(_ edits: [LocalEdit], in store: SQLiteStore) throws {
        var faults: [String] = []
        for edit in edits {
            let last =
                edit.operation != .create ? try store.outbox(entity: edit.entity, key: edit.key).last : nil
            // An update becomes part of the create, and a delete leaves nothing to send.
            let isUnsent = last?.operation == .create && last?.state != .sending && last?.state != .unknown
            faults += refusals(of: edit, isUnsent: isUnsent)
        }
        var seen: Set<String> = []
        faults = faults.filter { seen.insert($0).inserted }
        guard faults.isEmpty else { throw StoreError(.request, faults.joined(separator: "\n")) }
    }

    /// Why an edit cannot go to the remote; none where it can.
    ///
    /// - Parameter isUnsent: Whether the object is a new one of which the remote has not heard.
    public func refusals(of edit: LocalEdit, isUnsent: Bool = false) -> [String] {
        guard let index = model.index(of: edit.entity) else { return ["unknown entity \"\(edit.entity)\""] }
        let plan = OutgoingPlan(of: index, in: model)
        let definition = model.model.entities[index]
        guard model.model.isWritable(definition) else {
            return ["\(edit.entity) is not writable; add \"writable: true\" to the entity in \(configuration.file)"]
        }
        let bridge = model.model.walked(definition).bridge
        guard can(edit.operation.rawValue, bridge) else {
            return ["the bridge \"\(bridge)\" of \(edit.entity) cannot \(edit.operation.rawValue) objects"]
        }
        if let fault = missingWrite(of: definition, isUnsent ? "create" : edit.operation.rawValue) { return [fault] }
        let isNew = edit.operation == .create
        let layout = model.entities[index]
        let key = Dictionary(
            zip(layout.key.map { layout.fields[$0].name }, edit.key), uniquingKeysWith: { first, _ in first })
        // An update may name its key once more.
        let names = (Array(edit.values.keys) + Array(edit.links.keys)).filter {
            isNew || key[$0] == nil || key[$0] != edit.values[$0]
        }
        var faults = names.sorted().compactMap { name in
            let isOpen = isNew || isUnsent && key[name] == nil
            return plan.refusal(of: name, isNew: isOpen)?.description
        }
        guard faults.isEmpty, edit.operation != .delete else { return faults }
        do {
            var values = edit.values
            for toOne in layout.toOne where toOne.fieldCount > 1 {
                // Checked when all its parts are known.
                for field in layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount] {
                    values[field.name] = nil
                }
            }
            _ = try plan.object(values, links: edit.links)
        } catch {
            faults.append(error.description)
        }
        return faults
    }

    /// Why the configuration does not let an edit that waits be sent; nil where it does, or nobody can tell.
    func obstacle(to entry: OutboxEntry) -> String? {
        guard let entity = model.model.entity(named: entry.entity) else { return nil }
        guard model.model.isWritable(entity) else {
            return "\(entry.entity) is not writable any more; \"writable: true\" in \(configuration.file) sends it, "
                + "`bmo outbox drop \(entry.id)` takes it back here"
        }
        let bridge = model.model.walked(entity).bridge
        guard can(entry.operation.rawValue, bridge) else {
            return "the bridge \"\(bridge)\" of \(entry.entity) cannot \(entry.operation.rawValue) objects"
        }
        return missingWrite(of: entity, entry.operation.rawValue)
    }

    /// Why the section of an entity does not let an operation be done; nil where it does, or nobody can tell.
    private func missingWrite(of entity: Entity, _ operation: String) -> String? {
        let walked = model.model.walked(entity)
        // The section first: to see what the schema names it has to be parsed.
        guard walked.section["write"]?[operation] == nil,
            let plugin = configuration.bridge(named: walked.bridge)?.plugin, plugins[plugin]?.namesWrites == true
        else { return nil }
        return "the section \(plugin) of \(walked.name) says nothing of \(operation); add "
            + "\"write: {\(operation): ...}\" to it in \(configuration.file)"
    }
}
