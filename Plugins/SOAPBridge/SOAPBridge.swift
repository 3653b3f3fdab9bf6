internal import BridgeHTTP
public import BridgeKit
public import RecordBatch
internal import Synchronization

/// Records from SOAP services, as a WSDL 1.1 describes them.
public final class SOAPBridge: Bridge {
    /// What the bridge is and can do.
    public static let descriptor = BridgeDescriptor(
        name: "soap", version: "0.1.0",
        summary: "SOAP 1.1 and 1.2 over HTTP, driven by a WSDL; replies are streamed.",
        optionsSchema: SOAPOptions.schema, entitySchema: SOAPSection.schema, isolation: .inProcess, isConcurrent: true,
        capabilities: [.check, .discover, .fetch, .resume])

    private let options: SOAPOptions
    private let context: BridgeContext
    private let client: HTTPClient
    /// Loaded once, by the first who needs it; the others wait.
    private let loaded = Mutex<WSDLDefinition?>(nil)

    /// Checks the options; connects to nothing.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        self.options = try SOAPOptions(options)
        self.context = context
        client = try HTTPClient(options: self.options.http, context: context)
    }

    /// Loads the WSDL, and tells what would be called.
    public func check() throws -> String? {
        let definition = try definition()
        let (service, port) = try definition.port(
            service: options.service, port: options.port, version: options.version)
        let endpoint = try endpoint(of: port)
        let version = options.version ?? port.version
        return "service \(service.name), port \(port.name) (SOAP \(version.rawValue)) with "
            + "\(port.operations.count) operations, at \(client.redactor.clean(url: endpoint.text))"
    }

    /// Offers an entity for each operation whose reply has a list.
    public func discover(into writer: RecordBatchWriter) throws {
        let definition = try definition()
        let (_, port) = try definition.port(service: options.service, port: options.port, version: options.version)
        for operation in port.operations where operation.problem == nil {
            RecordListing(operation, definition.schemas)?.write(to: writer)
        }
    }

    /// Begins to walk an operation's records.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let section = try SOAPSection(request.section)
        let definition = try definition()
        let (_, port) = try definition.port(service: options.service, port: options.port, version: options.version)
        let operation = try port.operation(section.operation)
        let plan = try ReplyPlan(
            operation: operation, schemas: definition.schemas, records: section.records,
            total: section.paging.totalPath)
        let endpoint = try endpoint(of: port)
        let isTrusted = isTrusted(endpoint)
        var notes = definition.notes
        if !isTrusted {
            notes.append(
                "credentials are not sent to \(client.redactor.clean(url: endpoint.text)), which the WSDL names and "
                    + "which is another origin than the WSDL's: set the option endpoint to send them")
        }
        let call = SOAPCall(
            client: client, endpoint: endpoint, sendsCredentials: isTrusted, version: options.version ?? port.version,
            operation: operation, schemas: definition.schemas)
        return try SOAPSource(
            call: call, plan: plan, section: section, entity: request.entity, cursor: request.cursor, notes: notes)
    }

    private func endpoint(of port: WSDLPort) throws -> HTTPURL {
        if let endpoint = options.endpoint { return endpoint }
        guard let url = HTTPURL(port.address), !url.hasUserInfo else {
            throw BridgeError(
                .configuration, "the WSDL gives port \"\(port.name)\" no http(s) address",
                remedy: "set the option endpoint", location: client.redactor.clean(url: port.address))
        }
        return url
    }

    /// A WSDL from the network must not lead credentials to another host; one from the disk is the user's own word.
    private func isTrusted(_ endpoint: HTTPURL) -> Bool {
        options.endpoint != nil || options.wsdl.isFile || HTTPURL("\(options.wsdl)")?.origin == endpoint.origin
    }

    private func definition() throws -> WSDLDefinition {
        try loaded.withLock { loaded in
            if let loaded { return loaded }
            let client = client
            let definition = try WSDLReader.load(options.wsdl) { location in
                try DocumentReader.read(location, client: client)
            }
            for note in definition.notes { context.log(.warning, note) }
            loaded = definition
            return definition
        }
    }
}
