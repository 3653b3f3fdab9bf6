internal import BridgeKit

/// Joins the parts of collected documents - services, bindings, port types, messages - into a ``WSDLDefinition``.
struct WSDLReader {
    private var bindings: [QName: XMLElement] = [:]
    private var bindingNames: [QName] = []
    private var portTypes: [QName: XMLElement] = [:]
    private var messages: [QName: XMLElement] = [:]
    private var definition = WSDLDefinition()
    private var noted: Set<String> = []

    /// Reads a WSDL and what it leads to, through `read`.
    ///
    /// - Throws: ``BridgeError`` for a document that is not WSDL 1.1, hostile or too large; what `read` throws.
    static func load(
        _ location: DocumentLocation, allowedHosts: Set<String> = [],
        read: @escaping (DocumentLocation) throws -> [UInt8]
    ) throws -> WSDLDefinition {
        var collector = DocumentCollector(allowedHosts: allowedHosts, read: read)
        try collector.collect(location)
        var reader = WSDLReader()
        let (schemas, notes) = try SchemaReader.read(collector.schemas)
        reader.definition.schemas = schemas
        reader.definition.notes = collector.notes + notes
        for document in collector.definitions { reader.index(document) }
        for document in collector.definitions { reader.addServices(document) }
        if reader.definition.services.allSatisfy(\.ports.isEmpty) { reader.addBindingsAsPorts() }
        return reader.definition
    }

    private mutating func index(_ document: XMLElement) {
        let namespace = document["targetNamespace"] ?? ""
        for node in document.children where node.name.namespace == Namespace.wsdl {
            guard let name = node["name"].map({ QName(namespace, $0.trimmingWhiteSpace) }) else { continue }
            switch node.name.local {
            case "binding":
                if bindings[name] == nil { bindingNames.append(name) }
                bindings[name] = node
            case "portType": portTypes[name] = node
            case "message": messages[name] = node
            default: break
            }
        }
    }

    private mutating func note(_ text: String) {
        if noted.count < 20, noted.insert(text).inserted { definition.notes.append(text) }
    }

    /// What an attribute refers to: by its name, or by its local name where the namespace is wrong.
    private mutating func find(
        _ attribute: String, of node: XMLElement, in known: [QName: XMLElement]
    ) -> (name: QName, node: XMLElement)? {
        guard let text = node[attribute]?.trimmingWhiteSpace, !text.isEmpty else { return nil }
        let name = node.qualifiedName(attribute)
        if let name, let found = known[name] { return (name, found) }
        let local = name?.local ?? text.split(separator: ":").last.map { String($0) } ?? text
        let alike = known.filter { $0.key.local == local }
        guard let found = alike.first, alike.count == 1 else { return nil }
        note("there is no \(attribute) \(text) in its namespace: \(found.key) is taken for it")
        return (found.key, found.value)
    }

    // MARK: Services and ports

    private mutating func addServices(_ document: XMLElement) {
        for node in document.children(Namespace.wsdl, "service") {
            var service = WSDLService(name: node["name"]?.trimmingWhiteSpace ?? "")
            for port in node.children(Namespace.wsdl, "port") {
                guard let (_, binding) = find("binding", of: port, in: bindings) else {
                    note("port \"\(port["name"] ?? "")\" has no binding in the WSDL: left out")
                    continue
                }
                guard
                    let found = self.port(
                        named: port["name"]?.trimmingWhiteSpace ?? "", binding,
                        address: Self.soapChild(of: port, "address")?["location"]?.trimmingWhiteSpace ?? "")
                else { continue }
                service.ports.append(found)
            }
            definition.services.append(service)
        }
    }

    /// A WSDL without a service, as parts of others are: what its bindings offer, at the option `endpoint`.
    private mutating func addBindingsAsPorts() {
        var service = WSDLService(name: definition.services.first?.name ?? "")
        for name in bindingNames {
            guard let binding = bindings[name], let port = port(named: name.local, binding, address: "") else { continue }
            service.ports.append(port)
        }
        guard !service.ports.isEmpty else { return }
        note("the WSDL has no service with a SOAP port: its bindings are taken for ports, without an address")
        definition.services = [service]
    }

