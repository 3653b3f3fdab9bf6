package import Mapping
package import Model

extension StoredValue {
    /// Returns whether both are the same value of a type: decimals and JSON by value (`1.50` is `1.5`, and a null of
    /// JSON is null), others as stored.
    package func isSame(as other: StoredValue, _ type: AttributeType) -> Bool {
        if self == other { return true }
        if type == .json {
            return SameJSON.isSame(json, other.json)
        }
        guard type == .decimal, case .text(let left) = form, case .text(let right) = other.form else { return false }
        return Self.withoutZeros(left) == Self.withoutZeros(right)
    }

    /// The text of a JSON value; null where there is none.
    private var json: String { if case .text(let text) = form { text } else { "null" } }

    /// Returns a decimal, which is stored without exponent, without trailing zeros.
    private static func withoutZeros(_ text: String) -> Substring {
        guard text.contains(".") else { return text[...] }
        var text = text[...]
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }
}
