/// What the bridge needs to know of the XML Schemas of a WSDL: names, order, repetition and the kind of text.
struct SchemaSet: Sendable {
    /// All types; ``TypeID`` is an index into it.
    private(set) var types: [SchemaType] = []
    /// The named types, for xsi:type.
    var typeNames = DefinitionTable<TypeID>()
    /// The global elements.
    var elements = DefinitionTable<SchemaElement>()
    /// The global attributes.
    var attributes: [QName: SchemaAttribute] = [:]
    /// The types that name this one as their base, directly.
    var derivedTypes: [QName: [QName]] = [:]
    /// What else is known of simple types.
    var details: [TypeID: SimpleDetail] = [:]
    /// The names of named types, built-in ones too: what an xsi:type says.
    var namesOfTypes: [TypeID: QName] = [:]

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

    /// The type of this name, built-in ones too; ``anyType`` for an unknown one.
    mutating func type(named name: QName) -> TypeID {
        if let known = typeNames[name] { return known }
        guard name.isBuiltIn, let kind = SimpleKind(builtIn: name.local) else { return anyType }
        return addBuiltIn(name, kind)
    }

    /// Adds a built-in type under its name.
    mutating func addBuiltIn(_ name: QName, _ kind: SimpleKind) -> TypeID {
        let id = add(.simple(kind))
        details[id] = SimpleDetail(builtIn: name.local, isList: SimpleDetail.lists.contains(name.local))
        typeNames[name] = id
        namesOfTypes[id] = QName(Namespace.schema, name.local == "base64" ? "base64Binary" : name.local)
        return id
    }

    /// The global element of this name, or the only one of its local name.
    func element(named name: QName) -> SchemaElement? {
        elements[name] ?? elements.only(local: name.local)?.value
    }

    /// The named type, built-in ones too, or the only one of its local name; nil for none.
    mutating func knownType(named name: QName) -> TypeID? {
        let found = type(named: name)
        return found != anyType ? found : typeNames.only(local: name.local)?.value
    }

    /// What else is known of a simple type.
    func detail(_ id: TypeID) -> SimpleDetail { details[id] ?? SimpleDetail() }
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

/// What is known of a simple type besides its kind.
struct SimpleDetail: Sendable, Equatable {
    /// The local name of the built-in type that it comes from, such as `date`.
    var builtIn = "string"
    /// The values that it may have; empty for any.
    var enumeration: [String] = []
    /// A list of values with white space between them (XSD part 2, section 4.1.2.2).
    var isList = false

    /// The built-in types that are lists.
    static let lists: Set<String> = ["NMTOKENS", "IDREFS", "ENTITIES"]
}

/// A complex type's children in schema order, and its attributes.
struct ComplexType: Sendable {
    var children: [SchemaElement] = []
    var attributes: [SchemaAttribute] = []
    /// The kind of the text of simple content (XSD part 1, section 3.4); nil for element content.
    var text: SimpleKind?
    var isMixed = false
    /// Other elements than `children` may come (xs:any).
    var isOpen = false
    /// Other attributes than `attributes` may come (xs:anyAttribute).
    var isAttributeOpen = false
    /// Only a derived type may stand in a document.
    var isAbstract = false
    /// A SOAP-ENC array (SOAP 1.1, section 5.4.2): `children` has its one member, which may have any name.
    var isArray = false
}

/// An attribute as a type declares it.
struct SchemaAttribute: Sendable {
    var name: String
    var kind: SimpleKind
    /// Empty for an unqualified one.
    var namespace = ""
    var isRequired = false
    /// Its default or fixed value.
    var value: String?
}

/// An element as a type or a schema declares it.
struct SchemaElement: Sendable {
    /// Its name; the namespace is empty for a local element that is unqualified.
    var name: QName
    var type: TypeID
    var isRepeated = false
    var isRequired = true
    var isNillable = false
    /// Only a member of its substitution group may stand in a document.
    var isAbstract = false
    /// Its default or fixed value.
    var value: String?
    /// `value` is the only one it may have.
    var isFixed = false
}
