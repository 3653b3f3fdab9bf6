internal import StoreContract
internal import Mapping
internal import Model
internal import RecordBatch

/// The effect of a merge on an object's links.
enum LinkDelta {
    /// The part of the list that changed.
    case links(old: LinkSpan, new: LinkSpan)
    /// The objects whose to-one relationship no longer refers to the owner.
    case detached([[StoredValue]], EntityLayout.ToOne)
}

/// A part of a relationship's targets, as `bmo_changes` stores it before and after a change.
///
/// Seen from the source, `start` is the position of the targets in its list. Seen from the target, the object has a
/// position of its own in the list of each source.
struct LinkSpan: Equatable {
    var start: Int?
    var keys: [[StoredValue]]
    var positions: [Int64] = []

    /// Returns JSON such as `{"relationship": "languages", "at": 0, "keys": [["fr"]]}`.
    func json(_ relationship: String) -> JSONText {
        var text = JSONText()
        text.append("{")
        text.beginMember("relationship")
        text.append(string: relationship)
        if let start {
            text.beginMember("at")
            text.append(number: start)
        }
        text.beginMember("keys")
        text.append("[")
        for (index, key) in keys.enumerated() {
            if index > 0 { text.append(",") }
            text.append(.key(key))
        }
        text.append("]")
        if start == nil {
            text.beginMember("positions")
            text.append(.key(positions.map { StoredValue.integer($0) }))
        }
        text.append("}")
        return text
    }

    /// Returns the difference between two lists, without their common beginning and end.
    static func difference(_ old: [[StoredValue]], _ new: [[StoredValue]]) -> LinkDelta {
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
