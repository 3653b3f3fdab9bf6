internal import BridgeKit

/// Joins the parts of collected documents (services, bindings, port types and messages) into a ``WSDLDefinition``.
struct WSDLReader {
    private var bindings = DefinitionTable<XMLElement>()
    private var bindingNames: [QName] = []
    private var policies: [String: XMLElement] = [:]
    private var portTypes = DefinitionTable<PortType>()
    var messages = DefinitionTable<XMLElement>()
    /// The operations with unique names in all port types, for bindings whose port type lacks an operation.
    private lazy var operationsOfAll = Self.uniqueOperations(of: portTypes.all.values)
    var definition = WSDLDefinition()
    private var noted: Set<String> = []

    /// A port type with its operations by name.
    private struct PortType {
        let operations: [XMLElement]
        private(set) var named: [String: [XMLElement]] = [:]

        init(_ node: XMLElement) {
            operations = node.children(Namespace.wsdl, "operation")
            for operation in operations {
                guard let name = operation["name"]?.trimmingWhiteSpace else { continue }
                named[name, default: []].append(operation)
            }
        }
    }

    /// Reads a WSDL and the documents reachable from it through `read`.
    ///
    /// - Throws: ``BridgeError`` for a document that is not WSDL 1.1, malicious or too large; errors of `read`.
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
        for node in document.children where node.name.local == "Policy" {
            if let id = node.attributes["{\(Namespace.securityUtility)}Id"] { policies[id] = node }
        }
        for node in document.children where node.name.namespace == Namespace.wsdl {
            guard let name = node["name"].map({ QName(namespace, $0.trimmingWhiteSpace) }) else { continue }
            switch node.name.local {
            case "binding":
                if bindings[name] == nil { bindingNames.append(name) }
                bindings[name] = node
            case "portType": portTypes[name] = PortType(node)
            case "message": messages[name] = node
            default: break
            }
        }
    }

    mutating func note(_ text: String) {
        if noted.count < 20, noted.insert(text).inserted { definition.notes.append(text) }
    }

    /// Returns the definition to which an attribute refers; if the namespace is wrong, the only one with the local
    /// name.
    mutating func find<Definition>(
        _ attribute: String, of node: XMLElement, in known: DefinitionTable<Definition>
    ) -> (name: QName, node: Definition)? {
        guard let text = node[attribute]?.trimmingWhiteSpace, !text.isEmpty else { return nil }
        let name = node.qualifiedName(attribute)
        if let name, let found = known[name] { return (name, found) }
        let local = name?.local ?? text.split(separator: ":").last.map { String($0) } ?? text
        guard let found = known.only(local: local) else { return nil }
        note("there is no \(attribute) \(text) in its namespace: \(found.name) is used instead")
        return (found.name, found.value)
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

    /// Offers the bindings of a WSDL without services, as imported WSDLs are, at the option `endpoint`.
    private mutating func addBindingsAsPorts() {
        var service = WSDLService(name: definition.services.first?.name ?? "")
        for name in bindingNames {
            guard let binding = bindings[name], let port = port(named: name.local, binding, address: "") else {
                continue
            }
            service.ports.append(port)
        }
        guard !service.ports.isEmpty else { return }
        note("the WSDL has no service with a SOAP port: its bindings are taken as ports, without an address")
        definition.services = [service]
    }

    private mutating func port(named name: String, _ binding: XMLElement, address: String) -> WSDLPort? {
        guard let soap = Self.soapChild(of: binding, "binding") else { return nil }
        var version: SOAPVersion = soap.name.namespace == Namespace.wsdlSOAP12 ? .v12 : .v11
        // Mono writes a 1.1 binding whose operations are all 1.2, and means 1.2.
        let operations = binding.children(Namespace.wsdl, "operation")
        if version == .v11, !operations.isEmpty,
            operations.allSatisfy({ $0.child(Namespace.wsdlSOAP12, "operation") != nil })
        {
            version = .v12
        }
        var port = WSDLPort(
            name: name, version: version, address: address,
            operations: self.operations(of: binding, style: soap["style"]?.trimmingWhiteSpace ?? "document"))
        // Transports are descriptive URIs: http://schemas.xmlsoap.org/soap/http, .../soap/jms, .../soap/smtp.
        let transport = (soap["transport"] ?? "").lowercased()
        port.isHTTP = !["jms", "smtp", "mail", "tcp", "udp", "xmpp"].contains {
            transport.hasSuffix($0) || transport.contains("/\($0)")
        }
        if let colon = address.firstIndex(of: ":"), !["http", "https"].contains(address[..<colon].lowercased()) {
            port.isHTTP = false
        }
        let policies = binding.children.filter { $0.name.local == "PolicyReference" }.compactMap { policy in
            policy["URI"].flatMap { $0.hasPrefix("#") ? self.policies[String($0.dropFirst())] : nil }
        }
        port.usesAddressing = ([binding] + policies).contains { Self.asksForAddressing($0, depth: 0) }
        return port
    }

    /// Returns whether a binding or a policy (WS-Addressing 1.0, Metadata, section 3) requires WS-Addressing.
    private static func asksForAddressing(_ node: XMLElement, depth: Int) -> Bool {
        guard depth < 8 else { return false }
        return node.children.contains { child in
            guard child.name.namespace != Namespace.wsdl else { return false }
            if child.name.local == "UsingAddressing" || child.name.local == "Addressing",
                Namespace.addressingWSDL.contains(child.name.namespace)
            {
                let isOptional = child.attributes.contains { $0.key.hasSuffix("}Optional") && $0.value == "true" }
                return !isOptional && child.attributes["{\(Namespace.wsdl)}required"] != "false"
            }
            return asksForAddressing(child, depth: depth + 1)
        }
    }

    static func soapChild(of node: XMLElement, _ local: String) -> XMLElement? {
        node.child(Namespace.wsdlSOAP11, local) ?? node.child(Namespace.wsdlSOAP12, local)
    }

    // MARK: Operations

    private mutating func operations(of binding: XMLElement, style: String) -> [WSDLOperation] {
        let portType = find("type", of: binding, in: portTypes)
        let abstracts = portType?.node.operations ?? []
        var taken: Set<String> = []
        var found: [WSDLOperation] = []
        var concretes = binding.children(Namespace.wsdl, "operation")
        if concretes.isEmpty, !abstracts.isEmpty {
            let name = binding["name"] ?? ""
            note("binding \"\(name)\" describes no operations: those of its port type are taken as literal")
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
            // Overloaded operations are identified by the name of their input (WSDL 1.1, section 2.5).
            let named = portType?.node.named[name] ?? []
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

    /// Returns an operation of another port type; those of WSRF extend each other.
    private mutating func inherited(_ name: String) -> XMLElement? {
        guard let found = operationsOfAll[name] else { return nil }
        note("operation \"\(name)\" is not in its binding's port type: that of another one is used")
        return found
    }

    private static func uniqueOperations(of portTypes: some Sequence<PortType>) -> [String: XMLElement] {
        var found: [String: XMLElement] = [:]
        var several: Set<String> = []
        for operation in portTypes.lazy.flatMap(\.operations) {
            guard let name = operation["name"], !several.contains(name) else { continue }
            if found.updateValue(operation, forKey: name) != nil {
                found[name] = nil
                several.insert(name)
            }
        }
        return found
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

    /// Returns the action given by the input, or else the default pattern of names (WS-Addressing 1.0, Metadata,
    /// section 4.4).
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
}
