/// How many objects of an entity a table of bookkeeping has: the table keeps it right, and others look at it for each row.
final class ObjectCount {
    var value = 0
}

/// How many objects of an entity have local edits that an import has to look at.
struct EditCounts {
    /// With edits that wait to be sent.
    let waiting: ObjectCount
    /// With edits that the remote took while walks were on their way.
    let taken: ObjectCount

    var isAny: Bool { waiting.value > 0 || taken.value > 0 }
}
