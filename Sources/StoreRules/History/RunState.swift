internal import Mapping
internal import StoreContract

/// The open run of a store: what it has recorded, and what it records.
///
/// A value: a store keeps the state at the beginning of a page, and returns to it with a rollback.
package struct RunState: Sendable {
    /// Whether an entity's table was empty when the run first inserted a row.
    package enum Load: Sendable {
        case unknown, loading, ordinary
    }

    /// The run; nil outside one, when nothing is recorded.
    package var run: RunDescription?
    /// The run's ID, once it has recorded anything.
    package var id: Int64?
    /// The loads, by entity.
    package var loads: [Load] = []
    /// The local edits that the run removed from the outbox before they were pushed.
    package var dropped: [Int64] = []

    /// Creates the state outside a run.
    package init() {}

    /// Begins a run.
    package init(_ run: RunDescription, entityCount: Int) {
        self.run = run
        loads = Array(repeating: run.isEdit ? .ordinary : .unknown, count: entityCount)
    }

    /// Whether the run inserted the first rows of the entity's table; these rows are not recorded one by one.
    package func isLoading(_ root: Int) -> Bool { run != nil && loads[root] == .loading }

    /// Whether changes of existing rows are recorded.
    package func records(_ root: Int) -> Bool { run != nil && loads[root] != .loading }

    /// Returns whether the run has recorded more than in another state of it.
    package func differs(from other: RunState) -> Bool {
        id != other.id || loads != other.loads || dropped != other.dropped
    }

    /// The dropped edits as a summary; nil if there are none.
    package var droppedText: String? { DroppedEdits.text(dropped, isEdit: run?.isEdit == true) }

    /// Returns a summary with the dropped edits added.
    package func complete(_ summary: String?) -> String? {
        DroppedEdits.adding(dropped, to: summary, isEdit: run?.isEdit == true)
    }
}
