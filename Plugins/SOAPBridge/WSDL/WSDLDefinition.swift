internal import BridgeKit

/// What a WSDL 1.1 document, with all it imports, offers over SOAP.
struct WSDLDefinition: Sendable {
    var services: [WSDLService] = []
    var schemas = SchemaSet()
    /// What was left out or forgiven while reading, a sentence each.
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
    /// The binding says that it goes over HTTP (WSDL 1.1, section 3.3); false for JMS, SMTP and the like.
    var isHTTP = true
    /// The binding asks for WS-Addressing.
    var usesAddressing = false
}

/// An operation as a binding describes it.
struct WSDLOperation: Sendable {
    /// Its name; of overloaded ones the later are called `NAME:INPUT`, with the name of their input.
    var name: String
    /// The SOAPAction URI; empty for none.
    var action: String
    var style: Style
    var input: MessageBody
    var output: MessageBody
    /// Why the bridge can't call it, in words; nil when it can.
    var problem: String?
    /// It has no reply.
    var isOneWay = false
    /// The header blocks that the binding describes for the request.
    var headers: [SchemaElement] = []
    /// The elements that a fault's detail may hold.
    var faults: [SchemaElement] = []
    /// The action of WS-Addressing for the request.
    var addressingAction = ""

    enum Style: String, Sendable {
        case document, rpc
    }
}

/// The elements inside a message's soap:Body: one for rpc (the wrapper) and wrapped, as many as parts for document.
struct MessageBody: Sendable {
    var elements: [SchemaElement] = []
    /// SOAP encoding (SOAP 1.1, section 5): values name their types, arrays their members', and may stand elsewhere.
    var isEncoded = false
}

extension WSDLDefinition {
    /// The port that the options mean: the first that fits what they say, one over HTTP before others.
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
        let usable = pairs.filter { $0.1.isHTTP && !$0.1.operations.isEmpty }
        for pairs in [usable, pairs] {
            if let version, let found = pairs.first(where: { $0.1.version == version }) { return found }
            if let first = pairs.first { return first }
        }
        throw BridgeError(
            .configuration,
            "the WSDL offers no port with a SOAP binding"
                + (notes.isEmpty ? "" : "; of the WSDL: " + notes.prefix(3).joined(separator: "; ")),
            remedy: "point the option \"wsdl\" at the WSDL that has the service")
    }
}

extension WSDLPort {
    /// The operation of this name.
    ///
    /// - Throws: ``BridgeError`` configuration that lists what there is, the nearest first.
    func operation(_ name: String) throws(BridgeError) -> WSDLOperation {
        guard let operation = operations.first(where: { $0.name == name }) else {
            throw BridgeError(
                .configuration,
                "port \"\(self.name)\" has no operation \"\(name)\""
                    + NearestName.question(operations.map(\.name), to: name),
                remedy: "its operations: \(NearestName.list(operations.map(\.name), to: name))")
        }
        if let problem = operation.problem {
            throw BridgeError(.unsupported, "operation \"\(name)\" \(problem)")
        }
        return operation
    }
}
