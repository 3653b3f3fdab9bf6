internal import BridgeKit

/// Writes a request's SOAP envelope from config values, in the schema's order and namespaces.
struct EnvelopeWriter {
    let version: SOAPVersion
    let schemas: SchemaSet
    /// Values name their types (SOAP 1.1, section 5).
    private let isEncoded: Bool
    private var text = ""
    private var namespaces: [String] = []
    /// What the schema requires and the input lacks, by path.
    private var missing: [String] = []

    private init(version: SOAPVersion, schemas: SchemaSet, isEncoded: Bool) {
        self.version = version
        self.schemas = schemas
        self.isEncoded = isEncoded
    }

    /// A request: its bytes (UTF-8), and the paths of required elements that the input lacks.
    ///
    /// - Parameters:
    ///   - headers: Header blocks by name, as the config gives them.
    ///   - rawHeaders: Further header blocks, written already.
    /// - Throws: ``BridgeError`` configuration for a name that the schema doesn't have (with those it has), a list where
    ///   one value goes, an object where text goes, or a character that XML 1.0 can't hold.
    static func write(
        _ operation: WSDLOperation, version: SOAPVersion, input: InputValue, schemas: SchemaSet,
        headers: InputValue = .object([]), rawHeaders: String = ""
    ) throws(BridgeError) -> (bytes: [UInt8], missing: [String]) {
        var writer = EnvelopeWriter(version: version, schemas: schemas, isEncoded: operation.input.isEncoded)
        try writer.writeBody(operation, input)
        let body = writer.text
        writer.text = ""
        try writer.writeHeaders(operation, headers)
        let blocks = rawHeaders + writer.text
        var envelope =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<soap:Envelope xmlns:soap=\"\(version.envelopeNamespace)\""
        for (index, namespace) in writer.namespaces.enumerated() {
            envelope += " xmlns:n\(index + 1)=\"\(try XMLText.escaped(namespace, at: "a namespace"))\""
        }
        envelope += ">"
        if !blocks.isEmpty { envelope += "<soap:Header>\(blocks)</soap:Header>" }
        envelope += "<soap:Body>\(body)</soap:Body></soap:Envelope>"
        return (Array(envelope.utf8), writer.missing)
    }

    // MARK: Body and header

    private mutating func writeBody(_ operation: WSDLOperation, _ input: InputValue) throws(BridgeError) {
        let elements = operation.input.elements
        if elements.count == 1 {
            let style = isEncoded ? " soap:encodingStyle=\"\(encodingNamespace)\"" : ""
            try write(
                elements[0], unwrapped(input, elements[0]), path: elements[0].name.local, attributes: style,
                isTyped: false)
        } else {
            var parts = ComplexType()
            parts.children = elements
            try writeContent(parts, input, parent: QName("", ""), path: "the request")
        }
    }

    private var encodingNamespace: String { version == .v11 ? Namespace.encoding11 : Namespace.encoding12 }

    /// The content, also where the config wrote the body's element around it.
    private func unwrapped(_ input: InputValue, _ element: SchemaElement) -> InputValue {
        guard case .object(let members) = input, members.count == 1, members[0].name == element.name.local,
            case .complex(let type) = schemas[element.type],
            !type.isOpen, !type.children.contains(where: { $0.name.local == element.name.local })
        else { return input }
        return members[0].value
    }

    private mutating func writeHeaders(_ operation: WSDLOperation, _ headers: InputValue) throws(BridgeError) {
        guard case .object(let members) = headers else {
            if headers == .null { return }
            throw BridgeError(.configuration, "the header blocks are not an object of names and contents")
        }
        for member in members {
            let name = QName(clark: member.name)
            let declared =
                operation.headers.first { $0.name == name || $0.name.local == name.local && name.namespace.isEmpty }
                ?? (name.namespace.isEmpty ? schemas.element(named: name) : schemas.elements[name])
            if declared == nil { try XMLText.checkName(name.local, "the header") }
            let element = declared ?? SchemaElement(name: name, type: schemas.anyType)
            var attributes = ""
            var content = member.value
            if case .object(var inner) = content {
                // They belong to the envelope, not to the block (SOAP 1.1, section 4.2).
                for name in ["@mustUnderstand", "@actor", "@role"] {
                    guard let index = inner.firstIndex(where: { $0.name == name }) else { continue }
                    let value = try Self.simpleText(inner.remove(at: index).value, name)
                    let isTrue = value == "true" ? (version == .v11 ? "1" : "true") : value
                    attributes += " soap:\(name.dropFirst())=\"\(try XMLText.escaped(isTrue, at: name))\""
                }
                content = .object(inner)
            }
            for value in content.elements {
                try write(element, value, path: "header \(element.name.local)", attributes: attributes, isTyped: false)
            }
        }
    }

