internal import BridgeKit

/// How to read the replies of one operation: its schema with numbers for names, and the paths that matter.
///
/// Made once per fetch and shared by its pages.
struct ReplyPlan: Sendable {
    /// A type's number in a plan of a ``SchemaSet``: its index there.
    typealias TypeNumber = Int32

    struct Child: Sendable {
        let name: Int32
        let type: TypeNumber
        let isRepeated: Bool
    }

    /// By the number of the name with its `@`.
    struct Attribute: Sendable {
        let name: Int32
        let kind: SimpleKind
    }

    /// What a type says of an element's content.
    ///
    /// Without references, since each event of a reply looks at one: what it has many of is in the plan's own arrays.
    struct ContentType: Sendable {
        fileprivate var firstChild: Int32 = 0
        fileprivate(set) var childCount: Int32 = 0
        fileprivate var firstAttribute: Int32 = 0
        fileprivate(set) var attributeCount: Int32 = 0
        /// The kind of the text; nil where there is none (element content) or nothing is known.
        var text: SimpleKind?
        var isComplex = false
        var isMixed = false
        /// Other elements may come than `children`.
        var isOpen = true
        /// Simple content with attributes is always an object, so that its shape does not depend on the instance.
        var isAlwaysObject = false
        /// The text is a list of values.
        var isList = false
        /// A SOAP-ENC array, whose members may have any name.
        var isArray = false
        /// An empty text is no value of the type.
        var isEmptyNull = false
    }

    /// Values of a reply that paging needs, by their place in ``captures``.
    enum Capture: Int, Sendable, CaseIterable {
        case total, token, more, done
    }

    var names = NameTable()
    let types: [ContentType]
    private let children: [Child]
    private let attributes: [Attribute]
    let typeNames: [QName: TypeNumber]
    /// The types whose local name no other type has.
    private let localTypes: [String: TypeNumber]
    /// The types of global elements, for what a fault holds.
    let elementTypes: [QName: TypeNumber]
    /// What the body may hold.
    let body: [Child]
    let bodyNamespaces: [String]
    /// The reply is in SOAP encoding.
    let isEncoded: Bool
    /// From the body's element to a record.
    let recordPath: [Int32]
    /// From the body's element to a value, by ``Capture``; empty for none.
    ///
    /// The last name may be that of an attribute.
    let captures: [[Int32]]

    /// The type of what is not described.
    static let anyType: TypeNumber = 0
    /// The number of a path's `*`.
    let wildcard: Int32
    /// The numbers of the keys `#text` and `@xsi:type`.
    let textName: Int32
    let typeName: Int32
    private let firstSimpleType: TypeNumber
    /// An array whose members nobody describes.
    let arrayType: TypeNumber

