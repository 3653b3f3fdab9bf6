/// The runs after a run that are still in effect: a run that was undone and its undo cancel each other out.
package struct LaterRuns: Sendable {
    private var cancelled: Set<Int64> = []
    /// The run that undid this run, if it is still in effect.
    package private(set) var undoneBy: Int64?

    /// Looks at the undos after a run, newest first.
    package init(than run: Int64, undos: [(id: Int64, undone: Int64)]) {
        for (id, undone) in undos where !cancelled.contains(id) {
            if undone == run {
                undoneBy = undoneBy ?? id
            } else if undone > run {
                cancelled.formUnion([id, undone])
            }
        }
    }

    /// Whether a later run is still in effect.
    package func contains(_ run: Int64) -> Bool { !cancelled.contains(run) }
}
