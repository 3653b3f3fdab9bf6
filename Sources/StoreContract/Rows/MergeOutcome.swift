/// How an object appeared in a page.
public enum RowRole: Sendable, Equatable {
    /// As a record of its entity's own listing.
    case listed
    /// Inside another object, or as a record of a further source.
    case nested
    /// As a key only.
    case reference
}

/// The outcome of merging one object.
public enum MergeOutcome: Sendable, Equatable {
    /// The row is new.
    case inserted
    /// At least one value of the row changed.
    case updated
    /// The row has these values already.
    case unchanged
}
