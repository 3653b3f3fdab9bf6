internal import BridgeKit

/// The SOAP services of a WSDL 1.1 document and its imports.
struct WSDLDefinition: Sendable {
    var services: [WSDLService] = []
    var schemas = SchemaSet()
    /// One sentence for each omission and tolerated error.
    var notes: [String] = []
}

/// A service: ports with the same interface.
struct WSDLService: Sendable {
    var name: String
    var ports: [WSDLPort] = []
}

/// A SOAP binding with its address.
struct WSDLPort: Sendable {
    var name: String
    var version: SOAPVersion
    /// The URL of soap:address; often wrong, see the option `endpoint`.
    var address: String
    var operations: [WSDLOperation] = []
    /// Whether the binding uses HTTP (WSDL 1.1, section 3.3); false for JMS, SMTP and the like.
    var isHTTP = true
    /// Whether the binding requires WS-Addressing.
    var usesAddressing = false
}

/// An operation of a binding.
struct WSDLOperation: Sendable {
    /// The name; later overloads are named `NAME:INPUT`, with the name of their input.
    var name: String
    /// The SOAPAction URI; empty for none.
    var action: String
    var style: Style
    var input: MessageBody
    var output: MessageBody
    /// Why the bridge can't call the operation; nil if it can.
    var problem: String?
    /// Whether the operation has no reply.
    var isOneWay = false
    /// The header blocks of the request according to the binding.
    var headers: [SchemaElement] = []
    /// The possible elements of a fault's detail.
    var faults: [SchemaElement] = []
    /// The WS-Addressing action of the request.
    var addressingAction = ""

    enum Style: String, Sendable {
        case document, rpc
    }
}

/// The elements in a message's soap:Body: one for rpc (the wrapper) and wrapped, one per part for document.
struct MessageBody: Sendable {
    var elements: [SchemaElement] = []
    /// Whether SOAP encoding is used (SOAP 1.1, section 5): values name their types, arrays those of their members, and
    /// values may be references.
    var isEncoded = false
}

extension WSDLDefinition {
    /// Returns the first port that matches the options, preferring those over HTTP.
    ///
    /// - Throws: ``BridgeError`` configuration that lists the available names, the nearest first.
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
                + (notes.isEmpty ? "" : "; what is odd in it: " + notes.prefix(3).joined(separator: "; ")),
            remedy: "point the option \"wsdl\" at the WSDL that has the service")
    }
}

extension WSDLPort {
    /// Returns the operation with this name.
    ///
    /// - Throws: ``BridgeError`` configuration that lists the available names, the nearest first.
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
