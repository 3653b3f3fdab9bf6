internal import BridgeKit

/// Resolves schema documents into a ``SchemaSet``.
///
/// Types are built from a work list, so that a recursive or a very long chain of types needs no stack; only bases and
/// groups recurse, guarded by ``Limits/nesting``.
struct SchemaReader {
    enum Limits {
        static let nesting = 64
        static let childrenPerType = 20_000
        static let childrenInAll = 2_000_000
        /// Groups that hold each other twice, thirty levels deep, would take for ever.
        static let visits = 200_000
    }

    private struct Declaration {
        let node: XMLElement
        let schema: Int
    }

    private struct Schema {
        let targetNamespace: String
        let isElementQualified: Bool
    }

    private var set = SchemaSet()
    private var schemas: [Schema] = []
    private var globals: [String: [QName: Declaration]] = [:]
    private var work: [(id: TypeID, name: QName?, declaration: Declaration)] = []
    private var built: [QName: SchemaType] = [:]
    private var elementIDs: [QName: SchemaElement] = [:]
    private var builtIns: [QName: TypeID] = [:]
    private var childCount = 0
    private var visits = 0

    /// Resolves documents.
    ///
    /// - Throws: ``BridgeError`` limit for schemas that contain themselves or describe too much.
    static func read(_ documents: [DocumentCollector.SchemaDocument]) throws -> SchemaSet {
        var reader = SchemaReader()
        try reader.resolve(documents)
        return reader.set
    }

    private mutating func resolve(_ documents: [DocumentCollector.SchemaDocument]) throws {
        for document in documents { index(document) }
        for name in globals["complexType", default: [:]].keys { _ = try type(named: name) }
        for name in globals["simpleType", default: [:]].keys { _ = try type(named: name) }
        for name in globals["element", default: [:]].keys {
            if let element = try globalElement(name) { set.elements[name] = element }
        }
        try drain()
    }

    private mutating func index(_ document: DocumentCollector.SchemaDocument) {
        let schema = schemas.count
        schemas.append(
            Schema(
                targetNamespace: document.targetNamespace,
                isElementQualified: document.root["elementFormDefault"] == "qualified"))
        func add(_ node: XMLElement, to globals: inout [String: [QName: Declaration]]) {
            guard node.name.namespace == Namespace.schema, let name = node["name"] else { return }
            let key = QName(document.targetNamespace, name)
            // The first one wins; a redefinition comes before what it redefines.
            if globals[node.name.local]?[key] == nil {
                globals[node.name.local, default: [:]][key] = Declaration(node: node, schema: schema)
            }
        }
        for node in document.root.children where node.name.local != "redefine" { add(node, to: &globals) }
    }

    private mutating func drain() throws {
        while let item = work.popLast() {
            if let name = item.name {
                set[item.id] = try named(name, nesting: 0)
            } else {
                set[item.id] = try build(item.declaration, nesting: 0)
            }
        }
    }

    // MARK: Names

    private mutating func type(named name: QName) throws -> TypeID {
        if let known = set.typeNames[name] { return known }
        if name.namespace == Namespace.schema || name.namespace == Namespace.encoding11
            || name.namespace == Namespace.encoding12
        {
            if let known = builtIns[name] { return known }
            guard let kind = SimpleKind(builtIn: name.local) else { return set.anyType }
            let id = set.add(.simple(kind))
            builtIns[name] = id
            return id
        }
        guard let declaration = globals["complexType"]?[name] ?? globals["simpleType"]?[name] else {
            return set.anyType
        }
        let id = set.add(.any)
        set.typeNames[name] = id
        work.append((id, name, declaration))
        return id
    }

    private mutating func globalElement(_ name: QName) throws -> SchemaElement? {
        if let known = elementIDs[name] { return known }
        guard let declaration = globals["element"]?[name] else { return nil }
        var element = SchemaElement(name: name, type: set.anyType)
        element.isNillable = isTrue(declaration.node["nillable"])
        element.type = try typeOfElement(declaration)
        elementIDs[name] = element
        return element
    }

    private mutating func typeOfElement(_ declaration: Declaration) throws -> TypeID {
        if let name = declaration.node.qualifiedName("type") { return try type(named: name) }
        for child in declaration.node.children where child.name.namespace == Namespace.schema {
            guard child.name.local == "complexType" || child.name.local == "simpleType" else { continue }
            let id = set.add(.any)
            work.append((id, nil, Declaration(node: child, schema: declaration.schema)))
            return id
        }
        return set.anyType
    }

    // MARK: Types

