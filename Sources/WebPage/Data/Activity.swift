package import BMO
internal import Importer
internal import StoreContract
internal import SystemCalls

/// The sync or push that was started here: one at a time.
package final class Activity: Sendable {
    /// What an activity does.
    package enum Kind: Sendable, Equatable {
        /// A sync of some entities; nil for all.
        case sync([String]?)
        /// A sync of an entity that deletes the rows that the listing lacks, or none if these are more.
        case deleting(String, atMost: Int)
        /// A sync of an entity that deletes all such rows, rolled back at the end.
        case rehearsal(String)
        /// A push of the waiting edits.
        case push

        var title: String {
            switch self {
            case .sync(let entities): "Sync" + (entities.map { " of \($0.joined(separator: ", "))" } ?? "")
            case .deleting(let entity, _): "Sync of \(entity) with deletions"
            case .rehearsal(let entity): "Preview of the deletions of \(entity)"
            case .push: "Push"
            }
        }
    }

    /// The state of the running activity, or of the last one.
    package struct State: Sendable {
        /// The name of the activity; nil before the first one.
        package fileprivate(set) var title: String?
        /// Whether it is running.
        package fileprivate(set) var isRunning = false
        /// The outcome in a word.
        package fileprivate(set) var outcome = ""
        /// What it reported: one line per entity or edit.
        package var lines: [String] { order.compactMap { progress[$0] } }
        /// The first of the rows that a preview would change.
        package fileprivate(set) var changes: [RowChange] = []
        fileprivate var order: [String] = []
        fileprivate var progress: [String: String] = [:]

        fileprivate mutating func say(_ line: String, about subject: String) {
            if progress.updateValue(line, forKey: subject) == nil { order.append(subject) }
        }
    }

    private static let maxChanges = 200
    private static let maxLines = 200
    /// How long the end of the program waits for that of an activity: while another program has locked the database, each
    /// transaction waits.
    private static let patience: Duration = .seconds(20)

    private let workspace: Workspace
    private let counters: MetricsFile
    private let shared = Mutex(State())
    private let latest = Mutex<Work?>(nil)

    /// The running activity's task, or that of the last one.
    private struct Work: Sendable {
        let task: Task<Void, Never>
        /// Ends with the task; unlike for the task's value, the wait for it can be given up.
        let ended: AsyncStream<Void>
    }

    /// Creates an activity that does nothing yet.
    ///
    /// - Parameter counters: What counts its syncs and pushes.
    package init(_ workspace: Workspace, counters: MetricsFile) {
        self.workspace = workspace
        self.counters = counters
    }

    /// The state now.
    package var state: State { shared.withLock { $0 } }

    /// Whether an activity is running.
    package var isRunning: Bool { shared.withLock { $0.isRunning } }

    /// Starts an activity.
    ///
    /// - Returns: Whether it was started; false while another one is running.
    package func start(_ kind: Kind) -> Bool {
        let isFirst = shared.withLock { state in
            guard !state.isRunning else { return false }
            state = State()
            state.title = kind.title
            state.isRunning = true
            return true
        }
        guard isFirst else { return false }
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [self] in
            let outcome = await outcome(of: kind)
            shared.withLock { state in
                state.isRunning = false
                state.outcome = outcome
            }
            continuation.finish()
        }
        latest.withLock { $0 = Work(task: task, ended: ended) }
        return true
    }

    /// Asks the running activity to stop; finished pages stay.
    package func stop() { latest.withLock { $0?.task.cancel() } }

    /// Stops the running activity and waits for its end, or for 20 seconds.
    ///
    /// If the program ends before the activity does, the next sync finds it interrupted, as after a crash.
    package func end() async {
        guard let work = latest.withLock({ $0 }) else { return }
        work.task.cancel()
        // The caller is cancelled, and both waits would end at once in its task.
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in work.ended {} }
                group.addTask { try? await Task.sleep(for: Self.patience) }
                _ = await group.next()
                group.cancelAll()
            }
        }.value
    }

    private func say(_ line: String, about subject: String) {
        shared.withLock { state in
            if state.order.count < Self.maxLines || state.progress[subject] != nil { state.say(line, about: subject) }
        }
    }

    private func outcome(of kind: Kind) async -> String {
        do {
            switch kind {
            case .push: return try await push()
            case .sync(let entities): return try await sync(Workspace.SyncOptions(entities: entities))
            case .deleting(let entity, let number):
                var options = Workspace.SyncOptions(entities: [entity])
                options.agreedDeletions = number
                return try await sync(options)
            case .rehearsal(let entity):
                return try await sync(
                    Workspace.SyncOptions(entities: [entity], allowsDeletes: true), isRehearsal: true)
            }
        } catch is CancellationError {
            return "stopped"
        } catch {
            say(PageFault.words(error).text, about: "")
            return "failed"
        }
    }

    private func push() async throws -> String {
        let store = try workspace.openStoreForEdits(command: "bmo serve")
        defer { try? store.close() }
        let report = try await workspace.push(from: store, command: "bmo serve") { [self] edit in
            let reason = edit.outcome.failure.map { ": \($0.message)" } ?? ""
            say("edit \(edit.entry): \(edit.outcome.kind.rawValue)\(reason)", about: String(edit.entry))
        }
        counters.count(report)
        return "\(NumberText.count(report.count(.sent), "edit", "edits")) sent"
    }

    private func sync(_ options: Workspace.SyncOptions, isRehearsal: Bool = false) async throws -> String {
        do {
            let store = try await workspace.openLockedStore(command: "bmo serve", rehearsing: isRehearsal)
            defer { try? store.close() }
            let report = try await workspace.sync(into: store, options) { [self] in note($0) }
            if isRehearsal {
                if let run = report.run { try keepChanges(of: run, in: store) }
            } else {
                counters.count(report)
            }
            return report.outcomeWord
        } catch {
            if !isRehearsal { counters.count(failedSync: error) }
            throw error
        }
    }

    private func keepChanges(of run: Int64, in store: any Store) throws {
        let first = try FirstChanges(of: run, limit: Self.maxChanges, in: store)
        shared.withLock { $0.changes = first.changes }
    }

    private func note(_ event: SyncEvent) {
        switch event {
        case .began(let entity, let bridge, _): say("\(entity): asking \(bridge)", about: entity)
        case .page(let page):
            let total = page.total.map { " of \(NumberText.grouped(Int($0)))" } ?? ""
            say(
                "\(page.entity): page \(page.page), \(NumberText.grouped(page.records))\(total) records",
                about: page.entity)
        case .warning(let entity, let message): say("\(entity): \(message)", about: "\(entity) \(message)")
        case .note, .detail: break
        case .ended(let entity):
            var line = "\(entity.name): \(entity.shownOutcome)"
            let counts = [
                (entity.counts.inserted, "inserted"), (entity.counts.updated, "updated"),
                (entity.counts.unchanged, "unchanged"), (entity.counts.deleted, "deleted"),
                (entity.counts.quarantined, "quarantined"),
            ].filter { $0.0 > 0 }
            if !counts.isEmpty {
                line += ", " + counts.map { "\(NumberText.grouped($0.0)) \($0.1)" }.joined(separator: ", ")
            }
            if case .failed(let failure) = entity.outcome { line += ": \(failure.message)" }
            say(line, about: entity.name)
        }
    }
}
