package import Mapping

/// A part of a relationship's targets, as the history stores it before and after a change.
///
/// Seen from the source, `start` is the position of the targets in its list. Seen from the target, the object has a
/// position of its own in the list of each source.
package struct LinkSpan: Equatable, Sendable {
    package var start: Int?
    package var keys: [[StoredValue]]
    package var positions: [Int64] = []

    package init(start: Int?, keys: [[StoredValue]], positions: [Int64] = []) {
        self.start = start
        self.keys = keys
        self.positions = positions
    }

    /// Returns the difference between two lists, without their common beginning and end.
    package static func difference(_ old: [[StoredValue]], _ new: [[StoredValue]]) -> LinkDelta {
        let shorter = min(old.count, new.count)
        var start = 0
        while start < shorter, old[start] == new[start] { start += 1 }
        var end = 0
        while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
        return .links(
            old: LinkSpan(start: start, keys: Array(old[start..<old.count - end])),
            new: LinkSpan(start: start, keys: Array(new[start..<new.count - end])))
    }
}

/// The effect of a merge on an object's links.
package enum LinkDelta {
    /// The part of the list that changed.
    case links(old: LinkSpan, new: LinkSpan)
    /// The objects whose to-one relationship no longer refers to the owner.
    case detached([[StoredValue]], EntityLayout.ToOne)
}
