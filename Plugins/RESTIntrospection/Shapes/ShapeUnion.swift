/// A shape that is put together from others, whose properties are found by their names.
///
/// A document may have thousands of parts of one `allOf`, or of alternatives, each with properties of its own.
struct ShapeUnion {
    var shape: ValueShape
    /// The indices of the properties by name, once there are many.
    private var places: [String: Int] = [:]
    private static let few = 8

    init(_ shape: ValueShape) { self.shape = shape }

    /// Adds the values of another shape, as those of an alternative.
    mutating func merge(with other: ValueShape) { add(other) { $0.merged(with: $1) } }

    /// Adds what another part of `allOf` says.
    mutating func narrow(by other: ValueShape) {
        add(other) { $0.agreed(with: $1) }
        shape.isReadOnly = shape.isReadOnly || other.isReadOnly
    }

    /// Sets the shape of a property.
    mutating func set(_ property: ValueShape, for name: String) {
        if let place = place(of: name) {
            shape.properties[place].shape = property
        } else {
            append(property, for: name)
        }
    }

    /// - Parameter combine: Returns the shape of a property that both have.
    private mutating func add(_ other: ValueShape, _ combine: (ValueShape, ValueShape) -> ValueShape) {
        let kinds = shape.kinds
        shape.kinds.formUnion(other.kinds)
        if kinds.isEmpty || other.kinds.isEmpty { shape.kinds = kinds.isEmpty ? other.kinds : kinds }
        shape.format = shape.format ?? other.format
        shape.name = shape.name ?? other.name
        for (name, theirs) in other.properties {
            if let place = place(of: name) {
                shape.properties[place].shape = combine(shape.properties[place].shape, theirs)
            } else {
                append(theirs, for: name)
            }
        }
        if let more = other.element { shape.elements = [shape.element.map { combine($0, more) } ?? more] }
        if shape.values.isEmpty || other.values.isEmpty {
            shape.values = []
        } else {
            let known = Set(shape.values)
            shape.values += other.values.filter { !known.contains($0) }
        }
        shape.isMap = shape.isMap || other.isMap
    }

    private mutating func append(_ property: ValueShape, for name: String) {
        if !places.isEmpty { places[name] = shape.properties.count }
        shape.properties.append((name, property))
    }

    private mutating func place(of name: String) -> Int? {
        guard shape.properties.count > Self.few else { return shape.properties.firstIndex { $0.name == name } }
        if places.isEmpty {
            places = Dictionary(
                shape.properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return places[name]
    }
}
