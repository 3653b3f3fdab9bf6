internal import Mapping

/// The order of keys, as the server sorts them.
enum KeyOrder {
    static func precedes(_ left: [StoredValue], _ right: [StoredValue]) -> Bool {
        for (left, right) in zip(left, right) where left != right { return precedes(left, right) }
        return left.count < right.count
    }

    private static func precedes(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): ExactText(left) < ExactText(right)
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        default: false
        }
    }
}
