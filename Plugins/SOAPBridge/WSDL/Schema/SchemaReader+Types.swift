internal import BridgeKit

/// Type definitions (XSD part 1, sections 3.4 and 3.14).
extension SchemaReader {
    static func isTrue(_ text: String?) -> Bool { text == "true" || text == "1" }

    /// An array with undescribed members.
    var anyArray: ComplexType {
        var type = ComplexType()
        type.isArray = true
        type.isAttributeOpen = true
        type.children = [SchemaElement(name: QName("", "item"), type: set.anyType, isRepeated: true, isRequired: false)]
        return type
    }

    mutating func build(
        _ declaration: Declaration, nesting: Int, detail: inout SimpleDetail
    ) throws -> SchemaType {
        guard nesting < Limits.nesting else {
            throw BridgeError(.limit, "a schema type has more than \(Limits.nesting) bases or groups inside each other")
        }
        if declaration.node.name.local == "simpleType" {
            return .simple(try simpleKind(declaration, nesting: nesting, detail: &detail))
        }
        return try buildComplex(declaration, nesting: nesting)
    }

    private mutating func buildComplex(_ declaration: Declaration, nesting: Int) throws -> SchemaType {
        let node = declaration.node
        var type = ComplexType()
        type.isMixed = Self.isTrue(node["mixed"])
        type.isAbstract = Self.isTrue(node["abstract"])
        if let simple = node.child(Namespace.schema, "simpleContent") {
            try addSimpleContent(simple, declaration, to: &type, nesting: nesting)
            try count(type)
            return .complex(type)
        }
        var content = node
        if let complex = node.child(Namespace.schema, "complexContent") {
            type.isMixed = type.isMixed || Self.isTrue(complex["mixed"])
            if let restriction = complex.child(Namespace.schema, "restriction") {
                if let array = try array(restriction, declaration, nesting: nesting) { return .complex(array) }
                content = restriction
                if let base = qualifiedName("base", of: restriction, declaration.schema),
                    case .complex(let inherited)? = try baseType(base, declaration, nesting: nesting)
                {
                    // A restriction repeats the elements, but inherits the attributes (section 3.4.2).
                    type.attributes = inherited.attributes
                    type.isAttributeOpen = inherited.isAttributeOpen
                    type.isArray = inherited.isArray
                    if inherited.isArray { type.children = inherited.children }
                }
            } else if let extended = complex.child(Namespace.schema, "extension") {
                content = extended
                try extend(&type, by: extended, declaration, nesting: nesting)
            }
        }
        let own = try particles(in: content, declaration, nesting: nesting, isOpen: &type.isOpen)
        if type.isArray {
            if let member = own.first { type.children = [member] }
        } else {
            var children = ElementList()
            children.append(type.children)
            children.append(own)
            type.children = children.elements
        }
        try addAttributes(content, declaration, to: &type, nesting: nesting)
        try count(type)
        return .complex(type)
    }

    private mutating func count(_ type: ComplexType) throws {
        childCount += type.children.count + type.attributes.count
        guard type.children.count <= Limits.childrenPerType, childCount <= Limits.childrenInAll else {
            throw BridgeError(.limit, "the schemas describe too many elements: \(type.children.count) in one type")
        }
    }

    private mutating func extend(
        _ type: inout ComplexType, by node: XMLElement, _ declaration: Declaration, nesting: Int
    ) throws {
        guard let base = qualifiedName("base", of: node, declaration.schema) else { return }
        let (isMixed, isAbstract) = (type.isMixed, type.isAbstract)
        switch try baseType(base, declaration, nesting: nesting) {
        case .complex(let inherited)?:
            type = inherited
            type.isMixed = isMixed || inherited.isMixed
            type.isAbstract = isAbstract
        case .simple(let kind)?:
            note("complexContent of the type \(declaration.node["name"] ?? "") extends a simple type: read as its text")
            type.text = kind
        case .any?, nil: type.isOpen = true
        }
    }

    /// Returns the type that a base names; nil for anyType and unknown types.
    private mutating func baseType(_ name: QName, _ user: Declaration, nesting: Int) throws -> SchemaType? {
        if name.isBuiltIn, resolved(name, .type) != name {
            if name.namespace != Namespace.schema, name.local == "Array" { return .complex(anyArray) }
            return SimpleKind(builtIn: name.local).map(SchemaType.simple)
        }
        guard let (found, declaration) = definition(name, .type, from: user) else {
            return SimpleKind(builtIn: name.local).map(SchemaType.simple)
        }
        if user.redefined == found {
            var detail = SimpleDetail()
            return try build(
                Declaration(node: declaration.node, schema: declaration.schema), nesting: nesting + 1, detail: &detail)
        }
        return try named(found, nesting: nesting + 1)
    }

