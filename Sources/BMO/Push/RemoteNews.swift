internal import BridgeHost
internal import Mapping
internal import Model
internal import Synchronization

/// The entities whose remotes said that something moved, for the syncs of a watch.
final class RemoteNews: Sendable {
    private static let tick: Duration = .milliseconds(200)

    private let names = Mutex<Set<String>>([])

    /// Something moved that the entity's records are made of.
    func moved(_ entity: String) { names.withLock { _ = $0.insert(entity) } }

    /// A sync of everything begins: what moved before is a part of it.
    func forget() { names.withLock { $0 = [] } }

    /// Waits until something moves, at most so long, and returns what; nil when the time is over.
    func next(within pause: Duration) async -> Set<String>? {
        let end = ContinuousClock.now + pause
        while !Task.isCancelled, ContinuousClock.now < end {
            if names.withLock({ !$0.isEmpty }) {
                // One change brings several events.
                try? await Task.sleep(for: Self.tick)
                return names.withLock { all in
                    defer { all = [] }
                    return all
                }
            }
            try? await Task.sleep(for: min(Self.tick, end - ContinuousClock.now))
        }
        return nil
    }
}

extension Workspace {
    /// The entities whose remotes can be waited for, as far as their bridges can.
    func listeners(to news: RemoteNews, _ entities: [String]?) -> [RemoteListener] {
        model.model.entities.enumerated().compactMap { index, entity in
            guard entity.isWalked, entity.parent == nil, entities?.contains(entity.name) ?? true,
                let bridge = configuration.bridge(named: entity.bridge), plugins[bridge.plugin]?.can("watch") == true,
                let plan = try? WalkPlan(entity, index, source: nil, in: self)
            else { return nil }
            return RemoteListener(workspace: self, bridge: bridge, plan: plan, news: news)
        }
    }
}

/// Waits for the remote of one entity to say that something moved.
struct RemoteListener: Sendable {
    let workspace: Workspace
    let bridge: BridgeConfiguration
    let plan: WalkPlan
    let news: RemoteNews

    /// Listens until the task is cancelled, or the remote says that it cannot tell.
    ///
    /// - Parameter report: Is told once why there is nothing to listen to.
    func listen(_ report: @Sendable (String) -> Void) async {
        var failures = 0
        while !Task.isCancelled {
            do {
                try await listenOnce(&failures)
            } catch {
                if Task.isCancelled { return }
                if let failure = error as? BridgeFailure, failure.code == .unsupported {
                    report("\(plan.entity.name): \(failure.message); it is asked from time to time")
                    return
                }
                // The syncs tell of a remote that is away.
                failures += 1
                try? await Task.sleep(for: Backoff.pause(afterFailures: failures, longest: .seconds(60)))
            }
        }
    }

    private func listenOnce(_ failures: inout Int) async throws {
        let connection = try await workspace.connect(to: bridge)
        try await connection.closing {
            let watch = try await connection.watch(FetchRequest(entity: plan.entity.name, section: plan.section))
            // What moved while nobody listened was told to nobody.
            if failures > 0 { news.moved(plan.entity.name) }
            failures = 0
            while !Task.isCancelled {
                if try await watch.change(within: .seconds(300)) { news.moved(plan.entity.name) }
            }
        }
    }
}
