internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import Tracing

/// A push: first edits in an unknown state, then waiting edits, several objects at a time.
struct PushRun {
    private let workspace: Workspace
    private let store: PushStore
    private let options: Workspace.PushOptions
    private let report: @Sendable (PushReport.Edit) -> Void

    /// How often an edit is tried in one push; each retry follows a failure whose cause was removed.
    private static let maxTries = 3

    init(
        _ workspace: Workspace, _ store: any Store, _ options: Workspace.PushOptions,
        _ report: @escaping @Sendable (PushReport.Edit) -> Void
    ) {
        self.workspace = workspace
        let location = workspace.configuration.databasePath
        self.store = PushStore(store) { [stores = workspace.stores] store in
            // A store behind a network asks over the connection that it has.
            guard let observer = store as? any LockObserver else {
                return stores.lockHolder(of: location, for: .writing) != nil
            }
            return try observer.lockHolder(for: .writing) != nil
        }
        self.options = options
        self.report = report
    }

    /// Sends the edits.
    ///
    /// - Throws: ``ConfigurationErrors`` for faults that `bmo check` finds in the entities, before anything is sent;
    ///   ``StoreError``.
    func run() async throws -> PushReport {
        try await withSpan("bmo.push") { span in
            let summary = try await sendEdits()
            span.note(summary)
            if ProgramMetrics.isUsed { try? await store.run { ProgramMetrics.note(summary, $0) } }
            return summary
        }
    }

    private func sendEdits() async throws -> PushReport {
        let start = ContinuousClock.now
        _ = try await store.run { try $0.recoverSending() }
        let wanted = try await wanted()
        guard !wanted.isEmpty else { return PushReport(edits: [], duration: .zero, wasInterrupted: false) }
        let connections = Connections(workspace)
        try await refuseFaults(of: wanted, connections)
        try await forgetWrongTimes(of: wanted)
        try await store.run { try $0.beginRun(kind: "push") }
        var round = Round(
            wanted: wanted, entities: options.entities == nil ? nil : Set(wanted.map(\.entity)),
            entries: options.entries == nil ? nil : Set(wanted.map(\.id)))
        let isNews: Bool
        do {
            let sender = PushSender(
                workspace: workspace, store: store, connections: connections, options: options)
            try await look(sender, &round)
            try await send(sender, &round)
            isNews = round.edits.contains { ![.waits, .unknown].contains($0.outcome.kind) }
            round.edits += try await left(round)
        } catch {
            await connections.close()
            _ = try? await store.run { try $0.endRun(outcome: "failed", summary: nil, always: false) }
            throw error
        }
        await connections.close()
        var summary = PushReport(
            edits: round.edits, duration: ContinuousClock.now - start,
            wasInterrupted: Task.isCancelled)
        summary.requests = await connections.takeRequests()
        let history = workspace.configuration.history
        summary.run = try await store.run {
            [summary, isNews] in
            try $0.endRun(outcome: summary.outcomeWord, summary: summary.json, always: isNews, keeping: history)
        }
        return summary
    }

    private func refuseFaults(of wanted: [OutboxEntry], _ connections: Connections) async throws {
        let model = workspace.model
        let names = Set(
            wanted.compactMap { model.model.entity(named: $0.entity).map { model.model.scanned($0).name } })
        do {
            try await workspace.refuseFaults(of: names.compactMap(model.index(of:)), over: connections)
        } catch let errors as ConfigurationErrors {
            await connections.close()
            throw errors
        } catch {
            // The push was cancelled: nothing is sent, and the report says so.
        }
    }

    /// Makes those edits due whose next try is further away than any pause.
    private func forgetWrongTimes(of wanted: [OutboxEntry]) async throws {
        let now = Clock.now()
        let wrong = wanted.filter { entry in
            entry.state == .pending && entry.notBefore.map { $0 > now } ?? false && entry.isDue(at: now)
        }
        guard !wrong.isEmpty else { return }
        try await store.run { store in
            for entry in wrong { try store.settle(entry.id, .waits(until: nil, entry.failure)) }
        }
    }

    private struct Round {
        let wanted: [OutboxEntry]
        let entities: Set<String>?
        let entries: Set<Int64>?
        var edits: [PushReport.Edit] = []
        /// The entries that must not be sent (again) in this push.
        var excluded: Set<Int64> = []
        var tries: [Int64: Int] = [:]
        /// The bridges that are currently unusable.
        var down: Set<String> = []
    }

    /// Returns the requested edits, with all that they depend on.
    private func wanted() async throws -> [OutboxEntry] {
        let all = try await store.run { try $0.outbox() }
        guard options.entities != nil || options.entries != nil else { return all }
        let entities = options.entities.map { workspace.model.model.names(under: $0) }
        let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let before = Self.entriesBefore(all)
        var ids: Set<Int64> = []
        var waiting = all.filter { entry in
            entities?.contains(entry.entity) != false && options.entries?.contains(entry.id) != false
        }.map(\.id)
        while let id = waiting.popLast() {
            guard ids.insert(id).inserted, let entry = byID[id] else { continue }
            waiting += entry.dependsOn
            if let earlier = before[id] { waiting.append(earlier) }
        }
        return all.filter { ids.contains($0.id) }
    }

    /// Returns each entry's predecessor for the same object.
    private static func entriesBefore(_ all: [OutboxEntry]) -> [Int64: Int64] {
        struct Object: Hashable {
            let entity: String
            let key: [StoredValue]
        }
        var last: [Object: Int64] = [:]
        var before: [Int64: Int64] = [:]
        for entry in all {
            before[entry.id] = last.updateValue(entry.id, forKey: Object(entity: entry.entity, key: entry.key))
        }
        return before
    }

    // MARK: unknown and waiting edits

