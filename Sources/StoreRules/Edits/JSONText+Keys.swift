package import StoreContract

extension JSONText {
    /// Returns a list of keys as an array of arrays.
    package static func keys(_ keys: [RowKey]) -> JSONText {
        var text = JSONText()
        text.append("[")
        for (index, key) in keys.enumerated() {
            if index > 0 { text.append(",") }
            text.append(.key(key))
        }
        text.append("]")
        return text
    }
}
