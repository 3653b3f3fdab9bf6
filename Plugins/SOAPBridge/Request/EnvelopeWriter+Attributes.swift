internal import BridgeKit
internal import TextFormats

/// Header blocks, attributes and text of a request.
extension EnvelopeWriter {
    mutating func writeHeaders(_ operation: WSDLOperation, _ headers: InputValue) throws(BridgeError) {
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
                // These belong to the envelope's namespace, not to the block's (SOAP 1.1, section 4.2).
                for name in ["@mustUnderstand", "@actor", "@role"] {
                    guard let index = inner.firstIndex(where: { $0.name == name }) else { continue }
                    let value = try Self.simpleText(inner.remove(at: index).value, name)
                    let isTrue = value == "true" ? (version == .v11 ? "1" : "true") : value
                    let escaped = try XMLText.escaped(isTrue, isAttribute: true, at: name)
                    attributes += " soap:\(name.dropFirst())=\"\(escaped)\""
                }
                content = .object(inner)
            }
            for value in content.elements {
                try write(element, value, path: "header \(element.name.local)", attributes: attributes, isTyped: false)
            }
        }
    }

    // MARK: Attributes

    mutating func writeAttributes(
        _ type: ComplexType?, _ value: InputValue, _ path: String
    ) throws(BridgeError) {
        var given: Set<QName> = []
        if case .object(let members) = value {
            for member in members where member.name.hasPrefix("@") && member.name != "@xsi:type" {
                let written = QName(clark: String(member.name.dropFirst()))
                let local = String(written.local.split(separator: ":").last ?? "")
                var name = QName(written.local.hasPrefix("xml:") ? Namespace.xml : written.namespace, local)
                let hasPrefix = name.namespace.isEmpty && local != written.local
                let declared = type?.attribute(named: name, inNamespace: hasPrefix)
                if declared == nil, name.namespace.isEmpty, let type, hasPrefix || !type.isAttributeOpen {
                    throw BridgeError(
                        .configuration, "\(path) has no attribute \"\(written.local)\"",
                        remedy: "its attributes: \(NearestName.list(type.attributes.map(\.name), to: local))")
                }
                name.namespace = declared?.namespace ?? name.namespace
                given.insert(name)
                try XMLText.checkName(local, path)
                let text = try Self.simpleText(member.value, path, kind: declared?.kind)
                try writeAttribute(name, text, path)
            }
        }
        for attribute in type?.attributes ?? []
        where attribute.isRequired && !given.contains(QName(attribute.namespace, attribute.name)) {
            if let value = attribute.value {
                try writeAttribute(QName(attribute.namespace, attribute.name), value, path)
            } else {
                missing.append("\(path)/@\(attribute.name)")
            }
        }
    }

    mutating func writeAttribute(_ name: QName, _ value: String, _ path: String) throws(BridgeError) {
        let tag = name.namespace == Namespace.xml ? "xml:\(name.local)" : prefixed(name)
        text += " \(tag)=\"\(try XMLText.escaped(value, isAttribute: true, at: path))\""
    }

    // MARK: Text

    static func simpleText(
        _ value: InputValue, _ path: String, _ detail: SimpleDetail? = nil, kind: SimpleKind? = nil
    ) throws(BridgeError) -> String {
        switch value {
        case .text(let text): return text
        case .bytes(let bytes): return kind == .hex ? BinaryText.hex(bytes) : BinaryText.base64(bytes)
        case .null: return ""
        case .object(let members):
            let others = members.filter { !$0.name.hasPrefix("@") }
            if others.isEmpty { return "" }
            if others.count == 1, others[0].name == "#text" {
                return try simpleText(others[0].value, path, detail, kind: kind)
            }
        case .array(let elements):
            if elements.count == 1 { return try simpleText(elements[0], path, kind: kind) }
            if detail?.isList == true {
                var words: [String] = []
                for element in elements { words.append(try simpleText(element, path, kind: kind)) }
                return words.joined(separator: " ")
            }
        }
        throw BridgeError(.configuration, "\(path) takes a text, not an object or a list")
    }
}
