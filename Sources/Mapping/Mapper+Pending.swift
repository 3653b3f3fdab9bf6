internal import RecordBatch
internal import TextFormats

extension Mapper {
    /// A relationship value to follow once the object's key is known.
    struct Pending {
        let binding: PathNode.Binding
        /// The elements of a list, or the single value.
        ///
        /// A null refers to no object.
        var values: [BatchValue]
        /// Whether they are the elements of a list.
        var isList = false

        /// The value as it came; nil for an empty list.
        var whole: String? {
            guard isList else { return values.first?.json }
            return values.isEmpty ? nil : "[" + values.map(\.json).joined(separator: ",") + "]"
        }

        /// Removes the values that the configuration lists as referring to no object.
        mutating func drop(_ nulls: Set<ExactText>) {
            values.removeAll { value in RemoteScalar(value).text.map { nulls.contains(ExactText($0)) } ?? false }
        }
    }
}