    private mutating func build(_ declaration: Declaration, nesting: Int) throws -> SchemaType {
        guard nesting < Limits.nesting else {
            throw BridgeError(.limit, "a schema type has more than \(Limits.nesting) bases or groups inside each other")
        }
        if declaration.node.name.local == "simpleType" {
            return .simple(try simpleKind(declaration, nesting: nesting))
        }
        var type = ComplexType()
        type.isMixed = isTrue(declaration.node["mixed"])
        var content = declaration.node
        if let simple = declaration.node.child(Namespace.schema, "simpleContent") {
            try addSimpleContent(simple, declaration.schema, to: &type, nesting: nesting)
            return .complex(type)
        }
        if let complex = declaration.node.child(Namespace.schema, "complexContent") {
            type.isMixed = type.isMixed || isTrue(complex["mixed"])
            if let restriction = complex.child(Namespace.schema, "restriction") {
                content = restriction
                // A SOAP-ENC array names its members' type in an attribute: read by what it looks like.
                if let base = restriction.qualifiedName("base"),
                    base.namespace == Namespace.encoding11 || base.namespace == Namespace.encoding12
                {
                    return .any
                }
            } else if let extended = complex.child(Namespace.schema, "extension") {
                content = extended
                if let base = extended.qualifiedName("base") {
                    switch try named(base, nesting: nesting + 1) {
                    case .complex(let inherited):
                        let isMixed = type.isMixed
                        type = inherited
                        type.isMixed = isMixed || inherited.isMixed
                    case .any, .simple: type.isOpen = true
                    }
                }
            }
        }
        let own = try particles(in: content, declaration.schema, nesting: nesting, isOpen: &type.isOpen)
        SchemaReader.append(own, to: &type.children)
        try addAttributes(content, declaration.schema, to: &type, nesting: nesting)
        childCount += type.children.count
        guard type.children.count <= Limits.childrenPerType, childCount <= Limits.childrenInAll else {
            throw BridgeError(.limit, "the schemas describe too many elements: \(type.children.count) in one type")
        }
        return .complex(type)
    }

    /// A named type's content; built once, or a type that holds an extension of itself would never end.
    private mutating func named(_ name: QName, nesting: Int) throws -> SchemaType {
        if let known = built[name] { return known }
        if let declaration = globals["complexType"]?[name] ?? globals["simpleType"]?[name] {
            let type = try build(declaration, nesting: nesting)
            built[name] = type
            return type
        }
        if name.namespace == Namespace.schema, let kind = SimpleKind(builtIn: name.local) { return .simple(kind) }
        return .any
    }

    private mutating func simpleKind(_ declaration: Declaration, nesting: Int) throws -> SimpleKind {
        guard let restriction = declaration.node.child(Namespace.schema, "restriction") else {
            return .text  // lists and unions
        }
        if let base = restriction.qualifiedName("base") {
            guard case .simple(let kind) = try named(base, nesting: nesting + 1) else { return .text }
            return kind
        }
        if let inner = restriction.child(Namespace.schema, "simpleType") {
            guard nesting < Limits.nesting else { return .text }
            return try simpleKind(Declaration(node: inner, schema: declaration.schema), nesting: nesting + 1)
        }
        return .text
    }

    private mutating func addSimpleContent(
        _ node: XMLElement, _ schema: Int, to type: inout ComplexType, nesting: Int
    ) throws {
        type.text = .text
        for content in node.children where ["extension", "restriction"].contains(content.name.local) {
            if let base = content.qualifiedName("base") {
                switch try named(base, nesting: nesting + 1) {
                case .simple(let kind): type.text = kind
                case .complex(let inherited):
                    type.text = inherited.text ?? .text
                    type.attributes = inherited.attributes
                case .any: break
                }
            }
            try addAttributes(content, schema, to: &type, nesting: nesting)
        }
    }

    private mutating func addAttributes(
        _ node: XMLElement, _ schema: Int, to type: inout ComplexType, nesting: Int
    ) throws {
        for child in node.children where child.name.namespace == Namespace.schema {
            if child.name.local == "attribute" {
                var declaration = Declaration(node: child, schema: schema)
                if let name = child.qualifiedName("ref") {
                    guard let global = globals["attribute"]?[name] else { continue }
                    declaration = global
                }
                guard let name = declaration.node["name"], child["use"] != "prohibited" else { continue }
                type.attributes.removeAll { $0.name == name }
                type.attributes.append((name, try attributeKind(declaration, nesting: nesting)))
            } else if child.name.local == "attributeGroup", let name = child.qualifiedName("ref"),
                let group = globals["attributeGroup"]?[name]
            {
                try visit(nesting)
                try addAttributes(group.node, group.schema, to: &type, nesting: nesting + 1)
            }
        }
    }

