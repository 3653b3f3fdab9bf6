internal import BridgeKit

/// Joins the parts of collected documents - services, bindings, port types, messages - into a ``WSDLDefinition``.
struct WSDLReader {
    private var bindings: [QName: XMLElement] = [:]
    private var portTypes: [QName: XMLElement] = [:]
    private var messages: [QName: XMLElement] = [:]
    private var definition = WSDLDefinition()

    /// Reads a WSDL and what it leads to, through `read`.
    ///
    /// - Throws: ``BridgeError`` for a document that is not WSDL 1.1, hostile or too large; what `read` throws.
    static func load(
        _ location: DocumentLocation, read: @escaping (DocumentLocation) throws -> [UInt8]
    ) throws -> WSDLDefinition {
        var collector = DocumentCollector(read: read)
        try collector.collect(location)
        var reader = WSDLReader()
        reader.definition.notes = collector.notes
        reader.definition.schemas = try SchemaReader.read(collector.schemas)
        for document in collector.definitions { reader.index(document) }
        for document in collector.definitions { reader.addServices(document) }
        return reader.definition
    }

    private mutating func index(_ document: XMLElement) {
        let namespace = document["targetNamespace"] ?? ""
        for node in document.children where node.name.namespace == Namespace.wsdl {
            guard let name = node["name"].map({ QName(namespace, $0) }) else { continue }
            switch node.name.local {
            case "binding": bindings[name] = node
            case "portType": portTypes[name] = node
            case "message": messages[name] = node
            default: break
            }
        }
    }

    private mutating func addServices(_ document: XMLElement) {
        for node in document.children(Namespace.wsdl, "service") {
            var service = WSDLService(name: node["name"] ?? "")
            for port in node.children(Namespace.wsdl, "port") {
                guard let binding = port.qualifiedName("binding").flatMap({ bindings[$0] }),
                    let soap = Self.soapChild(of: binding, "binding")
                else { continue }
                let version: SOAPVersion = soap.name.namespace == Namespace.wsdlSOAP12 ? .v12 : .v11
                service.ports.append(
                    WSDLPort(
                        name: port["name"] ?? "", version: version,
                        address: Self.soapChild(of: port, "address")?["location"] ?? "",
                        operations: operations(of: binding, style: soap["style"] ?? "document")))
            }
            definition.services.append(service)
        }
    }

    private static func soapChild(of node: XMLElement, _ local: String) -> XMLElement? {
        node.child(Namespace.wsdlSOAP11, local) ?? node.child(Namespace.wsdlSOAP12, local)
    }

    private mutating func operations(of binding: XMLElement, style: String) -> [WSDLOperation] {
        let portType = binding.qualifiedName("type").flatMap { portTypes[$0] }
        return binding.children(Namespace.wsdl, "operation").compactMap { node in
            guard let name = node["name"] else { return nil }
            let soap = Self.soapChild(of: node, "operation")
            var operation = WSDLOperation(
                name: name, action: (soap?["soapAction"] ?? "").filter { $0 != "\"" },
                style: (soap?["style"] ?? style) == "rpc" ? .rpc : .document, input: MessageBody(),
                output: MessageBody())
            guard let abstract = portType?.children(Namespace.wsdl, "operation").first(where: { $0["name"] == name })
            else {
                operation.problem = "is in the binding, but not in its port type"
                return operation
            }
            do throws(ReadProblem) {
                operation.input = try body(
                    abstract.child(Namespace.wsdl, "input"), node.child(Namespace.wsdl, "input"), operation, suffix: "")
                guard let output = abstract.child(Namespace.wsdl, "output") else {
                    throw ReadProblem("is one-way: it has no reply to read")
                }
                operation.output = try body(
                    output, node.child(Namespace.wsdl, "output"), operation, suffix: "Response")
            } catch {
                operation.problem = error.text
            }
            return operation
        }
    }

    private struct ReadProblem: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private mutating func body(
        _ abstract: XMLElement?, _ concrete: XMLElement?, _ operation: WSDLOperation, suffix: String
    ) throws(ReadProblem) -> MessageBody {
        guard let abstract, let name = abstract.qualifiedName("message"), let message = messages[name] else {
            throw ReadProblem("has no message in the WSDL")
        }
        let soapBody = concrete.flatMap { Self.soapBody(of: $0) }
        guard soapBody?["use"] != "encoded" else {
            throw ReadProblem("is rpc/encoded, which the bridge does not read yet (only literal)")
        }
        var parts = message.children(Namespace.wsdl, "part")
        if let wanted = soapBody?["parts"] {
            let names = wanted.split { $0.isWhitespace }.map(String.init)
            parts = parts.filter { names.contains($0["name"] ?? "") }
        } else if let concrete {
            // Parts that a soap:header takes are not in the body.
            let headers = Self.headerParts(of: concrete, message: name)
            parts.removeAll { headers.contains($0["name"] ?? "") }
        }
        if operation.style == .rpc {
            return rpcBody(parts, QName(soapBody?["namespace"] ?? "", operation.name + suffix))
        }
        var body = MessageBody()
        for part in parts {
            guard let element = part.qualifiedName("element") else {
                throw ReadProblem(
                    "is document style with a part of a type (\"\(part["name"] ?? "")\") instead of an element")
            }
            body.elements.append(
                definition.schemas.elements[element]
                    ?? SchemaElement(name: element, type: definition.schemas.anyType))
        }
        return body
    }

    /// The wrapper of rpc style: named as the operation, with the parts as unqualified children (WSDL 1.1, section 3.5).
    private mutating func rpcBody(_ parts: [XMLElement], _ wrapper: QName) -> MessageBody {
        var type = ComplexType()
        for part in parts {
            guard let name = part["name"] else { continue }
            var child = SchemaElement(name: QName("", name), type: definition.schemas.anyType)
            if let typeName = part.qualifiedName("type") {
                child.type = definition.schemas.type(named: typeName)
            } else if let element = part.qualifiedName("element").flatMap({ definition.schemas.elements[$0] }) {
                child.type = element.type
            }
            type.children.append(child)
        }
        let id = definition.schemas.add(.complex(type))
        return MessageBody(elements: [SchemaElement(name: wrapper, type: id)])
    }

    /// The soap:body, also inside a multipart/related description.
    private static func soapBody(of node: XMLElement) -> XMLElement? {
        if let body = soapChild(of: node, "body") { return body }
        for child in node.children where child.name.local == "multipartRelated" {
            for part in child.children { if let body = soapChild(of: part, "body") { return body } }
        }
        return nil
    }

    private static func headerParts(of node: XMLElement, message: QName) -> Set<String> {
        let headers = node.children(Namespace.wsdlSOAP11, "header") + node.children(Namespace.wsdlSOAP12, "header")
        return Set(headers.filter { $0.qualifiedName("message") == message }.compactMap { $0["part"] })
    }
}

extension SchemaSet {
    /// The type of this name, built-in ones too; ``anyType`` for an unknown one.
    mutating func type(named name: QName) -> TypeID {
        if let known = typeNames[name] { return known }
        guard name.namespace == Namespace.schema, let kind = SimpleKind(builtIn: name.local) else { return anyType }
        let id = add(.simple(kind))
        typeNames[name] = id
        return id
    }
}