    // MARK: Elements

    private mutating func write(
        _ element: SchemaElement, _ value: InputValue, path: String, attributes: String = "", isTyped: Bool = true
    ) throws(BridgeError) {
        let tag = prefixed(element.name)
        if case .null = value {
            text += "<\(tag)\(attributes) xmlns:xsi=\"\(Namespace.instance)\" xsi:nil=\"true\"/>"
            return
        }
        let (typeID, isNamed) = try actualType(of: element, value, path)
        text += "<\(tag)\(attributes)"
        if isNamed || (isEncoded && isTyped) { writeTypeAttribute(typeID) }
        switch schemas[typeID] {
        case .simple:
            text += ">"
            text += try XMLText.escaped(try Self.simpleText(value, path, schemas.detail(typeID)), at: path)
        case .complex(let type) where type.isArray: try writeArray(type, value, path)
        case .complex(let type) where type.text != nil:
            try writeAttributes(type, value, path)
            text += ">"
            text += try XMLText.escaped(try Self.simpleText(value, path), at: path)
        case .complex(let type):
            try writeAttributes(type, value, path)
            text += ">"
            try writeContent(type, value, parent: element.name, path: path)
        case .any:
            try writeAttributes(nil, value, path)
            text += ">"
            try writeUndescribed(value, parent: element.name, path: path)
        }
        text += "</\(tag)>"
    }

    /// The declared type, or the one that the member `@xsi:type` names, or the only one that an abstract type has.
    private func actualType(
        of element: SchemaElement, _ value: InputValue, _ path: String
    ) throws(BridgeError) -> (TypeID, isNamed: Bool) {
        let declaredName = schemas.namesOfTypes[element.type]
        if let named = value.member("@xsi:type") {
            let text = try Self.simpleText(named, path)
            let name = text.hasPrefix("{") ? QName(clark: text) : QName("", String(text.split(separator: ":").last ?? ""))
            let known = schemas.typeNames.filter { $0.key.local == name.local }
            let derived = declaredName.map { schemas.concreteTypes(of: $0) } ?? []
            if let found = schemas.typeNames[name] ?? known.first(where: { derived.contains($0.key) })?.value
                ?? known.sorted(by: { $0.key < $1.key }).first?.value
            {
                return (found, true)
            }
            if let kind = SimpleKind(builtIn: name.local) {
                return (schemas.typeNames[QName(Namespace.schema, name.local)] ?? schemas.anyType(kind), true)
            }
            throw BridgeError(
                .configuration, "\(path) has the xsi:type \"\(text)\", which no schema has",
                remedy: "types that fit: \(NearestName.list(derived.map(\.local), to: name.local))")
        }
        guard case .complex(let type) = schemas[element.type], type.isAbstract, let declaredName else {
            return (element.type, false)
        }
        let derived = schemas.concreteTypes(of: declaredName)
        guard derived.count == 1, let only = schemas.typeNames[derived[0]] else {
            throw BridgeError(
                .configuration, "\(path) is of the abstract type \(declaredName.local)",
                remedy: "say which with the member @xsi:type: \(NearestName.list(derived.map(\.local), to: ""))")
        }
        return (only, true)
    }

    private mutating func writeTypeAttribute(_ type: TypeID) {
        if case .complex(let complex) = schemas[type], complex.isArray, isEncoded {
            text += " xmlns:xsi=\"\(Namespace.instance)\" xsi:type=\"\(prefixed(QName(encodingNamespace, "Array")))\""
            return
        }
        guard let name = schemas.namesOfTypes[type] else { return }
        text += " xmlns:xsi=\"\(Namespace.instance)\" xsi:type=\"\(prefixed(name))\""
    }

