internal import BridgeKit
internal import Inference

/// Instructions to read the replies of one operation: its schema with numbers for names, and the relevant paths.
///
/// Made once per fetch and shared by its pages.
final class ReplyPlan: Sendable {
    /// The number of a type: its index in the plan's ``SchemaSet``.
    typealias TypeNumber = Int32

    struct Child: Sendable {
        let name: Int32
        let type: TypeNumber
        let isRepeated: Bool
        /// Whether a list may contain it among others.
        let isMixed: Bool
        /// Whether other elements of the type have its local name, in other namespaces.
        let isNamesake: Bool
    }

    /// What distinguishes an element from others of its type with its local name.
    private struct Namesake: Sendable {
        let namespace: String
        /// The number of the member's name: see ``ComplexType/memberName(of:_:)``.
        let member: Int32
    }

    /// An attribute; its name is the number of its key, which includes the `@`.
    struct Attribute: Sendable {
        let name: Int32
        let kind: SimpleKind
        let isCollapsed: Bool
        let isQualifiedName: Bool
    }

    /// A type's description of an element's content.
    ///
    /// Without references, because every event of a reply reads one: lists are in arrays of the plan.
    struct ContentType: Sendable {
        fileprivate var firstChild: Int32 = 0
        fileprivate(set) var childCount: Int32 = 0
        fileprivate var firstAttribute: Int32 = 0
        fileprivate(set) var attributeCount: Int32 = 0
        /// The name of the only elements in a wrapper that is read as a plain list; negative for other types.
        fileprivate(set) var wrapped: Int32 = -1
        /// The kind of the text; nil for element content or if unknown.
        var text: SimpleKind?
        var isComplex = false
        var isMixed = false
        /// Whether elements other than `children` are allowed.
        var isOpen = true
        /// Whether values are always objects (simple content with attributes), so that their shape does not depend on
        /// the instance.
        var isAlwaysObject = false
        /// Whether the text is a list of values.
        var isList = false
        /// Whether the type is a SOAP-ENC array, whose members may have any name.
        var isArray = false
        /// Whether an empty text is not a valid value of the type.
        var isEmptyNull = false
        /// Whether white space around the text means nothing (XSD part 2, section 4.3.6), as around a date.
        var isCollapsed = false
        /// Whether the text is a qualified name, whose prefix has a meaning only where it stands.
        var isQualifiedName = false
        /// Whether several elements have the same local name, in namespaces of their own.
        fileprivate(set) var repeatsNames = false

        /// Whether an element without attributes becomes its text, as a value or a list of values.
        ///
        /// Not for hexadecimal digits: a text with others rejects the record.
        var isPlain: Bool {
            text != nil && text != .hex && !isComplex && !isAlwaysObject && !isArray && wrapped < 0
        }
    }

    /// Values of a reply that paging and ``FailureSigns`` need; the raw value is the index in ``captures``.
    enum Capture: Int, Sendable, CaseIterable {
        case total, token, more, done, success, error, detail, message
    }

    let names: NameTable
    let types: [ContentType]
    private let children: [Child]
    /// By index in `children`.
    private let namesakes: [Int: Namesake]
    private let attributes: [Attribute]
    let typeNames: [QName: TypeNumber]
    /// The types whose local name is unique.
    private let localTypes: [String: TypeNumber]
    /// The types of global elements, for the content of faults.
    let elementTypes: [QName: TypeNumber]
    /// The possible elements of the body.
    let body: [Child]
    let bodyNamespaces: [String]
    /// Whether the reply is in SOAP encoding.
    let isEncoded: Bool
    /// The names from the body's element to a record.
    let recordPath: [Int32]
    /// The words in the name of a record, in the singular.
    let recordWords: Set<String>
    /// The names from the body's element to a value, by ``Capture``; empty for none.
    ///
    /// The last name may be an attribute's.
    let captures: [[Int32]]
    /// Whether several totals in a reply are those of its parts.
    let addsTotals: Bool

    /// The type of undescribed content.
    static let anyType: TypeNumber = 0
    /// The number of `*` in a path.
    let wildcard: Int32
    /// The numbers of the keys `#text` and `@xsi:type`.
    let textName: Int32
    let typeName: Int32
    private let firstSimpleType: TypeNumber
    /// The built-in types of texts whose white space or prefix is not that of any text, by their local names.
    private let textTypes: [String: TypeNumber]
    /// The type of an array with undescribed members.
    let arrayType: TypeNumber

