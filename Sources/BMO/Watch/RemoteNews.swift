internal import BridgeHost
internal import Mapping
internal import Model
internal import SystemCalls

/// The entities and objects whose remotes reported changes: the next syncs of a watch.
///
/// A program that learns of changes by other means, such as a webhook, passes them to
/// ``Workspace/watch(_:news:report:)``:
///
/// ```swift
/// let news = RemoteNews()
/// async let watch: Void = workspace.watch(WatchOptions(), news: news) { event in print(event) }
/// news.moved("Country", key: ["NO"])
/// ```
public final class RemoteNews: Sendable {
    /// What changed.
    struct Change: Sendable, Equatable {
        /// The entity.
        let entity: String
        /// The keys of the changed objects, in order; empty for the whole entity.
        var keys: [[String]] = []
    }

    private static let tick: Duration = .milliseconds(200)
    /// The number of objects of an entity above which the whole entity is synced.
    private static let maxKeys = 20

    private let changes = Mutex<[String: Change]>([:])

    /// Creates an empty list.
    public init() {}

    /// Notes a change in the data of an entity.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - key: The key of the object that changed, in the order of the entity's key; nil if it is not known.
    public func moved(_ entity: String, key: [String]? = nil) {
        changes.withLock { changes in
            guard let key else {
                changes[entity] = Change(entity: entity)
                return
            }
            guard var change = changes[entity] else {
                changes[entity] = Change(entity: entity, keys: [key])
                return
            }
            guard !change.keys.isEmpty, !change.keys.contains(key) else { return }
            if change.keys.count < Self.maxKeys { change.keys.append(key) } else { change.keys = [] }
            changes[entity] = change
        }
    }

    /// Notes a change again that could not be followed.
    func moved(_ change: Change) {
        if change.keys.isEmpty { moved(change.entity) }
        for key in change.keys { moved(change.entity, key: key) }
    }

    /// Takes all changes so far, by entity.
    func take() -> [Change] {
        changes.withLock { all in
            defer { all = [:] }
            return all.values.sorted { $0.entity < $1.entity }
        }
    }

    /// Waits at most `pause` for changes, and returns them by entity; nil after the pause.
    func next(within pause: Duration) async -> [Change]? {
        let end = ContinuousClock.now + pause
        while !Task.isCancelled, ContinuousClock.now < end {
            if changes.withLock({ !$0.isEmpty }) {
                // One change causes several events.
                try? await Task.sleep(for: Self.tick)
                return take()
            }
            try? await Task.sleep(for: min(Self.tick, end - ContinuousClock.now))
        }
        return nil
    }
}

extension Workspace {
    /// Returns listeners for the entities whose bridges support it.
    func listeners(to news: RemoteNews, _ entities: [String]?) -> [RemoteListener] {
        model.model.entities.enumerated().compactMap { index, entity in
            guard entity.isScanned, entity.parent == nil, entities?.contains(entity.name) ?? true,
                let bridge = configuration.bridge(named: entity.bridge), plugins[bridge.plugin]?.can("watch") == true,
                let plan = try? ScanPlan(entity, index, source: nil, in: self)
            else { return nil }
            return RemoteListener(workspace: self, bridge: bridge, plan: plan, news: news)
        }
    }
}

/// Waits for the remote of one entity to report changes.
struct RemoteListener: Sendable {
    let workspace: Workspace
    let bridge: BridgeConfiguration
    let plan: ScanPlan
    let news: RemoteNews

    /// Listens until the task is cancelled, or the remote says that it cannot notify.
    ///
    /// - Parameter report: Called once with the reason why listening is impossible, or has failed several times in a row.
    func listen(_ report: @Sendable (String) -> Void) async {
        var failures = 0
        var isReported = false
        let clock = ContinuousClock()
        while !Task.isCancelled {
            let start = clock.now
            do {
                try await listenOnce(isAgain: failures > 0)
            } catch {
                if Task.isCancelled { return }
                if let failure = error as? BridgeFailure, failure.code == .unsupported {
                    report("\(plan.entity.name): \(failure.message); it is polled instead")
                    return
                }
                // One that works for a while and then breaks off has recovered in between.
                failures = clock.now - start > .seconds(60) ? 1 : failures + 1
                // The syncs report an unreachable remote, but not a watch that fails alone.
                if failures >= 5, !isReported {
                    isReported = true
                    let words = (error as? BridgeFailure)?.message ?? "\(error)"
                    report("\(plan.entity.name): its watch fails: \(words); it is polled until it works")
                }
                try? await Task.sleep(for: Backoff.pause(afterFailures: failures, longest: .seconds(60)))
            }
        }
    }

    /// - Parameter isAgain: Whether changes may have been missed before.
    private func listenOnce(isAgain: Bool) async throws {
        let connection = try await workspace.connect(to: bridge)
        try await connection.closing {
            let watch = try await connection.watch(FetchRequest(entity: plan.entity.name, section: plan.section))
            // One that opens and then fails at once has not recovered.
            let hasNews = try await watch.change(within: .seconds(1))
            // Changes during the interruption were not reported.
            if hasNews || isAgain { news.moved(plan.entity.name) }
            while !Task.isCancelled {
                if try await watch.change(within: .seconds(300)) { news.moved(plan.entity.name) }
            }
        }
    }
}