    private mutating func port(named name: String, _ binding: XMLElement, address: String) -> WSDLPort? {
        guard let soap = Self.soapChild(of: binding, "binding") else { return nil }
        let version: SOAPVersion = soap.name.namespace == Namespace.wsdlSOAP12 ? .v12 : .v11
        var port = WSDLPort(
            name: name, version: version, address: address,
            operations: operations(of: binding, style: soap["style"]?.trimmingWhiteSpace ?? "document"))
        // Transports are URIs that say what they are: http://schemas.xmlsoap.org/soap/http, .../soap/jms, .../soap/smtp.
        let transport = (soap["transport"] ?? "").lowercased()
        port.isHTTP = !["jms", "smtp", "mail", "tcp", "udp", "xmpp"].contains { transport.hasSuffix($0) || transport.contains("/\($0)") }
        if let colon = address.firstIndex(of: ":"), !["http", "https"].contains(address[..<colon].lowercased()) {
            port.isHTTP = false
        }
        port.usesAddressing = binding.children.contains {
            $0.name.local == "UsingAddressing" && Namespace.addressingWSDL.contains($0.name.namespace)
        }
        return port
    }

    static func soapChild(of node: XMLElement, _ local: String) -> XMLElement? {
        node.child(Namespace.wsdlSOAP11, local) ?? node.child(Namespace.wsdlSOAP12, local)
    }

    // MARK: Operations

    private mutating func operations(of binding: XMLElement, style: String) -> [WSDLOperation] {
        let portType = find("type", of: binding, in: portTypes)
        let abstracts = portType?.node.children(Namespace.wsdl, "operation") ?? []
        var taken: Set<String> = []
        var found: [WSDLOperation] = []
        var concretes = binding.children(Namespace.wsdl, "operation")
        if concretes.isEmpty, !abstracts.isEmpty {
            note("binding \"\(binding["name"] ?? "")\" describes no operations: those of its port type are taken as literal")
            concretes = abstracts.map { node in
                var bare = node
                bare.children = []
                return bare
            }
        }
        for node in concretes {
            guard let name = node["name"]?.trimmingWhiteSpace else { continue }
            let soap = Self.soapChild(of: node, "operation")
            let inputName = node.child(Namespace.wsdl, "input")?["name"]
            var operation = WSDLOperation(
                name: name, action: (soap?["soapAction"] ?? "").filter { $0 != "\"" }.trimmingWhiteSpace,
                style: (soap?["style"]?.trimmingWhiteSpace ?? style) == "rpc" ? .rpc : .document, input: MessageBody(),
                output: MessageBody())
            // The name of its input tells an overloaded operation (WSDL 1.1, section 2.5).
            let named = abstracts.filter { $0["name"]?.trimmingWhiteSpace == name }
            let abstract =
                named.count == 1
                ? named[0]
                : named.first { $0.child(Namespace.wsdl, "input")?["name"] == inputName }
                    ?? (named.isEmpty ? inherited(name) : named[min(taken.contains(name) ? 1 : 0, named.count - 1)])
            if !taken.insert(name).inserted {
                operation.name = "\(name):\(inputName ?? "\(found.count)")"
                guard taken.insert(operation.name).inserted else { continue }
            }
            if let abstract {
                fill(&operation, abstract, node, name: name, portType: portType?.name)
            } else {
                operation.problem = "is in the binding, but not in its port type"
            }
            found.append(operation)
        }
        return found
    }

    /// An operation that another port type has, as those of WSRF extend each other.
    private mutating func inherited(_ name: String) -> XMLElement? {
        let alike = portTypes.values.flatMap { $0.children(Namespace.wsdl, "operation") }.filter { $0["name"] == name }
        guard alike.count == 1 else { return nil }
        note("operation \"\(name)\" is not in its binding's port type: that of another one is taken")
        return alike[0]
    }

    private mutating func fill(
        _ operation: inout WSDLOperation, _ abstract: XMLElement, _ concrete: XMLElement, name: String,
        portType: QName?
    ) {
        let input = abstract.child(Namespace.wsdl, "input")
        operation.addressingAction = Self.addressingAction(
            input, name: name, portType: portType, isOneWay: abstract.child(Namespace.wsdl, "output") == nil)
        operation.input = body(input, concrete.child(Namespace.wsdl, "input"), operation, wrapper: name)
        operation.headers = headers(of: concrete.child(Namespace.wsdl, "input"))
        if let output = abstract.child(Namespace.wsdl, "output") {
            operation.output = body(
                output, concrete.child(Namespace.wsdl, "output"), operation, wrapper: name + "Response")
        } else {
            operation.isOneWay = true
        }
        for fault in abstract.children(Namespace.wsdl, "fault") {
            guard let (_, message) = find("message", of: fault, in: messages) else { continue }
            for part in message.children(Namespace.wsdl, "part") {
                if let name = part.qualifiedName("element"), let element = definition.schemas.element(named: name) {
                    operation.faults.append(element)
                } else if let name = part.qualifiedName("type"), let type = definition.schemas.knownType(named: name) {
                    operation.faults.append(SchemaElement(name: QName("", part["name"] ?? ""), type: type))
                }
            }
        }
    }