    /// Compiles the plan.
    ///
    /// - Parameter records: The path; empty for no records, when only a fault or a capture is of interest.
    /// - Throws: ``BridgeError`` configuration for a path that the schema contradicts, with the names it has.
    init(
        operation: WSDLOperation, schemas: SchemaSet, records: [String], total: [String] = [], token: [String] = [],
        more: [String] = [], done: [String] = []
    ) throws(BridgeError) {
        let paths = ReplyPaths(operation, schemas)
        let records = records.isEmpty ? [] : try paths.checked(records, option: "records")
        var names = NameTable()
        textName = names.number("#text")
        typeName = names.number("@xsi:type")
        wildcard = names.number("*")
        recordPath = records.map { names.number($0) }
        var captures: [[Int32]] = []
        for (path, option) in [
            (total, "paging.total"), (token, "paging.token"), (more, "paging.more"), (done, "paging.done"),
        ] {
            let checked = path.isEmpty ? [] : try paths.checked(path, option: option)
            captures.append(checked.map { names.number($0) })
        }
        self.captures = captures
        var types: [ContentType] = []
        var children: [Child] = []
        var attributes: [Attribute] = []
        for (index, type) in schemas.types.enumerated() {
            var content = Self.content(type, schemas.details[TypeID(index: index)])
            if case .complex(let complex) = type {
                content.firstChild = Int32(children.count)
                content.childCount = Int32(complex.children.count)
                for element in complex.children { children.append(Self.child(element, &names)) }
                content.firstAttribute = Int32(attributes.count)
                content.attributeCount = Int32(complex.attributes.count)
                attributes += complex.attributes.map { Attribute(name: names.number("@" + $0.name), kind: $0.kind) }
            }
            types.append(content)
        }
        self.children = children
        self.attributes = attributes
        firstSimpleType = TypeNumber(types.count)
        for raw in 0...SimpleKind.hex.rawValue {
            let kind = SimpleKind(rawValue: raw) ?? .text
            types.append(Self.content(.simple(kind), SimpleDetail(builtIn: kind.builtInName)))
        }
        arrayType = TypeNumber(types.count)
        var array = ContentType()
        array.isArray = true
        array.isComplex = true
        types.append(array)
        self.types = types
        typeNames = schemas.typeNames.all.mapValues { TypeNumber($0.index) }
        var local: [String: TypeNumber?] = [:]
        for (name, type) in typeNames where !name.isBuiltIn {
            local[name.local] = local[name.local] == nil ? type : .some(nil)
        }
        localTypes = local.compactMapValues(\.self)
        elementTypes = schemas.elements.all.mapValues { TypeNumber($0.type.index) }
        body = operation.output.elements.map { Self.child($0, &names) }
        bodyNamespaces = operation.output.elements.map(\.name.namespace)
        isEncoded = operation.output.isEncoded
        self.names = names
    }

    /// The type that an xsi:type names, if it is known.
    func type(named name: QName) -> TypeNumber? {
        let name = QName(Namespace.drafts[name.namespace] ?? name.namespace, name.local)
        if let known = typeNames[name] { return known }
        if name.isBuiltIn {
            if name.local == "Array" { return arrayType }
            if let kind = SimpleKind(builtIn: name.local) { return firstSimpleType + TypeNumber(kind.rawValue) }
        }
        return localTypes[name.local]
    }

    private static func child(_ element: SchemaElement, _ names: inout NameTable) -> Child {
        Child(
            name: names.number(element.name.local), type: TypeNumber(element.type.index), isRepeated: element.isRepeated
        )
    }

    /// A type's child at an index below its `childCount`.
    func child(_ index: Int, of type: ContentType) -> Child { children[Int(type.firstChild) + index] }

    /// The attribute that a type declares under this number; nil for none.
    func attribute(_ name: Int32, of type: ContentType) -> Attribute? {
        for index in 0..<Int(type.attributeCount) where attributes[Int(type.firstAttribute) + index].name == name {
            return attributes[Int(type.firstAttribute) + index]
        }
        return nil
    }

    private static func content(_ type: SchemaType, _ detail: SimpleDetail?) -> ContentType {
        var content = ContentType()
        switch type {
        case .any: break
        case .simple(let kind):
            content.text = kind
            content.isList = detail?.isList ?? false
            content.isEmptyNull = Self.isEmptyNull(kind, detail)
            content.isOpen = false
        case .complex(let complex):
            content.text = complex.text
            content.isComplex = complex.text == nil
            content.isMixed = complex.isMixed
            content.isOpen = complex.isOpen
            content.isArray = complex.isArray
            content.isAlwaysObject = complex.text != nil && !complex.attributes.isEmpty
            if let kind = complex.text { content.isEmptyNull = Self.isEmptyNull(kind, nil) }
        }
        return content
    }

    private static func isEmptyNull(_ kind: SimpleKind, _ detail: SimpleDetail?) -> Bool {
        switch kind {
        case .integer, .decimal, .double, .boolean: true
        case .base64, .hex: false
        case .text:
            ["date", "time", "dateTime", "duration", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"].contains(
                detail?.builtIn)
        }
    }
}
