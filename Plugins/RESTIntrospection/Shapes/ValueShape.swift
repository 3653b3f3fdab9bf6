/// The known facts about the values at one place of a reply, from a document or a sample.
package struct ValueShape: Sendable {
    enum Kind: String, Hashable, Sendable {
        case null, boolean, integer, number, string, array, object
    }

    /// The possible kinds, or an empty set if any value is possible.
    var kinds: Set<Kind> = []
    /// A format of OpenAPI (`date-time`, `uuid`, ...), or one of the bridge's own: `decimal`, `unix-time`,
    /// `unix-milliseconds`.
    var format: String?
    /// The name of the schema.
    var name: String?
    var properties: [(name: String, shape: ValueShape)] = []
    var required: Set<String> = []
    /// The elements of an array, or the values of an object whose member names are data.
    var elements: [ValueShape] = []
    var isMap = false
    /// The allowed texts.
    var values: [String] = []
    var isWriteOnly = false
    var isReadOnly = false
    /// Whether the kind is integer since the place identifies something, although the document says number.
    var isAssumedInteger = false
    /// The observations from a sample.
    var seen: Seen?

    /// The common properties of a sample's values.
    struct Seen: Sendable {
        var count = 0
        var isUnique = false
        /// Whether each record has a value that is not null.
        var isComplete = false
        /// Whether some texts were empty.
        var hasEmpty = false
        /// Whether some times lack a zone.
        var lacksZone = false
        /// The scalars in JSON notation, texts with a leading quote; incomplete if there are many.
        var scalars: Set<String> = []
    }

    var element: ValueShape? { elements.first }
    /// The kinds except null.
    var solid: Set<Kind> { kinds.subtracting([.null]) }
    var isObject: Bool { solid == [.object] }
    var isArray: Bool { solid == [.array] }
    var isScalar: Bool { !solid.isEmpty && solid.isDisjoint(with: [.array, .object]) }

    subscript(name: String) -> ValueShape? { properties.first { $0.name == name }?.shape }

    subscript(path: [String]) -> ValueShape? {
        var shape: ValueShape? = self
        for name in path { shape = shape?[name] }
        return shape
    }

    /// Returns the union of two shapes, as for `oneOf` and for further records.
    func merged(with other: ValueShape) -> ValueShape {
        var union = ShapeUnion(self)
        union.merge(with: other)
        return union.shape
    }

    /// Returns the shape that two parts of `allOf` describe together.
    ///
    /// Where they contradict each other, as a general page of lists and a page of certain objects do, the one that says
    /// more holds, or else the other one's.
    func narrowed(by other: ValueShape) -> ValueShape {
        var union = ShapeUnion(self)
        union.narrow(by: other)
        return union.shape
    }

    /// Takes a document's number without a format for an integer, since it identifies something.
    mutating func assumeInteger() {
        guard seen == nil, format == nil, solid == [.number] else { return }
        kinds.remove(.number)
        kinds.insert(.integer)
        isAssumedInteger = true
    }

    /// Returns what both parts of `allOf` say of one place.
    func agreed(with other: ValueShape) -> ValueShape {
        guard contradicts(other) else { return narrowed(by: other) }
        return other.isBare && !isBare ? self : other
    }

    private func contradicts(_ other: ValueShape) -> Bool {
        let numbers: Set<Kind> = [.integer, .number]
        return !solid.isEmpty && !other.solid.isEmpty && solid.isDisjoint(with: other.solid)
            && !(solid.isSubset(of: numbers) && other.solid.isSubset(of: numbers))
    }

    /// Whether only the kind is known.
    private var isBare: Bool { properties.isEmpty && elements.isEmpty }
}
