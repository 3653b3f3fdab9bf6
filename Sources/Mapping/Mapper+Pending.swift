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

    /// Joins the values of attributes that combine several paths; absent when the record has none of the paths.
    func join(
        _ pending: [Pending], _ mapping: MappingPlan, _ layout: EntityLayout,
        _ row: UnsafeMutableBufferPointer<Cell>, _ arena: Arena
    ) throws(Rejection) {
        for (field, count) in mapping.joins {
            let parts = (0..<count).compactMap { part in pending.first { $0.binding == .part(field, part) } }
            guard !parts.isEmpty else { continue }
            do {
                row[field] = try mapping.converters[field].convert(parts, arena)
            } catch {
                throw Rejection(reason: "\(layout.name).\(layout.fields[field].name): \(error.reason)")
            }
        }
    }
}

extension ValueConverter {
    /// Converts the values of several paths, in the order of the paths.
    func convert(_ parts: [Mapper.Pending], _ arena: Arena) throws(Misfit) -> Cell {
        // Lists are joined with the other values, but the first value may be a list.
        let values = takesFirst ? parts.compactMap(\.whole) : parts.flatMap(\.values).map(\.json)
        return try convert(RemoteScalar.composite("[" + values.joined(separator: ",") + "]"), arena)
    }
}
