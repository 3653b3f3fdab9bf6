// Push sends local edits to the remote. A run takes them one after the other from the outbox; a sender sends one and
// determines its outcome; a reader reads an object from the remote where the outcome is unknown.

internal import Importer
internal import Mapping
internal import Model
public import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension Workspace {
    /// The options of a push.
    public struct PushOptions: Sendable {
        /// The entities whose edits are sent; nil for all.
        ///
        /// Referenced objects that have to be created first are included.
        public var entities: [String]?
        /// The outbox entries that are sent, with the entries that have to precede them; nil for all.
        public var entries: Set<Int64>?
        /// How many objects are sent at a time.
        public var concurrency: Int
        /// How long to wait for another push of the same database to end.
        ///
        /// Unless it is set, a `RequestManager` waits as long as its own options say, and others do not wait.
        public var lockTimeout: LockTimeout {
            get { ownLockTimeout ?? LockTimeout.none }
            set { ownLockTimeout = newValue }
        }
        /// The ``lockTimeout`` if it is set.
        private(set) var ownLockTimeout: LockTimeout?
        /// How long after sending a missing edit is given up: until then, the remote may still be processing it.
        public var grace: Duration
        /// Returns whether another edit may be sent; asked before each one.
        package var mayGoOn: @Sendable () -> Bool = { true }

        /// Creates options.
        public init(
            entities: [String]? = nil, entries: Set<Int64>? = nil, concurrency: Int = 4,
            grace: Duration = .seconds(30)
        ) {
            self.entities = entities
            self.entries = entries
            self.concurrency = concurrency
            self.grace = grace
        }

        /// Creates options with a time to wait for another push.
        public init(
            entities: [String]? = nil, entries: Set<Int64>? = nil, concurrency: Int = 4, lockTimeout: LockTimeout,
            grace: Duration = .seconds(30)
        ) {
            self.init(entities: entities, entries: entries, concurrency: concurrency, grace: grace)
            ownLockTimeout = lockTimeout
        }

        /// Returns the options with a time to wait for another push if they have none.
        func waiting(_ timeout: LockTimeout) -> PushOptions {
            var options = self
            options.ownLockTimeout = ownLockTimeout ?? timeout
            return options
        }
    }

    /// Sends waiting edits, and imports the remote's answers.
    ///
    /// A failed edit is reported rather than thrown, and does not affect edits of other objects. When the task is
    /// cancelled, edits that are being sent are waited for, and nothing more is sent.
    ///
    /// - Parameters:
    ///   - store: The database, without the file lock, so that a sync may run concurrently.
    ///   - options: The edits to send.
    ///   - command: How this process describes itself in the history.
    ///   - report: Called when an edit is finished, from any thread.
    /// - Throws: `ConfigurationErrors` for faults that `bmo check` finds in these entities, before anything is sent;
    ///   `StoreError`: `busy` when another process is pushing, others when the outbox cannot be read or written.
    public func push(
        from store: any Store, _ options: PushOptions = PushOptions(), command: String = "bmo push",
        report: @escaping @Sendable (PushReport.Edit) -> Void = { _ in }
    ) async throws -> PushReport {
        let lock = try await stores.lock(
            configuration.databasePath, for: .pushing, command: command, timeout: options.lockTimeout)
        defer { lock.release() }
        return try await PushRun(self, store, options, report).run()
    }

    /// Checks local edits against the configuration.
    ///
    /// - Throws: ``StoreError`` of the code `request`, with all reasons why edits cannot be sent to the remote.
    func check(_ edits: [LocalEdit], in store: any Store) throws {
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

    /// Returns why an edit cannot be sent to the remote; empty where it can.
    ///
    /// - Parameters:
    ///   - edit: The edit.
    ///   - isUnsent: Whether the object is new and has not been sent.
    public func refusals(of edit: LocalEdit, isUnsent: Bool = false) -> [String] {
        guard let index = model.index(of: edit.entity) else { return ["unknown entity \"\(edit.entity)\""] }
        let plan = OutgoingPlan(of: index, in: model)
        let definition = model.model.entities[index]
        guard model.model.isWritable(definition) else {
            return ["\(edit.entity) is not writable; add \"writable: true\" to the entity in \(configuration.file)"]
        }
        let bridge = model.model.scanned(definition).bridge
        guard can(edit.operation.rawValue, bridge) else {
            return ["the bridge \"\(bridge)\" of \(edit.entity) cannot \(edit.operation.rawValue) objects"]
        }
        if let fault = missingWrite(of: definition, isUnsent ? "create" : edit.operation.rawValue) { return [fault] }
        let isNew = edit.operation == .create
        let layout = model.entities[index]
        let key = Dictionary(
            zip(layout.key.map { layout.fields[$0].name }, edit.key), uniquingKeysWith: { first, _ in first })
        // An update may repeat its key.
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

    /// Returns why the configuration does not allow a waiting edit to be sent; nil where it does, or where that is
    /// unknown.
    func obstacle(to entry: OutboxEntry) -> String? {
        guard let entity = model.model.entity(named: entry.entity) else { return nil }
        guard model.model.isWritable(entity) else {
            return "\(entry.entity) is no longer writable; \"writable: true\" in \(configuration.file) sends it, "
                + "`bmo outbox drop \(entry.id)` rolls it back here"
        }
        let bridge = model.model.scanned(entity).bridge
        guard can(entry.operation.rawValue, bridge) else {
            return "the bridge \"\(bridge)\" of \(entry.entity) cannot \(entry.operation.rawValue) objects"
        }
        return missingWrite(of: entity, entry.operation.rawValue)
    }

    /// Returns why an entity's section does not support an operation; nil where it does, or where that is unknown.
    private func missingWrite(of entity: Entity, _ operation: String) -> String? {
        let scanned = model.model.scanned(entity)
        // The section is checked first, because reading the schema's names requires parsing it.
        guard scanned.section["write"]?[operation] == nil,
            let plugin = configuration.bridge(named: scanned.bridge)?.plugin, plugins[plugin]?.namesWrites == true
        else { return nil }
        return "the section \(plugin) of \(scanned.name) does not define \(operation); add "
            + "\"write: {\(operation): ...}\" to it in \(configuration.file)"
    }
}
