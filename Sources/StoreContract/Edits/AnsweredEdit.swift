/// What the remote's reply to an edit says about later edits of the same object.
///
/// A value in the reply of something that the edit set is the one on which a later edit of it is based, even if the remote
/// made another value of it. Anything else in the reply may be another client's change.
package struct AnsweredEdit: Sendable, Equatable {
    /// The columns and relationships that the edit set; nil for a new object, all of whose values are the reply's.
    private let names: Set<String>?
    /// The columns and relationships with a conflict that a person has to decide.
    package var undecided: Set<String> = []

    /// Creates the answer to an edit.
    package init(_ entry: OutboxEntry) {
        names = entry.operation == .create ? nil : Set(entry.changes.map(\.name) + entry.links.map(\.relationship))
    }

    /// Returns whether later edits of a column or relationship are based on the reply's value.
    package func includes(_ name: String) -> Bool { !undecided.contains(name) && names?.contains(name) != false }
}
