internal import BridgeKit
internal import TextFormats

/// Writes a request's SOAP envelope from configured values, in the schema's order and namespaces.
struct EnvelopeWriter {
    let version: SOAPVersion
    /// The schemas, with added built-in types that only an `@xsi:type` names.
    var schemas: SchemaSet
    /// Whether values name their types (SOAP 1.1, section 5).
    let isEncoded: Bool
    var text = ""
    private var namespaces: [String] = []
    /// The paths of required elements that the input lacks.
    var missing: [String] = []

    private init(version: SOAPVersion, schemas: SchemaSet, isEncoded: Bool) {
        self.version = version
        self.schemas = schemas
        self.isEncoded = isEncoded
    }

    /// Writes a request; returns its bytes (UTF-8) and the paths of required elements that the input lacks.
    ///
    /// - Parameters:
    ///   - headers: Header blocks by name, from the config.
    ///   - rawHeaders: Further header blocks, already written.
    /// - Throws: ``BridgeError`` configuration for a name that the schema lacks (with the names it has), a list in
    ///   place of one value, an object in place of text, or a character that XML 1.0 does not allow.
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
            let escaped = try XMLText.escaped(namespace, isAttribute: true, at: "a namespace")
            envelope += " xmlns:n\(index + 1)=\"\(escaped)\""
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

    var encodingNamespace: String { version == .v11 ? Namespace.encoding11 : Namespace.encoding12 }

    /// Returns the content of the body's element, whether or not the config repeats that element.
    func unwrapped(_ input: InputValue, _ element: SchemaElement) -> InputValue {
        guard case .object(let members) = input, members.count == 1, members[0].name == element.name.local,
            case .complex(let type) = schemas[element.type],
            !type.isOpen, !type.children.contains(where: { $0.name.local == element.name.local })
        else { return input }
        return members[0].value
    }

    // MARK: Elements

    mutating func write(
        _ element: SchemaElement, _ value: InputValue, path: String, attributes: String = "", isTyped: Bool = true
    ) throws(BridgeError) {
        let tag = prefixed(element.name)
        if case .null = value {
            text += "<\(tag)\(attributes) xmlns:xsi=\"\(Namespace.instance)\" xsi:nil=\"true\"/>"
            return
        }
        let (typeID, name) = try actualType(of: element, value, path)
        text += "<\(tag)\(attributes)"
        if name != nil || isEncoded && isTyped { writeTypeAttribute(typeID, name ?? schemas.namesOfTypes[typeID]) }
        switch schemas[typeID] {
        case .simple(let kind):
            try writeAttributes(ComplexType(), value, path)
            text += ">"
            text += try XMLText.escaped(
                try Self.simpleText(value, path, schemas.detail(typeID), kind: kind), at: path)
        case .complex(let type) where type.isArray: try writeArray(type, value, path)
        case .complex(let type) where type.text != nil:
            try writeAttributes(type, value, path)
            text += ">"
            text += try XMLText.escaped(try Self.simpleText(value, path, kind: type.text), at: path)
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
        let names = type.memberNames
        for member in elements {
            guard type.isOpen || type.child(named: member.name) != nil else {
                throw BridgeError(
                    .configuration,
                    "\(path) has no element \"\(member.name)\"" + NearestName.question(names, to: member.name),
                    remedy: "its elements: \(NearestName.list(names, to: member.name))")
            }
        }
        for (child, member) in zip(type.children, names) {
            let name = child.name.local
            let given = elements.last {
                $0.name == member || $0.name.hasPrefix("{") && QName(clark: $0.name) == child.name
            }
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
        for member in elements where type.child(named: member.name) == nil {
            try writeStranger(member, parent: parent, path: path)
        }
        guard let member = members.last(where: { $0.name == "#text" }) else { return }
        let own = try Self.simpleText(member.value, path)
        guard type.isMixed || own.trimmingWhiteSpace.isEmpty else {
            throw BridgeError(
                .configuration, "\(path) takes elements, but has a text (#text)",
                remedy: "its elements: \(NearestName.list(names, to: ""))")
        }
        if type.isMixed { text += try XMLText.escaped(own, at: path) }
    }

    private mutating func writeMember(_ child: SchemaElement, _ value: InputValue, path: String) throws(BridgeError) {
        guard case .array(let elements) = value else { return try write(child, value, path: path) }
        if !child.isRepeated {
            if case .complex(let type) = schemas[child.type], type.isArray {
                return try write(child, value, path: path)
            }
            if schemas.detail(child.type).isList { return try write(child, value, path: path) }
            if let member = wrapped(child, elements) {
                return try write(child, .object([.init(name: member.name.local, value: value)]), path: path)
            }
        }
        guard child.isRepeated || elements.count < 2 else {
            throw BridgeError(.configuration, "\(path) takes one value, not a list of \(elements.count)")
        }
        for element in elements { try write(child, element, path: path) }
    }

    /// Returns the member of a wrapper (`ArrayOfString`) that a plain list fills; nil if the element is not a wrapper.
    private func wrapped(_ element: SchemaElement, _ elements: [InputValue]) -> SchemaElement? {
        guard case .complex(let type) = schemas[element.type], let member = type.children.first,
            type.children.count == 1, member.isRepeated, !type.isOpen
        else { return nil }
        // A list of one object that names the member is the wrapper itself.
        if elements.count == 1, elements[0].member(member.name.local) != nil { return nil }
        return member
    }

    /// Writes undescribed elements in the config's order and in the namespace of their parent.
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

    /// Writes an element named only by the config; `{namespace}name` gives its namespace.
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

    mutating func prefixed(_ name: QName) -> String {
        if name.namespace.isEmpty { return name.local }
        if let index = namespaces.firstIndex(of: name.namespace) { return "n\(index + 1):\(name.local)" }
        namespaces.append(name.namespace)
        return "n\(namespaces.count):\(name.local)"
    }
}