    private mutating func attributeKind(_ declaration: Declaration, nesting: Int) throws -> SimpleKind {
        if let name = declaration.node.qualifiedName("type") {
            if case .simple(let kind) = try named(name, nesting: nesting + 1) { return kind }
            return .text
        }
        if let inner = declaration.node.child(Namespace.schema, "simpleType") {
            return try simpleKind(Declaration(node: inner, schema: declaration.schema), nesting: nesting + 1)
        }
        return .text
    }

    // MARK: Particles

    /// The elements of a model group and what is inside it, in order.
    private mutating func particles(
        in node: XMLElement, _ schema: Int, nesting: Int, isOpen: inout Bool
    ) throws -> [SchemaElement] {
        try visit(nesting)
        let isChoice = node.name.local == "choice"
        var found: [SchemaElement] = []
        for child in node.children where child.name.namespace == Namespace.schema {
            var part: [SchemaElement] = []
            switch child.name.local {
            case "element":
                if let element = try localElement(child, schema) { part = [element] }
            case "sequence", "choice", "all":
                part = try particles(in: child, schema, nesting: nesting + 1, isOpen: &isOpen)
            case "group":
                guard let name = child.qualifiedName("ref"), let group = globals["group"]?[name] else { continue }
                part = try particles(in: group.node, group.schema, nesting: nesting + 1, isOpen: &isOpen)
            case "any":
                isOpen = true
            default: continue
            }
            let isRepeated = SchemaReader.isRepeated(child)
            for index in part.indices {
                part[index].isRepeated = part[index].isRepeated || isRepeated
                part[index].isRequired = part[index].isRequired && !isChoice && child["minOccurs"] != "0"
            }
            if isChoice { SchemaReader.merge(part, into: &found) } else { SchemaReader.append(part, to: &found) }
            guard found.count <= Limits.childrenPerType else {
                throw BridgeError(.limit, "a schema type has more than \(Limits.childrenPerType) elements")
            }
        }
        return found
    }

    private mutating func visit(_ nesting: Int) throws {
        visits += 1
        guard nesting < Limits.nesting, visits < Limits.visits else {
            throw BridgeError(.limit, "groups of the schemas contain each other, or too many of them do")
        }
    }

    private mutating func localElement(_ node: XMLElement, _ schema: Int) throws -> SchemaElement? {
        guard node["maxOccurs"] != "0" else { return nil }
        if let name = node.qualifiedName("ref") {
            return try globalElement(name) ?? SchemaElement(name: name, type: set.anyType)
        }
        guard let name = node["name"] else { return nil }
        let isQualified = node["form"].map { $0 == "qualified" } ?? schemas[schema].isElementQualified
        var element = SchemaElement(
            name: QName(isQualified ? schemas[schema].targetNamespace : "", name), type: set.anyType)
        element.isNillable = isTrue(node["nillable"])
        element.type = try typeOfElement(Declaration(node: node, schema: schema))
        return element
    }

    /// Elements that follow each other: a name that comes twice repeats.
    private static func append(_ part: [SchemaElement], to list: inout [SchemaElement]) {
        let known = Set(list.map(\.name))
        for element in part {
            if known.contains(element.name), let index = list.firstIndex(where: { $0.name == element.name }) {
                list[index].isRepeated = true
            } else {
                list.append(element)
            }
        }
    }

    /// Elements that exclude each other.
    private static func merge(_ part: [SchemaElement], into list: inout [SchemaElement]) {
        for element in part {
            if let index = list.firstIndex(where: { $0.name == element.name }) {
                list[index].isRepeated = list[index].isRepeated || element.isRepeated
            } else {
                list.append(element)
            }
        }
    }

    private static func isRepeated(_ node: XMLElement) -> Bool {
        guard let text = node["maxOccurs"] else { return false }
        return text == "unbounded" || (Int(text) ?? 1) > 1
    }

    private func isTrue(_ text: String?) -> Bool { text == "true" || text == "1" }
}

extension SimpleKind {
    /// The kind of a built-in type (XSD part 2, section 3); nil for anyType and what is unknown.
    init?(builtIn name: String) {
        switch name {
        case "int", "long", "short", "byte", "integer", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
            "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte":
            self = .integer
        case "decimal": self = .decimal
        case "double", "float": self = .double
        case "boolean": self = .boolean
        case "base64Binary", "base64": self = .base64
        case "hexBinary": self = .hex
        case "anyType", "anySimpleType", "Array", "Struct", "arrayType": return nil
        default: self = .text
        }
    }
}