    private var mayGoOn: Bool { !Task.isCancelled && options.mayGoOn() }

    private func look(_ sender: PushSender, _ round: inout Round) async throws {
        let unknown = try await store.run { try $0.outbox(state: .unknown) }
        let ids = Set(round.wanted.map(\.id))
        for entry in unknown where ids.contains(entry.id) && mayGoOn {
            guard !round.down.contains(bridge(of: entry.entity)) else { continue }
            try await take(try await sender.look(for: entry), &round)
        }
    }

    private func send(_ sender: PushSender, _ round: inout Round) async throws {
        try await withThrowingTaskGroup(of: PushAttempt.self) { group in
            // A bridge serves one write at a time: edits that wait for another are not marked as sent, which keeps the
            // order.
            var busy: [Int64: String] = [:]
            while true {
                while busy.count < max(1, options.concurrency), mayGoOn,
                    let entry = try await next(round, Set(busy.values))
                {
                    round.excluded.insert(entry.id)
                    busy[entry.id] = bridge(of: entry.entity)
                    group.addTask {
                        try await withSpan("bmo.write", ofKind: .client) { span in
                            span.attributes["bmo.entity"] = entry.entity
                            span.attributes["bmo.operation"] = entry.operation.rawValue
                            let attempt = try await sender.send(entry)
                            if let edit = attempt.edit { span.note(edit) }
                            return attempt
                        }
                    }
                }
                guard let attempt = try await group.next() else { return }
                busy[attempt.entry] = nil
                try await take(attempt, &round)
            }
        }
    }

    private func next(_ round: Round, _ busy: Set<String>) async throws -> OutboxEntry? {
        var entities = round.entities
        let others = round.down.union(busy)
        if !others.isEmpty {
            let names = Set(workspace.model.entities.map(\.name))
            let left = (entities ?? names).filter { !others.contains(bridge(of: $0)) }
            guard !left.isEmpty else { return nil }
            entities = left
        }
        return try await store.run { [entities] in
            try $0.nextToSend(
                at: Clock.now(), entities: entities, excluding: round.excluded, among: round.entries)
        }
    }

    private func take(_ attempt: PushAttempt, _ round: inout Round) async throws {
        guard var edit = attempt.edit else { return }
        if attempt.isDueAgain {
            round.tries[edit.entry, default: 0] += 1
            guard round.tries[edit.entry, default: 0] >= Self.maxTries else {
                round.excluded.remove(edit.entry)
                return
            }
            edit = try await giveUp(edit)
        }
        if let bridge = attempt.unusableBridge { round.down.insert(bridge) }
        round.edits.append(edit)
        report(edit)
    }

    /// Records the outcome of an edit whose obstacle recurred with each try.
    private func giveUp(_ edit: PushReport.Edit) async throws -> PushReport.Edit {
        var edit = edit
        var failure = edit.failure ?? OutboxFailure(code: "unknown", message: "it was sent \(Self.maxTries) times")
        if edit.outcome.kind == .conflict {
            failure.remedy =
                "reading the object returned no other version of it: let \"read_one\" return the attribute by which the "
                + "remote distinguishes versions (REST: header_fields), then `bmo outbox retry \(edit.entry)`"
            edit.outcome = .conflict(failure)
        } else {
            edit.outcome = .waits(until: Clock.text(after: Backoff.pause(afterFailures: 5)), failure)
        }
        try await store.run { [edit] in try $0.settle(edit.entry, edit.outcome) }
        return edit
    }

    private func bridge(of entity: String) -> String {
        workspace.model.model.entity(named: entity).map { workspace.model.model.scanned($0).bridge } ?? ""
    }

    // MARK: unsent edits

    /// Returns the requested edits that were not sent.
    private func left(_ round: Round) async throws -> [PushReport.Edit] {
        let told = Set(round.edits.map(\.entry))
        let ids = Set(round.wanted.map(\.id))
        let waiting = try await store.run { store in
            try store.outbox().filter { ids.contains($0.id) && !told.contains($0.id) }.map { entry in
                (entry, try entry.state == .pending ? store.blockers(of: entry) : [])
            }
        }
        return waiting.map { entry, blockers in
            var edit = PushReport.Edit(entry, entry.outcome)
            if case .waits(let until, let failure) = edit.outcome {
                edit.outcome = .waits(
                    until: until ?? blockers.compactMap(\.notBefore).max(),
                    reason(entry, blockers, round) ?? failure)
            }
            report(edit)
            return edit
        }
    }

    /// Returns why an edit that could be sent was not; nil where its own last failure says why.
    private func reason(_ entry: OutboxEntry, _ blockers: [OutboxEntry], _ round: Round) -> OutboxFailure? {
        let waited = Set(blockers.map(\.id))
        let creates = entry.dependsOn.filter(waited.contains)
        if !creates.isEmpty {
            return OutboxFailure(code: "depends", message: Self.words(waitingForCreates: creates))
        }
        if let first = blockers.min(by: { $0.id < $1.id }) {
            return OutboxFailure(code: "depends", message: Self.words(waitingFor: first))
        }
        let bridge = bridge(of: entry.entity)
        if round.down.contains(bridge) {
            return OutboxFailure(code: "unreachable", message: "the bridge \(bridge) is unreachable")
        }
        return nil
    }

    /// Describes what an edit waits for that refers to objects whose creates are not sent.
    static func words(waitingForCreates creates: [Int64]) -> String {
        "it refers to what \(creates.map(String.init).joined(separator: ", ")) creates"
    }

    /// Describes what an edit waits for that follows another one of the same object.
    static func words(waitingFor earlier: OutboxEntry) -> String {
        let state = earlier.state == .pending ? "" : ", which is \(earlier.state.rawValue)"
        return "it waits for outbox \(earlier.id) of the same object\(state)"
    }
}
