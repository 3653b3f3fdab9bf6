/// A row that prevents a run from being undone.
public struct UndoConflict: Sendable, Equatable, CustomStringConvertible {
    /// The entity.
    public var entity: String
    /// The row's key as a JSON array.
    public var key: String?
    /// The reason.
    public var reason: String

    /// The row and the reason, in one line.
    public var description: String { "\(entity) \(key ?? "(all)"): \(reason)" }

    /// Creates a value.
    package init(
        entity: String, key: String? = nil, reason: String
    ) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}

/// The error thrown when a run cannot be undone.
public struct UndoRefusal: Error, Sendable, CustomStringConvertible {
    /// The run.
    public var run: Int64
    /// The rows that prevent it; only the first if there are very many.
    public var conflicts: [UndoConflict]
    /// The total number of these rows.
    public var count: Int

    /// The refusal in one line, without the rows.
    public var description: String {
        "run \(run) is not undone: \(count) of its rows \(count == 1 ? "has" : "have") changed since; nothing was written"
    }

    /// Creates a value.
    package init(
        run: Int64, conflicts: [UndoConflict], count: Int
    ) {
        self.run = run
        self.conflicts = conflicts
        self.count = count
    }
}
