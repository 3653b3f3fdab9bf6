internal import Mapping
internal import RecordBatch

/// Compares JSON values: numbers by value, and objects in any order of their members.
///
/// A remote that stores JSON returns it in its own notation: `100.0` for `1e2`, and members in another order.
enum SameJSON {
    /// Returns whether two texts are the same JSON value; false if one is not JSON.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard let left = try? JSONParser.batch(left), let right = try? JSONParser.batch(right), left.count == 1,
            right.count == 1
        else { return false }
        return withExtendedLifetime((left, right)) { isSame(left[0], right[0]) }
    }

    private static func isSame(_ left: BatchValue, _ right: BatchValue) -> Bool {
        if let left = number(left), let right = number(right) { return left == right }
        guard left.tag == right.tag else { return false }
        switch left.tag {
        case .object:
            // Of two members with one name, a mapping takes the last.
            let own = members(left)
            let others = members(right)
            return own.count == others.count
                && own.allSatisfy { name, value in others[name].map { isSame(value, $0) } ?? false }
        case .array:
            return left.count == right.count && (0..<left.count).allSatisfy { isSame(left[$0], right[$0]) }
        case .null: return true
        case .bool: return left.bool == right.bool
        default: return left.json.utf8.elementsEqual(right.json.utf8)
        }
    }

    private static func members(_ object: BatchValue) -> [ExactText: BatchValue] {
        Dictionary(object.members.map { (ExactText($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }

    /// Returns a number as the text that all equal numbers share; nil for another value, and for a huge number.
    private static func number(_ value: BatchValue) -> StoredValue? {
        switch value.tag {
        case .int64, .double, .decimal:
            let decimal = StoredValue.text(value.json).asDecimal
            if case .decimal = decimal { return decimal }
            return nil
        default: return nil
        }
    }
}
