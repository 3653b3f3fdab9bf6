/// The entities whose syncs failed in a watch: each waits longer after each failure, and the others do not wait for it.
struct FailingEntities {
    private struct Failure {
        var count: Int
        var words: String
        var until: ContinuousClock.Instant
    }

    private var entities: [String: Failure] = [:]
    /// The failures in a row of syncs in which nothing succeeded.
    private var total = 0
    private var totalWords: String?

    /// The entities that are not tried yet.
    var waiting: Set<String> { Set(entities.filter { $0.value.until > .now }.keys) }

    /// Whether nothing succeeded at last.
    var isTotal: Bool { total > 0 }

    /// The most failures in a row.
    var count: Int { max(total, entities.values.map(\.count).max() ?? 0) }

    /// Why a sync failed; nil if none does.
    var message: String? { totalWords ?? entities.min { $0.key < $1.key }?.value.words }

    /// Notes the end of a sync.
    ///
    /// - Parameters:
    ///   - failure: Why it failed, and the entities that did; none if nothing succeeded. Nil on success.
    ///   - pause: The pause after a number of failures.
    ///   - isWhole: Whether all entities were synced that do not wait.
    mutating func note(
        _ failure: (words: String, entities: Set<String>)?, pause: (Int) -> Duration, isWhole: Bool
    ) {
        let now = ContinuousClock.now
        if let failure, failure.entities.isEmpty {
            guard isWhole else { return }
            total += 1
            totalWords = failure.words
            return
        }
        if isWhole {
            total = 0
            totalWords = nil
            // Those that were tried and did not fail again have recovered.
            entities = entities.filter { $0.value.until > now || failure?.entities.contains($0.key) == true }
        }
        for name in failure?.entities ?? [] {
            let count = (entities[name]?.count ?? 0) + 1
            entities[name] = Failure(count: count, words: failure?.words ?? "", until: now + pause(count))
        }
    }
}
