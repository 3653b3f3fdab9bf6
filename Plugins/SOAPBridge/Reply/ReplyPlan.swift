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

    /// What a type says of an element's content.
    struct ContentType: Sendable {
        var children: [Child] = []
        /// By the number of the name with its `@`.
        var attributes: [(name: Int32, kind: SimpleKind)] = []
        /// The kind of the text; nil where there is none (element content) or nothing is known.
        var text: SimpleKind?
        var isComplex = false
        var isMixed = false
        /// Simple content with attributes is always an object, so that its shape does not depend on the instance.
        var isAlwaysObject = false
    }

    var names = NameTable()
    var types: [ContentType]
    let typeNames: [QName: TypeNumber]
    /// What the body may hold.
    let body: [Child]
    /// From the body's element to a record.
    let recordPath: [Int32]
    /// From the body's element to the number of all records; empty for none.
    ///
    /// The last may be an attribute.
    let totalPath: [Int32]

    /// The type of what is not described.
    static let anyType: TypeNumber = 0
    /// The numbers of the keys `#text` and `@xsi:type`.
    let textName: Int32
    let typeName: Int32
    private let firstSimpleType: TypeNumber

    /// Compiles the plan.
    ///
    /// - Throws: ``BridgeError`` configuration for a path that the schema contradicts, with the names it has.
    init(operation: WSDLOperation, schemas: SchemaSet, records: [String], total: [String]) throws(BridgeError) {
        try Self.check(records, operation, schemas, option: "records")
        if !total.isEmpty { try Self.check(total, operation, schemas, option: "paging.total") }
        var names = NameTable()
        textName = names.number("#text")
        typeName = names.number("@xsi:type")
        recordPath = records.map { names.number($0) }
        totalPath = total.map { names.number($0) }
        var types: [ContentType] = []
        for type in schemas.types { types.append(Self.content(type, &names)) }
        firstSimpleType = TypeNumber(types.count)
        for raw in 0...SimpleKind.hex.rawValue {
            var content = ContentType()
            content.text = SimpleKind(rawValue: raw)
            types.append(content)
        }
        self.types = types
        typeNames = schemas.typeNames.mapValues { TypeNumber($0.index) }
        body = operation.output.elements.map { Self.child($0, &names) }
        self.names = names
    }

    /// The type that an xsi:type names, if it is known.
    func type(named name: QName) -> TypeNumber? {
        if let known = typeNames[name] { return known }
        guard name.namespace == Namespace.schema, let kind = SimpleKind(builtIn: name.local) else { return nil }
        return firstSimpleType + TypeNumber(kind.rawValue)
    }

    private static func child(_ element: SchemaElement, _ names: inout NameTable) -> Child {
        Child(
            name: names.number(element.name.local), type: TypeNumber(element.type.index), isRepeated: element.isRepeated
        )
    }

    private static func content(_ type: SchemaType, _ names: inout NameTable) -> ContentType {
        var content = ContentType()
        switch type {
        case .any: break
        case .simple(let kind): content.text = kind
        case .complex(let complex):
            for element in complex.children { content.children.append(child(element, &names)) }
            content.attributes = complex.attributes.map { (names.number("@" + $0.name), $0.kind) }
            content.text = complex.text
            content.isComplex = complex.text == nil
            content.isMixed = complex.isMixed
            content.isAlwaysObject = complex.text != nil && !complex.attributes.isEmpty
        }
        return content
    }

    /// Walks a path along the schema as far as it is described: a typing error must not look like an empty listing.
    private static func check(
        _ path: [String], _ operation: WSDLOperation, _ schemas: SchemaSet, option: String
    ) throws(BridgeError) {
        var children = operation.output.elements
        var isOpen = children.isEmpty
        var place = "the reply of \"\(operation.name)\""
        for (index, name) in path.enumerated() {
            if name.hasPrefix("@"), index == path.count - 1, index > 0 { return }
            guard let found = children.first(where: { $0.name.local == name }) else {
                if isOpen { return }
                throw BridgeError(
                    .configuration, "\"\(option)\" names \"\(name)\", but \(place) has no such element",
                    remedy: "its elements: \(NearestName.list(children.map(\.name.local), to: name))")
            }
            place = "<\(name)>"
            switch schemas[found.type] {
            case .any: return
            case .simple: (children, isOpen) = ([], false)
            case .complex(let type): (children, isOpen) = (type.children, type.isOpen)
            }
        }
    }
}
