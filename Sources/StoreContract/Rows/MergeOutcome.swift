/// How an object appeared in a page.
public enum RowRole: Sendable, Equatable {
    /// As a record of its entity's own listing.
    case listed
    /// As a record of another listing of its family: that of a super-entity, where its entity has a listing of its own, or
    /// that of another sub-entity. It counts as a listed one, except that its own listing may lack it.
    case listedElsewhere
    /// Inside another object, or as a record of a further source.
    case nested
    /// As a key only.
    case reference

    /// Whether the object is a record of a listing.
    package var isOfListing: Bool { self == .listed || self == .listedElsewhere }
    /// Whether a new row of the object has not been in its own listing.
    package var isUnlisted: Bool { self == .nested || self == .listedElsewhere }
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
