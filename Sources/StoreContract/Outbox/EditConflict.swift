public import Mapping

/// A column that was changed both locally and on the remote.
public struct EditConflict: Sendable, Equatable {
    /// The object's entity.
    public var entity: String
    /// The object's key.
    public var key: [StoredValue]
    /// The column; nil if the remote deleted the object, or changed one that was deleted locally.
    public var column: String?
    /// The base value of the edit.
    public var base: StoredValue?
    /// The local value.
    public var local: StoredValue?
    /// The remote value; nil if the remote deleted the object.
    public var remote: StoredValue?
    /// When the conflict was found, as ISO 8601.
    public var seen: String

    /// Creates a conflict.
    public init(
        entity: String, key: [StoredValue], column: String?, base: StoredValue?, local: StoredValue?,
        remote: StoredValue?, seen: String
    ) {
        self.entity = entity
        self.key = key
        self.column = column
        self.base = base
        self.local = local
        self.remote = remote
        self.seen = seen
    }

    /// Returns a conflict of a whole object, found now.
    package static func ofWholeObject(_ entity: String, _ key: [StoredValue]) -> EditConflict {
        EditConflict(entity: entity, key: key, column: nil, base: nil, local: nil, remote: nil, seen: Clock.now())
    }
}

/// The side whose value is kept.
public enum ConflictSide: String, Sendable, CaseIterable {
    /// The value of the local edit.
    case local
    /// The remote's value.
    case remote
}