    /// WS-Addressing 1.0, Metadata, section 4.4: what the input says, else a pattern of names.
    private static func addressingAction(
        _ input: XMLElement?, name: String, portType: QName?, isOneWay: Bool
    ) -> String {
        for namespace in Namespace.addressingWSDL {
            if let action = input?.attributes["{\(namespace)}Action"], !action.isEmpty { return action }
        }
        guard let portType, !portType.namespace.isEmpty else { return "" }
        let delimiter = portType.namespace.hasPrefix("urn:") ? ":" : "/"
        let base = portType.namespace.hasSuffix(delimiter) ? String(portType.namespace.dropLast()) : portType.namespace
        let inputName = input?["name"] ?? (isOneWay ? name : name + "Request")
        return [base, portType.local, inputName].joined(separator: delimiter)
    }

    private mutating func body(
        _ abstract: XMLElement?, _ concrete: XMLElement?, _ operation: WSDLOperation, wrapper: String
    ) -> MessageBody {
        let soapBody = concrete.flatMap { Self.soapBody(of: $0) }
        let isEncoded = soapBody?["use"]?.trimmingWhiteSpace == "encoded"
        let namespace = soapBody?["namespace"] ?? ""
        guard let abstract, abstract["message"] != nil else {
            // No message, no parts.
            return operation.style == .rpc
                ? rpcBody([], QName(namespace, wrapper), isEncoded: isEncoded) : MessageBody(isEncoded: isEncoded)
        }
        guard let (name, message) = find("message", of: abstract, in: messages) else {
            note("operation \"\(operation.name)\" has no message \(abstract["message"] ?? "") in the WSDL: read by what it looks like")
            guard operation.style == .rpc else { return MessageBody(isEncoded: isEncoded) }
            let element = SchemaElement(name: QName(namespace, wrapper), type: definition.schemas.anyType)
            return MessageBody(elements: [element], isEncoded: isEncoded)
        }
        var parts = message.children(Namespace.wsdl, "part")
        if let wanted = soapBody?["parts"] {
            let names = wanted.split { $0.isWhitespace }.map(String.init)
            let chosen = parts.filter { names.contains($0["name"] ?? "") }
            if !chosen.isEmpty || names.isEmpty { parts = chosen }
        } else if let concrete {
            // Parts that a soap:header takes are not in the body, nor those that are attachments.
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

    /// The element that a part of document style is: the one it refers to; with a type, one of the part's name.
    private mutating func element(of part: XMLElement) -> SchemaElement {
        if part["element"] != nil {
            let name = part.qualifiedName("element") ?? QName("", part["element"] ?? "")
            if let found = definition.schemas.element(named: name) {
                if found.name != name { note("there is no element \(name): \(found.name) is taken for it") }
                return found
            }
            note("no schema has the element \(name): read by what it looks like")
            return SchemaElement(name: name, type: definition.schemas.anyType)
        }
        return SchemaElement(name: QName("", part["name"] ?? "parameters"), type: type(of: part))
    }

    private mutating func type(of part: XMLElement) -> TypeID {
        if let name = part.qualifiedName("type") {
            if let type = definition.schemas.knownType(named: name) { return type }
            if !name.isBuiltIn { note("no schema has the type \(name): read by what it looks like") }
        } else if let name = part.qualifiedName("element"), let element = definition.schemas.element(named: name) {
            return element.type
        }
        return definition.schemas.anyType
    }

    /// The wrapper of rpc style: named as the operation, with the parts as unqualified children (WSDL 1.1, section 3.5).
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

    private mutating func headers(of concrete: XMLElement?) -> [SchemaElement] {
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

    /// The soap:body, also inside a multipart/related description.
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
            guard let part = header["part"], find("message", of: header, in: messages)?.name == message else { continue }
            parts.insert(part)
        }
        return parts
    }

    /// The parts that mime:content says to be attachments.
    private static func attachedParts(of node: XMLElement) -> Set<String> {
        let contents = multipartParts(of: node).flatMap(\.children).filter { $0.name.local == "content" }
        return Set(contents.compactMap { $0["part"] })
    }
}
