/// The parts of a WSDL's XML Schemas that the bridge needs: names, order, repetition and the kind of text.
struct SchemaSet: Sendable {
    /// All types; ``TypeID`` is an index into this array.
    private(set) var types: [SchemaType] = []
    /// The named types.
    var typeNames = DefinitionTable<TypeID>()
    /// The global elements.
    var elements = DefinitionTable<SchemaElement>()
    /// The global attributes.
    var attributes: [QName: SchemaAttribute] = [:]
    /// The types directly derived from a named type.
    var derivedTypes: [QName: [QName]] = [:]
    /// Further properties of simple types.
    var details: [TypeID: SimpleDetail] = [:]
    /// The names of named types, including built-in ones, for xsi:type.
    var namesOfTypes: [TypeID: QName] = [:]

    /// The type of undescribed content, typed by its appearance.
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

    /// Returns the type with this name, including built-in ones; ``anyType`` for an unknown name.
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

    /// Returns the global element with this name, or the only one with its local name.
    func element(named name: QName) -> SchemaElement? {
        elements[name] ?? elements.only(local: name.local)?.value
    }

    /// Returns the named type, including built-in ones, or the only one with its local name; nil for an unknown name.
    mutating func knownType(named name: QName) -> TypeID? {
        let found = type(named: name)
        return found != anyType ? found : typeNames.only(local: name.local)?.value
    }

    /// Returns the further properties of a simple type.
    func detail(_ id: TypeID) -> SimpleDetail { details[id] ?? SimpleDetail() }
}

/// The index of a type in its ``SchemaSet``.
struct TypeID: Hashable, Sendable {
    let index: Int
}

/// A type definition with its bases, groups and references resolved.
enum SchemaType: Sendable {
    /// Undescribed, or described in ways that the bridge does not support.
    case any
    case simple(SimpleKind)
    case complex(ComplexType)
}

/// The kind of value that the text of a simple type represents.
enum SimpleKind: UInt8, Sendable {
    case text, integer, decimal, double, boolean, base64, hex
}

/// The properties of a simple type other than its kind.
struct SimpleDetail: Sendable, Equatable {
    /// The local name of the built-in type from which it is derived, such as `date`.
    var builtIn = "string"
    /// The allowed values; empty for any.
    var enumeration: [String] = []
    /// Whether the text is a list of values separated by white space (XSD part 2, section 4.1.2.2).
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
    /// Whether elements other than `children` are allowed (xs:any).
    var isOpen = false
    /// Whether attributes other than `attributes` are allowed (xs:anyAttribute).
    var isAttributeOpen = false
    /// Whether documents may contain only types derived from this one.
    var isAbstract = false
    /// The local name of the built-in type from which the text of simple content is derived.
    var builtIn = "string"
    /// Whether the type is a SOAP-ENC array (SOAP 1.1, section 5.4.2): `children` holds its only member, whose name is
    /// arbitrary.
    var isArray = false

    /// The attributes that values have: WCF's numbers of objects are none.
    var valueAttributes: [SchemaAttribute] { attributes.filter { $0.namespace != Namespace.serialization } }

    /// Returns the attribute with this name; without a namespace, it may be the local name of one that has one.
    ///
    /// - Parameter isQualified: Whether only attributes in a namespace are looked at, as the name has a prefix.
    func attribute(named name: QName, inNamespace isQualified: Bool) -> SchemaAttribute? {
        let namesakes = attributes.filter { $0.name == name.local }
        if !name.namespace.isEmpty { return namesakes.first { $0.namespace == name.namespace } }
        let unqualified = isQualified ? nil : namesakes.first { $0.namespace.isEmpty }
        return unqualified ?? namesakes.first { !$0.namespace.isEmpty }
    }

    /// The local names that several elements have, each in a namespace of its own, with the namespace of the one whose
    /// member has the local name: that of the type's first element, or else the first with the name.
    var namesakes: [String: String] {
        var namespaces: [String: String] = [:]
        var repeated: Set<String> = []
        for name in children.map(\.name) {
            let isNew = namespaces[name.local] == nil
            if !isNew { repeated.insert(name.local) }
            if isNew || name.namespace == children[0].name.namespace { namespaces[name.local] = name.namespace }
        }
        return namespaces.filter { repeated.contains($0.key) }
    }

    /// The names of the elements in records and requests.
    var memberNames: [String] {
        let namesakes = namesakes
        return children.map { memberName(of: $0, namesakes) }
    }

    /// Returns the name of an element in records and requests: its local name, or `{namespace}name` for one of several
    /// with that local name that is in another namespace than the one that ``namesakes`` has.
    func memberName(of element: SchemaElement, _ namesakes: [String: String]) -> String {
        let isAbroad = (namesakes[element.name.local] ?? element.name.namespace) != element.name.namespace
        return isAbroad ? "{\(element.name.namespace)}\(element.name.local)" : element.name.local
    }

    /// Returns the element that a member of a record or a request names: by its local name, or as `{namespace}name`.
    func child(named member: String) -> SchemaElement? {
        if member.hasPrefix("{") {
            let name = QName(clark: member)
            return children.first { $0.name == name }
        }
        let alike = children.filter { $0.name.local == member }
        return alike.first { $0.name.namespace == children[0].name.namespace } ?? alike.first
    }

    /// The only element of a wrapper (`ArrayOfString`), which repeats; nil if the type allows any other content.
    var wrapped: SchemaElement? {
        guard let only = children.first, children.count == 1, only.isRepeated, attributes.isEmpty, text == nil,
            !isMixed, !isOpen, !isAttributeOpen, !isArray
        else { return nil }
        return only
    }
}

/// An attribute declared by a type.
struct SchemaAttribute: Sendable {
    var name: String
    var kind: SimpleKind
    /// The namespace; empty for an unqualified attribute.
    var namespace = ""
    var isRequired = false
    /// The default or fixed value.
    var value: String?
    /// The local name of the built-in type from which that of the value is derived.
    var builtIn = "string"
}

/// An element declared by a type or a schema.
struct SchemaElement: Sendable {
    /// The name; its namespace is empty for an unqualified local element.
    var name: QName
    var type: TypeID
    var isRepeated = false
    /// Whether others may stand in its place: it is in a choice or a substitution group.
    var isAlternative = false
    var isRequired = true
    var isNillable = false
    /// Whether documents may contain only members of the element's substitution group.
    var isAbstract = false
    /// The default or fixed value.
    var value: String?
    /// Whether `value` is the only allowed value.
    var isFixed = false
}