    /// The elements of a SOAP-ENC array, from a list, or from an object with a list in it.
    private mutating func writeArray(_ type: ComplexType, _ value: InputValue, _ path: String) throws(BridgeError) {
        guard let member = type.children.first else { return }
        var elements = value.elements
        if case .object(let members) = value {
            let inner = members.filter { !$0.name.hasPrefix("@") }
            elements = inner.count == 1 ? inner[0].value.elements : []
            guard inner.count < 2 else {
                throw BridgeError(.configuration, "\(path) takes a list, not an object")
            }
        }
        if value == .text("") { elements = [] }
        if isEncoded {
            let name = prefixed(schemas.namesOfTypes[member.type] ?? QName(Namespace.schema, "anyType"))
            let array = prefixed(QName(encodingNamespace, "arrayType")).split(separator: ":")[0]
            text +=
                version == .v11
                ? " \(array):arrayType=\"\(name)[\(elements.count)]\""
                : " \(array):itemType=\"\(name)\" \(array):arraySize=\"\(elements.count)\""
        }
        text += ">"
        for element in elements { try write(member, element, path: "\(path)/\(member.name.local)") }
    }

    private mutating func writeContent(
        _ type: ComplexType, _ value: InputValue, parent: QName, path: String
    ) throws(BridgeError) {
        guard case .object(let members) = value else {
            if value == .text("") { return }
            throw BridgeError(
                .configuration, "\(path) takes an object with these elements, not a text or a list",
                remedy: "its elements: \(NearestName.list(type.children.map(\.name.local), to: ""))")
        }
        let elements = members.filter { !$0.name.hasPrefix("@") && $0.name != "#text" }
        let known = Set(type.children.map(\.name.local))
        func isKnown(_ name: String) -> Bool {
            known.contains(name) || name.hasPrefix("{") && type.children.contains { $0.name == QName(clark: name) }
        }
        for member in elements {
            guard isKnown(member.name) || type.isOpen else {
                throw BridgeError(
                    .configuration, "\(path) has no element \"\(member.name)\"",
                    remedy: "its elements: \(NearestName.list(known, to: member.name))")
            }
        }
        for child in type.children {
            let name = child.name.local
            let given = elements.last { $0.name == name || $0.name.hasPrefix("{") && QName(clark: $0.name) == child.name }
            if let given {
                try writeMember(child, given.value, path: "\(path)/\(name)")
            } else if child.isRequired, let value = child.value {
                try write(child, .text(value), path: "\(path)/\(name)")
            } else if child.isRequired, child.isNillable {
                try write(child, .null, path: "\(path)/\(name)")
            } else if child.isRequired {
                missing.append("\(path)/\(name)")
            }
        }
        for member in elements where !isKnown(member.name) {
            try writeStranger(member, parent: parent, path: path)
        }
        if type.isMixed, let text = members.last(where: { $0.name == "#text" }) {
            self.text += try XMLText.escaped(try Self.simpleText(text.value, path), at: path)
        }
    }

    private mutating func writeMember(_ child: SchemaElement, _ value: InputValue, path: String) throws(BridgeError) {
        guard case .array(let elements) = value else { return try write(child, value, path: path) }
        if !child.isRepeated {
            if case .complex(let type) = schemas[child.type], type.isArray { return try write(child, value, path: path) }
            if schemas.detail(child.type).isList { return try write(child, value, path: path) }
        }
        guard child.isRepeated || elements.count < 2 else {
            throw BridgeError(.configuration, "\(path) takes one value, not a list of \(elements.count)")
        }
        for element in elements { try write(child, element, path: path) }
    }

    /// What no schema describes: elements in the config's order, in the namespace of what holds them.
    private mutating func writeUndescribed(_ value: InputValue, parent: QName, path: String) throws(BridgeError) {
        guard case .object(let members) = value else {
            text += try XMLText.escaped(try Self.simpleText(value, path), at: path)
            return
        }
        for member in members where !member.name.hasPrefix("@") {
            if member.name == "#text" {
                text += try XMLText.escaped(try Self.simpleText(member.value, path), at: path)
            } else {
                try writeStranger(member, parent: parent, path: path)
            }
        }
    }

