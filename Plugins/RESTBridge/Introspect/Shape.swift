/// What is known of the values at one place of a reply: said by a document, or seen in a sample.
struct Shape: Sendable {
    enum Kind: String, Hashable, Sendable {
        case null, boolean, integer, number, string, array, object
    }

    /// Empty where nothing is known: any value.
    var kinds: Set<Kind> = []
    /// A format of OpenAPI (`date-time`, `uuid`, ...), or one of ours: `decimal`, `unix-time`, `unix-milliseconds`.
    var format: String?
    /// The name of the schema that says this.
    var name: String?
    var properties: [(name: String, shape: Shape)] = []
    var required: Set<String> = []
    /// The elements of an array, or the members' values of an object whose names are data.
    var elements: [Shape] = []
    var isMap = false
    /// The texts that are allowed.
    var values: [String] = []
    var isWriteOnly = false
    /// What a sample showed.
    var seen: Seen?

    /// What the values of a sample had in common.
    struct Seen: Sendable {
        var count = 0
        var isUnique = false
        /// In each record, and never null.
        var isComplete = false
        /// Some texts were empty.
        var hasEmpty = false
        /// Its scalars as JSON has them, texts with a quote in front; not all where they are many.
        var scalars: Set<String> = []
    }

    var element: Shape? { elements.first }
    /// The kinds without null.
    var solid: Set<Kind> { kinds.subtracting([.null]) }
    var isObject: Bool { solid == [.object] }
    var isArray: Bool { solid == [.array] }
    var isScalar: Bool { !solid.isEmpty && solid.isDisjoint(with: [.array, .object]) }

    subscript(name: String) -> Shape? { properties.first { $0.name == name }?.shape }

    subscript(path: [String]) -> Shape? {
        var shape: Shape? = self
        for name in path { shape = shape?[name] }
        return shape
    }

    /// The union of two shapes: what `oneOf` and further records make of them.
    func merged(with other: Shape) -> Shape {
        var result = self
        result.kinds.formUnion(other.kinds)
        if kinds.isEmpty || other.kinds.isEmpty { result.kinds = kinds.isEmpty ? other.kinds : kinds }
        result.format = format ?? other.format
        result.name = name ?? other.name
        for (name, shape) in other.properties {
            if let index = result.properties.firstIndex(where: { $0.name == name }) {
                result.properties[index].shape = result.properties[index].shape.merged(with: shape)
            } else {
                result.properties.append((name, shape))
            }
        }
        if let more = other.element { result.elements = [element.map { $0.merged(with: more) } ?? more] }
        result.values =
            values.isEmpty || other.values.isEmpty ? [] : values + other.values.filter { !values.contains($0) }
        result.isMap = isMap || other.isMap
        return result
    }
}