    /// Compiles the plan.
    ///
    /// - Parameters:
    ///   - records: The path; empty if only a fault or a capture is of interest.
    ///   - unwraps: Whether the content of a wrapper is read as a plain list.
    /// - Throws: ``BridgeError`` configuration for a path that the schema contradicts, with the names it has.
    init(
        operation: WSDLOperation, schemas: SchemaSet, records: [String], total: [String] = [], token: [String] = [],
        more: [String] = [], done: [String] = [], signs: FailureSigns = FailureSigns(), unwraps: Bool = false,
        addsTotals: Bool = false
    ) throws(BridgeError) {
        self.addsTotals = addsTotals
        let paths = ReplyPaths(operation, schemas)
        let records = records.isEmpty ? [] : try paths.checked(records, option: "records")
        var names = NameTable()
        textName = names.number("#text")
        typeName = names.number("@xsi:type")
        wildcard = names.number("*")
        recordPath = records.map { names.number($0) }
        recordWords = Set(records.last.map(NameWords.lower)?.map(NameWords.singular) ?? [])
            .subtracting(AllClear.others)
        var captures: [[Int32]] = []
        for (path, option) in [
            (total, "paging.total"), (token, "paging.token"), (more, "paging.more"), (done, "paging.done"),
            (signs.success, "records"), (signs.error, "records"), (signs.detail, "records"),
            (signs.message, "records"),
        ] {
            let checked = path.isEmpty ? [] : try paths.checked(path, option: option)
            captures.append(checked.map { names.number($0) })
        }
        self.captures = captures
        var types: [ContentType] = []
        var children: [Child] = []
        var namesakes: [Int: Namesake] = [:]
        var attributes: [Attribute] = []
        for (index, type) in schemas.types.enumerated() {
            var content = Self.content(type, schemas.details[TypeID(index: index)])
            if case .complex(let complex) = type {
                content.firstChild = Int32(children.count)
                content.childCount = Int32(complex.children.count)
                let repeated = complex.namesakes
                for element in complex.children {
                    let isNamesake = !repeated.isEmpty && repeated[element.name.local] != nil
                    if isNamesake {
                        let member = names.number(complex.memberName(of: element, repeated))
                        namesakes[children.count] = Namesake(namespace: element.name.namespace, member: member)
                    }
                    children.append(Self.child(element, &names, isNamesake: isNamesake))
                }
                content.repeatsNames = !repeated.isEmpty
                content.firstAttribute = Int32(attributes.count)
                content.attributeCount = Int32(complex.attributes.count)
                if unwraps, let only = complex.wrapped { content.wrapped = names.number(only.name.local) }
                for attribute in complex.attributes {
                    attributes.append(
                        Attribute(
                            name: names.number("@" + attribute.name), kind: attribute.kind,
                            isCollapsed: Self.isCollapsed(attribute.kind, attribute.builtIn),
                            isQualifiedName: Self.isQualifiedName(attribute.kind, attribute.builtIn)))
                }
            }
            types.append(content)
        }
        self.children = children
        self.namesakes = namesakes
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
        var textTypes: [String: TypeNumber] = [:]
        for name in Self.collapsedTypes {
            textTypes[name] = TypeNumber(types.count)
            types.append(Self.content(.simple(.text), SimpleDetail(builtIn: name)))
        }
        self.textTypes = textTypes
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

    /// Returns the type that an xsi:type names; nil if unknown.
    func type(named name: QName) -> TypeNumber? {
        let name = QName(Namespace.drafts[name.namespace] ?? name.namespace, name.local)
        if let known = typeNames[name] { return known }
        if name.isBuiltIn {
            if name.local == "Array" { return arrayType }
            if let type = textTypes[name.local] { return type }
            if let kind = SimpleKind(builtIn: name.local) { return firstSimpleType + TypeNumber(kind.rawValue) }
        }
        return localTypes[name.local]
    }

    private static func child(
        _ element: SchemaElement, _ names: inout NameTable, isNamesake: Bool = false
    ) -> Child {
        Child(
            name: names.number(element.name.local), type: TypeNumber(element.type.index),
            isRepeated: element.isRepeated,
            isMixed: element.isRepeated && element.isAlternative, isNamesake: isNamesake)
    }

    /// Returns a type's child at an index below its `childCount`.
    func child(_ index: Int, of type: ContentType) -> Child { children[Int(type.firstChild) + index] }

    /// Returns the element of a type in this namespace, of several with one local name, and the number of its member's
    /// name; nil if only one has the local name.
    ///
    /// Without the namespace it is the one whose member has the local name, if the reply need not be exact.
    func namesake(
        _ name: Int32, _ namespace: String, of type: TypeNumber, isExact: Bool
    ) -> (index: Int, type: TypeNumber, isRepeated: Bool, member: Int32)? {
        let type = types[Int(type)]
        guard type.repeatsNames else { return nil }
        var found: (index: Int, type: TypeNumber, isRepeated: Bool, member: Int32)?
        for index in 0..<Int(type.childCount) {
            let child = child(index, of: type)
            guard child.name == name, let namesake = namesakes[Int(type.firstChild) + index] else { continue }
            let isThis = namesake.namespace == namespace
            guard isThis || !isExact && namesake.member == name else { continue }
            found = (index, child.type, child.isRepeated, namesake.member)
            if isThis { break }
        }
        return found
    }

    /// Returns the attribute that a type declares with this number; nil if it declares none.
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
            content.isCollapsed = Self.isCollapsed(kind, detail?.builtIn)
            content.isQualifiedName = Self.isQualifiedName(kind, detail?.builtIn)
            content.isOpen = false
        case .complex(let complex):
            content.text = complex.text
            content.isComplex = complex.text == nil
            content.isMixed = complex.isMixed
            content.isOpen = complex.isOpen
            content.isArray = complex.isArray
            content.isAlwaysObject = complex.text != nil && !complex.attributes.isEmpty
            if let kind = complex.text {
                content.isEmptyNull = Self.isEmptyNull(kind, SimpleDetail(builtIn: complex.builtIn))
                content.isCollapsed = Self.isCollapsed(kind, complex.builtIn)
                content.isQualifiedName = Self.isQualifiedName(kind, complex.builtIn)
            }
        }
        return content
    }

    /// The built-in types of texts whose white space is always collapsed (XSD part 2, section 3.2).
    private static let collapsedTypes: Set<String> = [
        "date", "time", "dateTime", "duration", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay", "dayTimeDuration",
        "yearMonthDuration", "dateTimeStamp", "anyURI", "QName", "NOTATION",
    ]

    private static func isCollapsed(_ kind: SimpleKind, _ builtIn: String?) -> Bool {
        kind == .text && collapsedTypes.contains(builtIn ?? "")
    }

    private static func isQualifiedName(_ kind: SimpleKind, _ builtIn: String?) -> Bool {
        kind == .text && (builtIn == "QName" || builtIn == "NOTATION")
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
