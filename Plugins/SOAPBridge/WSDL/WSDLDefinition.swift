internal import BridgeKit

/// What a WSDL 1.1 document, with all it imports, offers over SOAP.
struct WSDLDefinition: Sendable {
    var services: [WSDLService] = []
    var schemas = SchemaSet()
    /// What was left out while reading, a sentence each.
    var notes: [String] = []
}

/// A service: ports that offer the same thing.
struct WSDLService: Sendable {
    var name: String
    var ports: [WSDLPort] = []
}

/// A SOAP binding at an address.
struct WSDLPort: Sendable {
    var name: String
    var version: SOAPVersion
    /// The URL of soap:address; often wrong, see the option `endpoint`.
    var address: String
    var operations: [WSDLOperation] = []
}

/// An operation as a binding describes it.
struct WSDLOperation: Sendable {
    var name: String
    /// The SOAPAction URI; empty for none.
    var action: String
    var style: Style
    var input: MessageBody
    var output: MessageBody
    /// Why the bridge can't call it, in words; nil when it can.
    var problem: String?

    enum Style: String, Sendable {
        case document, rpc
    }
}

/// The elements inside a message's soap:Body: one for rpc (the wrapper) and wrapped, as many as parts for document.
struct MessageBody: Sendable {
    var elements: [SchemaElement] = []
}

extension WSDLDefinition {
    /// The port that the options mean: the first that fits what they say.
    ///
    /// - Throws: ``BridgeError`` configuration that lists what there is, the nearest first.
    func port(service: String?, port: String?, version: SOAPVersion?) throws(BridgeError) -> (WSDLService, WSDLPort) {
        var candidates = services
        if let service {
            candidates = services.filter { $0.name == service }
            guard !candidates.isEmpty else {
                throw BridgeError(
                    .configuration, "the WSDL has no service \"\(service)\"",
                    remedy: "its services: \(NearestName.list(services.map(\.name), to: service))")
            }
        }
        let pairs = candidates.flatMap { service in service.ports.map { (service, $0) } }
        if let port {
            guard let found = pairs.first(where: { $0.1.name == port }) else {
                throw BridgeError(
                    .configuration, "the WSDL has no SOAP port \"\(port)\"",
                    remedy: "its SOAP ports: \(NearestName.list(pairs.map(\.1.name), to: port))")
            }
            return found
        }
        if let version, let found = pairs.first(where: { $0.1.version == version }) { return found }
        guard let first = pairs.first else {
            throw BridgeError(
                .configuration, "the WSDL offers no port with a SOAP binding",
                remedy: "point the option \"wsdl\" at the WSDL that has the service")
        }
        return first
    }
}

extension WSDLPort {
    /// The operation of this name.
    ///
    /// - Throws: ``BridgeError`` configuration that lists what there is, the nearest first.
    func operation(_ name: String) throws(BridgeError) -> WSDLOperation {
        guard let operation = operations.first(where: { $0.name == name }) else {
            throw BridgeError(
                .configuration, "port \"\(self.name)\" has no operation \"\(name)\"",
                remedy: "its operations: \(NearestName.list(operations.map(\.name), to: name))")
        }
        if let problem = operation.problem {
            throw BridgeError(.unsupported, "operation \"\(name)\" \(problem)")
        }
        return operation
    }
}
