/// The contents of messages: body, header and attachments.
extension WSDLReader {
    mutating func body(
        _ abstract: XMLElement?, _ concrete: XMLElement?, _ operation: WSDLOperation, wrapper: String
    ) -> MessageBody {
        let soapBody = concrete.flatMap { Self.soapBody(of: $0) }
        let isEncoded = soapBody?["use"]?.trimmingWhiteSpace == "encoded"
        let namespace = soapBody?["namespace"] ?? ""
        guard let abstract, abstract["message"] != nil else {
            // A missing message has no parts.
            return operation.style == .rpc
                ? rpcBody([], QName(namespace, wrapper), isEncoded: isEncoded) : MessageBody(isEncoded: isEncoded)
        }
        guard let (name, message) = find("message", of: abstract, in: messages) else {
            let text = abstract["message"] ?? ""
            note("operation \"\(operation.name)\" has no message \(text) in the WSDL: inferred from the data")
            guard operation.style == .rpc else { return MessageBody(isEncoded: isEncoded) }
            let element = SchemaElement(name: QName(namespace, wrapper), type: definition.schemas.anyType)
            return MessageBody(elements: [element], isEncoded: isEncoded)
        }
        var parts = message.children(Namespace.wsdl, "part")
        if let wanted = soapBody?["parts"] {
            let names = Set(wanted.split { $0.isWhitespace }.map(String.init))
            let chosen = parts.filter { names.contains($0["name"] ?? "") }
            if !chosen.isEmpty || names.isEmpty { parts = chosen }
        } else if let concrete {
            // The body excludes the parts of soap:header elements and the attachments.
            let others = headerParts(of: concrete, message: name).union(Self.attachedParts(of: concrete))
            parts.removeAll { others.contains($0["name"] ?? "") }
        }
        if operation.style == .rpc {
            return rpcBody(parts, QName(namespace, wrapper), isEncoded: isEncoded)
        }
        var body = MessageBody(isEncoded: isEncoded)
        for part in parts { body.elements.append(element(of: part)) }
        return body
    }

    /// Returns the element of a part in document style: the referenced one, or for a type one with the part's name.
    private mutating func element(of part: XMLElement) -> SchemaElement {
        if part["element"] != nil {
            let name = part.qualifiedName("element") ?? QName("", part["element"] ?? "")
            if let found = definition.schemas.element(named: name) {
                if found.name != name { note("there is no element \(name): \(found.name) is used instead") }
                return found
            }
            note("no schema has the element \(name): inferred from the data")
            return SchemaElement(name: name, type: definition.schemas.anyType)
        }
        return SchemaElement(name: QName("", part["name"] ?? "parameters"), type: type(of: part))
    }

    private mutating func type(of part: XMLElement) -> TypeID {
        if let name = part.qualifiedName("type") {
            if let type = definition.schemas.knownType(named: name) { return type }
            if !name.isBuiltIn { note("no schema has the type \(name): inferred from the data") }
        } else if let name = part.qualifiedName("element"), let element = definition.schemas.element(named: name) {
            return element.type
        }
        return definition.schemas.anyType
    }

    /// Returns the wrapper of rpc style: named after the operation, with the parts as unqualified children (WSDL 1.1,
    /// section 3.5).
    private mutating func rpcBody(_ parts: [XMLElement], _ wrapper: QName, isEncoded: Bool) -> MessageBody {
        var type = ComplexType()
        for part in parts {
            guard let name = part["name"] else { continue }
            type.children.append(SchemaElement(name: QName("", name), type: self.type(of: part)))
        }
        let id = definition.schemas.add(.complex(type))
        return MessageBody(elements: [SchemaElement(name: wrapper, type: id)], isEncoded: isEncoded)
    }

    // MARK: Headers and attachments

    mutating func headers(of concrete: XMLElement?) -> [SchemaElement] {
        guard let concrete else { return [] }
        return Self.soapHeaders(of: concrete).compactMap { header in
            guard let (_, message) = find("message", of: header, in: messages) else { return nil }
            let parts = message.children(Namespace.wsdl, "part")
            guard let part = parts.first(where: { $0["name"] == header["part"] }) ?? parts.first else { return nil }
            var element = element(of: part)
            if part["element"] == nil { element.name.namespace = header["namespace"] ?? "" }
            return element
        }
    }

    /// Returns the soap:body, which may be inside a multipart/related description.
    private static func soapBody(of node: XMLElement) -> XMLElement? {
        if let body = soapChild(of: node, "body") { return body }
        for part in multipartParts(of: node) { if let body = soapChild(of: part, "body") { return body } }
        return nil
    }

    private static func multipartParts(of node: XMLElement) -> [XMLElement] {
        node.children.filter { $0.name.local == "multipartRelated" }.flatMap(\.children)
    }

    private static func soapHeaders(of node: XMLElement) -> [XMLElement] {
        ([node] + multipartParts(of: node)).flatMap {
            $0.children(Namespace.wsdlSOAP11, "header") + $0.children(Namespace.wsdlSOAP12, "header")
        }
    }

    private mutating func headerParts(of node: XMLElement, message: QName) -> Set<String> {
        var parts: Set<String> = []
        for header in Self.soapHeaders(of: node) {
            guard let part = header["part"], find("message", of: header, in: messages)?.name == message else {
                continue
            }
            parts.insert(part)
        }
        return parts
    }

    /// Returns the parts that mime:content declares to be attachments.
    private static func attachedParts(of node: XMLElement) -> Set<String> {
        let contents = multipartParts(of: node).flatMap(\.children).filter { $0.name.local == "content" }
        return Set(contents.compactMap { $0["part"] })
    }
}