    // MARK: Arrays

    /// Returns the SOAP-ENC array that a restriction describes (WSDL 1.1, section 2.2); nil for other restrictions.
    private mutating func array(
        _ restriction: XMLElement, _ declaration: Declaration, nesting: Int
    ) throws -> ComplexType? {
        guard let base = qualifiedName("base", of: restriction, declaration.schema), base.local == "Array",
            base.namespace == Namespace.encoding11 || base.namespace == Namespace.encoding12
        else { return nil }
        var type = anyArray
        var isOpen = false
        // Some schemas describe the member as an element with an arbitrary name.
        if var member = try particles(in: restriction, declaration, nesting: nesting, isOpen: &isOpen).first {
            member.isRepeated = true
            member.isRequired = false
            type.children = [member]
        }
        for attribute in restriction.children(Namespace.schema, "attribute") {
            guard let text = attribute.attributes["{\(Namespace.wsdl)}arrayType"] else { continue }
            let name = text.prefix { $0 != "[" }
            // `t[][2]` is an array of arrays.
            let isNested = text.split(separator: "[").count > 2
            guard !isNested, let named = Self.name(String(name), in: attribute) else { continue }
            type.children[0].type = try self.type(named: named)
        }
        return type
    }

    private static func name(_ text: String, in node: XMLElement) -> QName? {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingWhiteSpace }
        guard let local = parts.last else { return nil }
        if parts.count == 2 { return QName(node.scope.namespace(of: parts[0]) ?? "", local) }
        return QName(node.scope.namespace(of: "") ?? "", local)
    }

    // MARK: Simple types

    /// Returns the kind of a simple type's text and adds its other properties to `detail`.
    mutating func simpleKind(
        _ declaration: Declaration, nesting: Int, detail: inout SimpleDetail
    ) throws -> SimpleKind {
        guard nesting < Limits.nesting else {
            throw BridgeError(.limit, "a schema type has more than \(Limits.nesting) bases inside each other")
        }
        let node = declaration.node
        if let restriction = node.child(Namespace.schema, "restriction") {
            let kind = try referredKind(restriction, "base", declaration, nesting: nesting, detail: &detail)
            let values = restriction.children(Namespace.schema, "enumeration").compactMap { $0["value"] }
            if !values.isEmpty { detail.enumeration = values }
            return kind
        }
        if let list = node.child(Namespace.schema, "list") {
            let kind = try referredKind(list, "itemType", declaration, nesting: nesting, detail: &detail)
            detail.isList = true
            return kind
        }
        if let union = node.child(Namespace.schema, "union") {
            return try unionKind(union, declaration, nesting: nesting)
        }
        return .text
    }

    /// Returns the kind common to all members of a union; otherwise text.
    private mutating func unionKind(_ union: XMLElement, _ declaration: Declaration, nesting: Int) throws -> SimpleKind
    {
        var kinds: Set<SimpleKind> = []
        var ignored = SimpleDetail()
        for text in union["memberTypes"]?.split(whereSeparator: \.isWhitespace) ?? [] {
            guard let name = Self.name(String(text), in: union) else { continue }
            kinds.insert(try kind(of: name, declaration, nesting: nesting, detail: &ignored))
        }
        for member in union.children(Namespace.schema, "simpleType") {
            kinds.insert(
                try simpleKind(
                    Declaration(node: member, schema: declaration.schema), nesting: nesting + 1, detail: &ignored))
        }
        return kinds.count == 1 ? kinds.first ?? .text : .text
    }

    /// Returns the kind of a type that is named by an attribute or defined inside the node.
    private mutating func referredKind(
        _ node: XMLElement, _ attribute: String, _ declaration: Declaration, nesting: Int, detail: inout SimpleDetail
    ) throws -> SimpleKind {
        if let name = qualifiedName(attribute, of: node, declaration.schema) {
            return try kind(of: name, declaration, nesting: nesting, detail: &detail)
        }
        if let inner = node.child(Namespace.schema, "simpleType") {
            return try simpleKind(
                Declaration(node: inner, schema: declaration.schema), nesting: nesting + 1, detail: &detail)
        }
        return .text
    }

    private mutating func kind(
        of name: QName, _ declaration: Declaration, nesting: Int, detail: inout SimpleDetail
    ) throws -> SimpleKind {
        if name.isBuiltIn, let kind = SimpleKind(builtIn: name.local) {
            detail.builtIn = name.local
            detail.isList = SimpleDetail.lists.contains(name.local)
            return kind
        }
        guard case .simple(let kind)? = try baseType(name, declaration, nesting: nesting) else { return .text }
        let found = resolved(name, .type) ?? name
        detail = simpleDetails[found] ?? SimpleDetail(builtIn: kind.builtInName)
        return kind
    }

    private mutating func addSimpleContent(
        _ node: XMLElement, _ declaration: Declaration, to type: inout ComplexType, nesting: Int
    ) throws {
        type.text = .text
        for content in node.children where ["extension", "restriction"].contains(content.name.local) {
            if let base = qualifiedName("base", of: content, declaration.schema) {
                switch try baseType(base, declaration, nesting: nesting) {
                case .simple(let kind)?:
                    type.text = kind
                    type.builtIn = builtIn(of: base)
                case .complex(let inherited)?:
                    type.text = inherited.text ?? .text
                    type.builtIn = inherited.builtIn
                    type.attributes = inherited.attributes
                case .any?, nil: break
                }
            }
            try addAttributes(content, declaration, to: &type, nesting: nesting)
        }
    }

    /// Returns the local name of the built-in type from which a simple type is derived; that of a text for a list.
    private func builtIn(of base: QName) -> String {
        let detail = resolved(base, .type).flatMap { simpleDetails[$0] } ?? SimpleDetail(builtIn: base.local)
        return detail.isList ? SimpleDetail().builtIn : detail.builtIn
    }

    // MARK: Attributes

    mutating func addAttributes(
        _ node: XMLElement, _ user: Declaration, to type: inout ComplexType, nesting: Int
    ) throws {
        for child in node.children where child.name.namespace == Namespace.schema {
            switch child.name.local {
            case "attribute":
                let found = try attributeUse(child, user, nesting: nesting)
                guard let found else { continue }
                type.attributes.removeAll { $0.name == found.name && $0.namespace == found.namespace }
                if child["use"] != "prohibited" { type.attributes.append(found) }
                guard type.attributes.count <= Limits.attributesPerType else {
                    throw BridgeError(.limit, "a schema type has more than \(Limits.attributesPerType) attributes")
                }
            case "attributeGroup":
                guard let name = qualifiedName("ref", of: child, user.schema),
                    let (_, group) = definition(name, .attributeGroup, from: user)
                else { continue }
                try visit(nesting)
                try addAttributes(group.node, group, to: &type, nesting: nesting + 1)
            case "anyAttribute": type.isAttributeOpen = true
            default: continue
            }
        }
    }

    private mutating func attributeUse(
        _ node: XMLElement, _ user: Declaration, nesting: Int
    ) throws -> SchemaAttribute? {
        guard let name = qualifiedName("ref", of: node, user.schema) else {
            return try attribute(Declaration(node: node, schema: user.schema), isGlobal: false, nesting: nesting)
        }
        var found = SchemaAttribute(name: name.local, kind: .text, namespace: name.namespace)
        // The schemas need not include the attributes of SOAP encoding and of XML.
        if resolved(name, .attribute) != nil, let (_, global) = definition(name, .attribute, from: user),
            let declared = try attribute(global, isGlobal: true, nesting: nesting)
        {
            found = declared
        }
        found.isRequired = node["use"] == "required"
        found.value = node["fixed"] ?? node["default"] ?? found.value
        return found
    }

    mutating func attribute(
        _ declaration: Declaration, isGlobal: Bool, nesting: Int
    ) throws -> SchemaAttribute? {
        let node = declaration.node
        guard let name = node["name"]?.trimmingWhiteSpace else { return nil }
        let schema = schemas[declaration.schema]
        let isQualified = isGlobal || (node["form"].map { $0 == "qualified" } ?? schema.isAttributeQualified)
        var detail = SimpleDetail()
        var found = SchemaAttribute(
            name: name, kind: try referredKind(node, "type", declaration, nesting: nesting, detail: &detail),
            namespace: isQualified ? schema.targetNamespace : "")
        // A list in an attribute remains a single text.
        if detail.isList { found.kind = .text } else { found.builtIn = detail.builtIn }
        found.isRequired = node["use"] == "required"
        found.value = node["fixed"] ?? node["default"]
        return found
    }
}