    /// An element of a name that the config gives; `{namespace}name` says which.
    private mutating func writeStranger(
        _ member: InputValue.Member, parent: QName, path: String
    ) throws(BridgeError) {
        var name = QName(clark: member.name)
        if !member.name.hasPrefix("{") { name.namespace = parent.namespace }
        try XMLText.checkName(name.local, path)
        var child = schemas.elements[name] ?? SchemaElement(name: name, type: schemas.anyType)
        child.isRepeated = true
        try writeMember(child, member.value, path: "\(path)/\(name.local)")
    }

    // MARK: Attributes

    private mutating func writeAttributes(
        _ type: ComplexType?, _ value: InputValue, _ path: String
    ) throws(BridgeError) {
        var given: Set<String> = []
        if case .object(let members) = value {
            for member in members where member.name.hasPrefix("@") && member.name != "@xsi:type" {
                let name = QName(clark: String(member.name.dropFirst()))
                let local = String(name.local.split(separator: ":").last ?? "")
                let declared = type?.attributes.first { $0.name == local }
                if let type, declared == nil, !type.isAttributeOpen {
                    throw BridgeError(
                        .configuration, "\(path) has no attribute \"\(name.local)\"",
                        remedy: "its attributes: \(NearestName.list(type.attributes.map(\.name), to: name.local))")
                }
                given.insert(local)
                try XMLText.checkName(local, path)
                let namespace = declared?.namespace ?? (name.local.hasPrefix("xml:") ? Namespace.xml : name.namespace)
                try writeAttribute(QName(namespace, local), try Self.simpleText(member.value, path), path)
            }
        }
        for attribute in type?.attributes ?? [] where attribute.isRequired && !given.contains(attribute.name) {
            if let value = attribute.value {
                try writeAttribute(QName(attribute.namespace, attribute.name), value, path)
            } else {
                missing.append("\(path)/@\(attribute.name)")
            }
        }
    }

    private mutating func writeAttribute(_ name: QName, _ value: String, _ path: String) throws(BridgeError) {
        let tag = name.namespace == Namespace.xml ? "xml:\(name.local)" : prefixed(name)
        text += " \(tag)=\"\(try XMLText.escaped(value, at: path))\""
    }

    // MARK: Text

    private static func simpleText(
        _ value: InputValue, _ path: String, _ detail: SimpleDetail? = nil
    ) throws(BridgeError) -> String {
        switch value {
        case .text(let text): return text
        case .null: return ""
        case .object(let members):
            let others = members.filter { !$0.name.hasPrefix("@") }
            if others.isEmpty { return "" }
            if others.count == 1, others[0].name == "#text" { return try simpleText(others[0].value, path, detail) }
        case .array(let elements):
            if elements.count == 1 { return try simpleText(elements[0], path) }
            if detail?.isList == true {
                var words: [String] = []
                for element in elements { words.append(try simpleText(element, path)) }
                return words.joined(separator: " ")
            }
        }
        throw BridgeError(.configuration, "\(path) takes a text, not an object or a list")
    }

    private mutating func prefixed(_ name: QName) -> String {
        if name.namespace.isEmpty { return name.local }
        if let index = namespaces.firstIndex(of: name.namespace) { return "n\(index + 1):\(name.local)" }
        namespaces.append(name.namespace)
        return "n\(namespaces.count):\(name.local)"
    }
}

extension SchemaSet {
    /// The types that may stand for a named one by an xsi:type: those derived from it that are not abstract.
    func concreteTypes(of name: QName) -> [QName] {
        var found: [QName] = []
        var seen: Set<QName> = [name]
        var waiting = derivedTypes[name] ?? []
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            waiting += derivedTypes[next] ?? []
            if let id = typeNames[next], case .complex(let type) = self[id], type.isAbstract { continue }
            found.append(next)
        }
        return found.sorted()
    }

    /// A built-in type of this kind, if one is in use; else what is not described.
    func anyType(_ kind: SimpleKind) -> TypeID {
        typeNames[QName(Namespace.schema, kind.builtInName)] ?? anyType
    }
}
