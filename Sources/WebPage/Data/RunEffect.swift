internal import Mapping
internal import RecordBatch
internal import StoreContract

/// What a run did to the number of rows: of all entities, or of one.
struct RunEffect: Sendable {
    let run: RunRecord
    /// By how much it changed the number of rows.
    let growth: Int
    /// The number of rows that it changed.
    let changes: Int

    init(_ run: RunRecord, growth: Int, changes: Int) {
        self.run = run
        self.growth = growth
        self.changes = changes
    }

    /// Returns what a run did to all entities.
    ///
    /// The first import of an entity is one change in the history, whatever its size; the report of the sync counts it.
    init(of run: RunRecord) {
        let counts = run.counts
        guard counts.loaded > 0, let reported = Self.reported(by: run, { _ in true }) else {
            self.init(run, growth: counts.inserted - counts.deleted, changes: counts.total)
            return
        }
        let more = max(0, reported.inserted - counts.inserted)
        self.init(
            run, growth: reported.inserted - reported.deleted, changes: counts.total - counts.loaded + more)
    }

    /// The counts that the report of a sync has of some entities together; nil if it has none of them.
    private static func reported(
        by run: RunRecord, _ isMeant: (String) -> Bool
    ) -> (inserted: Int, updated: Int, deleted: Int)? {
        guard let summary = run.summary, let batch = try? JSONParser.batch(summary), batch.count == 1 else {
            return nil
        }
        return withExtendedLifetime(batch) {
            let entities = (batch[0]["entities"]?.elements ?? []).filter { isMeant($0["entity"]?.text ?? "") }
            guard !entities.isEmpty else { return nil }
            func sum(_ name: String) -> Int { entities.reduce(0) { $0 + Int($1[name]?.integer ?? 0) } }
            return (sum("inserted"), sum("updated"), sum("deleted"))
        }
    }

    /// What some runs did to one entity.
    struct OfEntity: Sendable {
        /// The runs that changed rows of the entity, newest first.
        var effects: [RunEffect] = []
        /// Whether older runs are left out, because one changed too many rows to count those of the entity.
        var isCut = false
    }

    /// The number of changes of a run above which those of an entity are not counted.
    private static let maxCounted = 1000

    /// Returns what runs did to an entity.
    ///
    /// The report of a sync has the counts. Other runs are counted by their changes, as long as these are few.
    ///
    /// - Parameters:
    ///   - runs: The runs, newest first.
    ///   - layout: The entity, which has a table.
    ///   - family: The names of the entity and its sub-entities.
    static func of(
        _ runs: [RunRecord], _ layout: EntityLayout, family: Set<String>, in store: any Store
    ) throws -> OfEntity {
        var result = OfEntity()
        for run in runs where run.counts.total > 0 {
            let (growth, changes): (Int, Int)
            if run.kind == "sync", run.summary != nil {
                guard let counts = reported(by: run, family.contains) else { continue }
                (growth, changes) = (
                    counts.inserted - counts.deleted, counts.inserted + counts.updated + counts.deleted
                )
            } else {
                guard run.counts.total <= maxCounted else {
                    result.isCut = true
                    break
                }
                var counted = (growth: 0, changes: 0)
                try store.changes(of: run.id, entity: layout.name) { change in
                    counted.changes += 1
                    if change.kind == .inserted { counted.growth += 1 }
                    if change.kind == .deleted { counted.growth -= 1 }
                }
                (growth, changes) = counted
            }
            if changes > 0 { result.effects.append(RunEffect(run, growth: growth, changes: changes)) }
        }
        return result
    }
}
