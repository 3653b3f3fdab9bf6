/// The description of a run at its beginning.
package struct RunDescription: Sendable {
    /// The kind of run: a sync, an undo, a retry of the quarantine.
    package var kind: String
    /// When it began, as ISO 8601.
    package var started: String
    /// The run that it undoes.
    package var undoes: Int64?
    /// Whether it is a single transaction of local edits, which records every row, including the first of a table.
    package var isEdit = false

    package init(kind: String, started: String, undoes: Int64? = nil, isEdit: Bool = false) {
        self.kind = kind
        self.started = started
        self.undoes = undoes
        self.isEdit = isEdit
    }
}
