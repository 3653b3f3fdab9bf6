internal import BridgeKit

/// Writes a request's SOAP envelope from config values, in the schema's order and namespaces.
struct EnvelopeWriter {
    private let version: SOAPVersion
    private let schemas: SchemaSet
    private var body = ""
    private var namespaces: [String] = []
    /// What the schema requires and the input lacks, by path.
    private(set) var missing: [String] = []

    private init(version: SOAPVersion, schemas: SchemaSet) {
        self.version = version
        self.schemas = schemas
    }

    /// A request: its bytes (UTF-8), and the paths of required elements that the input lacks.
    ///
    /// - Throws: ``BridgeError`` configuration for a name that the schema doesn't have (with those it has), a list where
    ///   one value goes, an object where text goes, or a character that XML 1.0 can't hold.
    static func write(
        _ operation: WSDLOperation, version: SOAPVersion, input: InputValue, schemas: SchemaSet
    ) throws(BridgeError) -> (bytes: [UInt8], missing: [String]) {
        var writer = EnvelopeWriter(version: version, schemas: schemas)
        try writer.writeBody(operation, input)
        var envelope =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<soap:Envelope xmlns:soap=\"\(version.envelopeNamespace)\""
        for (index, namespace) in writer.namespaces.enumerated() {
            envelope += " xmlns:n\(index + 1)=\"\(try Self.escaped(namespace, at: "a namespace"))\""
        }
        envelope += "><soap:Body>\(writer.body)</soap:Body></soap:Envelope>"
        return (Array(envelope.utf8), writer.missing)
    }

    private mutating func writeBody(_ operation: WSDLOperation, _ input: InputValue) throws(BridgeError) {
        let elements = operation.input.elements
        if elements.count == 1 {
            try write(elements[0], input, path: elements[0].name.local)
        } else {
            var parts = ComplexType()
            parts.children = elements
            try writeContent(parts, input, parent: QName("", ""), path: "the request")
        }
    }

    private mutating func write(_ element: SchemaElement, _ value: InputValue, path: String) throws(BridgeError) {
        let tag = prefixed(element.name)
        if case .null = value {
            body += "<\(tag) xmlns:xsi=\"\(Namespace.instance)\" xsi:nil=\"true\"/>"
            return
        }
        body += "<\(tag)"
        switch schemas[element.type] {
        case .simple:
            body += ">"
            body += try Self.escaped(try Self.simpleText(value, path), at: path)
        case .complex(let type) where type.text != nil:
            try writeAttributes(type, value, path)
            body += ">"
            body += try Self.escaped(try Self.simpleText(value, path), at: path)
        case .complex(let type):
            try writeAttributes(type, value, path)
            body += ">"
            try writeContent(type, value, parent: element.name, path: path)
        case .any:
            try writeAttributes(nil, value, path)
            body += ">"
            try writeUndescribed(value, parent: element.name, path: path)
        }
        body += "</\(tag)>"
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
        let known = Set(type.children.map(\.name.local))
        for member in members where !member.name.hasPrefix("@") && member.name != "#text" {
            guard known.contains(member.name) || type.isOpen else {
                throw BridgeError(
                    .configuration, "\(path) has no element \"\(member.name)\"",
                    remedy: "its elements: \(NearestName.list(known, to: member.name))")
            }
        }
        for child in type.children {
            let name = child.name.local
            guard let member = members.last(where: { $0.name == name }) else {
                if child.isRequired, child.isNillable {
                    try write(child, .null, path: "\(path)/\(name)")
                } else if child.isRequired {
                    missing.append("\(path)/\(name)")
                }
                continue
            }
            try writeMember(child, member.value, path: "\(path)/\(name)")
        }
        for member in members
        where !known.contains(member.name) && !member.name.hasPrefix("@") && member.name != "#text" {
            try Self.checkName(member.name, path)
            let child = SchemaElement(
                name: QName(parent.namespace, member.name), type: schemas.anyType, isRepeated: true)
            try writeMember(child, member.value, path: "\(path)/\(member.name)")
        }
        if type.isMixed, let text = members.last(where: { $0.name == "#text" }) {
            body += try Self.escaped(try Self.simpleText(text.value, path), at: path)
        }
    }

    private mutating func writeMember(_ child: SchemaElement, _ value: InputValue, path: String) throws(BridgeError) {
        guard case .array(let elements) = value else { return try write(child, value, path: path) }
        guard child.isRepeated || elements.count < 2 else {
            throw BridgeError(.configuration, "\(path) takes one value, not a list of \(elements.count)")
        }
        for element in elements { try write(child, element, path: path) }
    }

    /// What no schema describes: elements in the config's order, in the namespace of what holds them.
    private mutating func writeUndescribed(_ value: InputValue, parent: QName, path: String) throws(BridgeError) {
        guard case .object(let members) = value else {
            body += try Self.escaped(try Self.simpleText(value, path), at: path)
            return
        }
        for member in members where !member.name.hasPrefix("@") {
            if member.name == "#text" {
                body += try Self.escaped(try Self.simpleText(member.value, path), at: path)
                continue
            }
            try Self.checkName(member.name, path)
            let child = SchemaElement(
                name: QName(parent.namespace, member.name), type: schemas.anyType, isRepeated: true)
            try writeMember(child, member.value, path: "\(path)/\(member.name)")
        }
    }

    private mutating func writeAttributes(
        _ type: ComplexType?, _ value: InputValue, _ path: String
    ) throws(BridgeError) {
        guard case .object(let members) = value else { return }
        for member in members where member.name.hasPrefix("@") {
            let name = String(member.name.dropFirst())
            if let type, !type.attributes.contains(where: { $0.name == name }) {
                throw BridgeError(
                    .configuration, "\(path) has no attribute \"\(name)\"",
                    remedy: "its attributes: \(NearestName.list(type.attributes.map(\.name), to: name))")
            }
            try Self.checkName(name, path)
            body += " \(name)=\"\(try Self.escaped(try Self.simpleText(member.value, path), at: path))\""
        }
    }

    private static func simpleText(_ value: InputValue, _ path: String) throws(BridgeError) -> String {
        switch value {
        case .text(let text): return text
        case .null: return ""
        case .object(let members):
            let others = members.filter { !$0.name.hasPrefix("@") }
            if others.isEmpty { return "" }
            if others.count == 1, others[0].name == "#text" { return try simpleText(others[0].value, path) }
        case .array(let elements): if elements.count == 1 { return try simpleText(elements[0], path) }
        }
        throw BridgeError(.configuration, "\(path) takes a text, not an object or a list")
    }

    private mutating func prefixed(_ name: QName) -> String {
        if name.namespace.isEmpty { return name.local }
        if let index = namespaces.firstIndex(of: name.namespace) { return "n\(index + 1):\(name.local)" }
        namespaces.append(name.namespace)
        return "n\(namespaces.count):\(name.local)"
    }

    /// A name that the config gives for what no schema describes must not break out of its tag.
    private static func checkName(_ name: String, _ path: String) throws(BridgeError) {
        let isName = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "_-.".unicodeScalars.contains($0)
        }
        guard isName, !name.isEmpty else {
            throw BridgeError(.configuration, "\(path) has the member \"\(name)\", which is not a name of XML")
        }
    }

    private static func escaped(_ text: String, at path: String) throws(BridgeError) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\r": out += "&#13;"
            case "\t", "\n": out.unicodeScalars.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}":
                throw BridgeError(
                    .configuration,
                    "\(path) holds a character (U+\(String(scalar.value, radix: 16))) that XML 1.0 can't")
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
