/// The entities whose syncs failed in a watch: each waits longer after each failure, and the others do not wait for it.
struct FailingEntities {
    /// Why a sync failed, and the entities that did; none if nothing succeeded.
    typealias Reason = (words: String, entities: Set<String>)

    private struct Failure {
        var count: Int
        var words: String
        var until: ContinuousClock.Instant
        /// Whether the remote had reported a change: the entity is then synced by itself when its pause is over.
        var isAsked: Bool
    }

    private static let longestPause: Duration = .seconds(900)
    /// The first pause of an entity whose remote reported a change, which may come long before the next round.
    private static let firstPause: Duration = .seconds(2)

    private let every: Duration
    private var entities: [String: Failure] = [:]
    /// The failures in a row of syncs in which nothing succeeded.
    private var total = 0
    private var totalWords: String?

    /// - Parameter every: The pause between two rounds.
    init(every: Duration) { self.every = every }

    /// The most failures in a row.
    var count: Int { max(total, entities.values.map(\.count).max() ?? 0) }

    /// Why a sync failed; nil if none does.
    var message: String? { totalWords ?? entities.min { $0.key < $1.key }?.value.words }

    /// The pause until the next sync of everything.
    var pauseOfRounds: Duration { pause(afterFailures: total) }

    /// When the first entity is due whose remote reported a change; nil for none.
    var nextAsked: ContinuousClock.Instant? { entities.values.filter(\.isAsked).map(\.until).min() }

    /// The entities that the next round leaves out.
    func waiting(at now: ContinuousClock.Instant = .now) -> Set<String> {
        Set(entities.filter { $0.value.until > now }.keys)
    }

    /// The entities whose remotes reported a change and whose pause is over, in order.
    func asked(at now: ContinuousClock.Instant = .now) -> [String] {
        entities.filter { $0.value.isAsked && $0.value.until <= now }.keys.sorted()
    }

    /// Returns whether an entity will be synced because of an earlier report of its remote.
    func isAsked(_ name: String) -> Bool { entities[name]?.isAsked == true }

    /// Returns the changes that a round does not follow, and that no later sync would include.
    ///
    /// - Parameter waiting: The entities that the round leaves out.
    func leftOut(of changes: [RemoteNews.Change], waiting: Set<String>) -> [RemoteNews.Change] {
        changes.filter { waiting.contains($0.entity) && !isAsked($0.entity) }
    }

    /// Notes the end of a sync of everything, except for the entities that waited.
    ///
    /// - Parameters:
    ///   - failure: Why it failed; nil on success.
    ///   - waiting: The entities that it left out. Their pauses may have ended meanwhile.
    ///   - asked: The entities whose remotes had reported a change.
    mutating func noteRound(
        _ failure: Reason?, without waiting: Set<String> = [], asked: Set<String> = [],
        at now: ContinuousClock.Instant = .now
    ) {
        // News of an entity that was left out say nothing about its next try.
        let asked = asked.subtracting(waiting)
        if let failure, failure.entities.isEmpty {
            total += 1
            totalWords = failure.words
            for name in asked { add(name, failure.words, isAsked: true, at: now) }
            return
        }
        total = 0
        totalWords = nil
        // Those that were tried and did not fail again have recovered.
        entities = entities.filter { waiting.contains($0.key) || failure?.entities.contains($0.key) == true }
        for name in failure?.entities ?? [] {
            add(name, failure?.words ?? "", isAsked: asked.contains(name), at: now)
        }
    }

    /// Notes the end of a sync of those entities whose remotes reported a change.
    ///
    /// - Parameters:
    ///   - names: The entities.
    ///   - failure: Why it failed; nil on success.
    mutating func noteAsked(_ names: Set<String>, _ failure: Reason?, at now: ContinuousClock.Instant = .now) {
        let failed = failure.map { $0.entities.isEmpty ? names : $0.entities } ?? []
        for name in names.subtracting(failed) { entities[name] = nil }
        for name in failed { add(name, failure?.words ?? "", isAsked: true, at: now) }
    }

    private mutating func add(_ name: String, _ words: String, isAsked: Bool, at now: ContinuousClock.Instant) {
        let isAsked = isAsked || entities[name]?.isAsked == true
        let count = (entities[name]?.count ?? 0) + 1
        let pause = isAsked ? pauseOfAsked(afterFailures: count) : pause(afterFailures: count)
        entities[name] = Failure(count: count, words: words, until: now + pause, isAsked: isAsked)
    }

    private func pause(afterFailures count: Int) -> Duration {
        max(every, Self.doubled(every, afterFailures: count))
    }

    private func pauseOfAsked(afterFailures count: Int) -> Duration {
        Self.doubled(min(every, Self.firstPause), afterFailures: count)
    }

    /// The pause is exact: a watch is one client, which has no others to be spread from.
    private static func doubled(_ first: Duration, afterFailures count: Int) -> Duration {
        Backoff.pause(afterFailures: count, first: first, longest: longestPause, random: 1)
    }
}
