/// What the bridge needs to know of the XML Schemas of a WSDL: names, order, repetition and the kind of text.
struct SchemaSet: Sendable {
    /// All types; ``TypeID`` is an index into it.
    private(set) var types: [SchemaType] = []
    /// The named types, for xsi:type.
    var typeNames: [QName: TypeID] = [:]
    /// The global elements.
    var elements: [QName: SchemaElement] = [:]

    /// The type of what is not described: read by what it looks like.
    let anyType: TypeID

    init() {
        types = [.any]
        anyType = TypeID(index: 0)
    }

    subscript(id: TypeID) -> SchemaType {
        get { types[id.index] }
        set { types[id.index] = newValue }
    }

    /// Adds a type.
    mutating func add(_ type: SchemaType) -> TypeID {
        types.append(type)
        return TypeID(index: types.count - 1)
    }
}

/// A type's place in its ``SchemaSet``.
struct TypeID: Hashable, Sendable {
    let index: Int
}

/// A type definition, resolved: bases, groups and references are followed.
enum SchemaType: Sendable {
    /// Not described, or described by what the bridge does not read.
    case any
    case simple(SimpleKind)
    case complex(ComplexType)
}

/// What the text of a simple type becomes.
enum SimpleKind: UInt8, Sendable {
    case text, integer, decimal, double, boolean, base64, hex
}

/// A complex type's children in schema order, and its attributes.
struct ComplexType: Sendable {
    var children: [SchemaElement] = []
    var attributes: [(name: String, kind: SimpleKind)] = []
    /// The kind of the text of simple content (XSD part 1, section 3.4); nil for element content.
    var text: SimpleKind?
    var isMixed = false
    /// Other elements than `children` may come (xs:any).
    var isOpen = false
}

/// An element as a type or a schema declares it.
struct SchemaElement: Sendable {
    /// Its name; the namespace is empty for a local element that is unqualified.
    var name: QName
    var type: TypeID
    var isRepeated = false
    var isRequired = true
    var isNillable = false
}
