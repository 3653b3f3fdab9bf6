internal import BridgeHTTP
public import BridgeKit
public import RecordBatch
internal import SystemCalls

/// Records from SOAP services described by a WSDL 1.1.
public final class SOAPBridge: Bridge {
    /// The bridge's name, schemas and capabilities.
    public static let descriptor = BridgeDescriptor(
        name: "soap", version: "0.1.0",
        summary: "SOAP 1.1 and 1.2 over HTTP, driven by a WSDL; replies are streamed.",
        optionsSchema: SOAPOptions.schema, entitySchema: SOAPSection.schema, isolation: .inProcess, isConcurrent: true,
        capabilities: [
            .check, .discover, .fetch, .resume, .parent, .incremental, .plan, .validate, .create, .update, .delete,
            .replay, .planWrite,
        ])

    private let options: SOAPOptions
    private let context: BridgeContext
    private let client: HTTPClient
    /// Loaded once by the first caller; others wait.
    private let loaded = Mutex<WSDLDefinition?>(nil)

    /// Validates the options; does not connect.
    public init(options: BridgeOptions, context: BridgeContext) throws {
        var own = try SOAPOptions(options)
        // A recording has to contain the documents, too.
        if context.exchange != nil { own.cache = nil }
        self.options = own
        self.context = context
        client = try HTTPClient(options: self.options.http, context: context)
    }

    /// Loads the WSDL and describes the service to be called.
    public func check() throws -> String? {
        let definition = try definition()
        let (service, port) = try definition.port(
            service: options.service, port: options.port, version: options.version)
        let endpoint = try endpoint(of: port)
        let version = options.version ?? port.version
        var hint = ""
        if options.endpoint == nil, !options.wsdl.isFile, !isTrusted(endpoint) {
            let near = DocumentLocation(endpoint.text)?.moved(to: options.wsdl).map { "\($0)" } ?? ""
            hint =
                "; that is another origin than the WSDL's: if it can't be reached, or needs credentials, set the option "
                + "endpoint" + (near.isEmpty ? "" : ", perhaps to " + client.redactor.clean(url: near))
        }
        return "service \(service.name), port \(port.name) (SOAP \(version.rawValue)) with "
            + "\(port.operations.count) operations, at \(client.redactor.clean(url: endpoint.text))" + hint
    }

    /// Offers an entity for each type of record that an operation lists.
    public func discover(into writer: RecordBatchWriter) throws {
        let definition = try definition()
        let (service, port) = try definition.port(
            service: options.service, port: options.port, version: options.version)
        let offers = ServiceReader(port, definition.schemas).offers()
        ServiceDescription(
            title: [service.name, port.name].first { !$0.isEmpty } ?? "soap",
            notes: notes(of: definition, port, offers),
            isEmpty: offers.isEmpty
        ).write(to: writer)
        for offer in offers { offer.description.write(to: writer) }
    }

    /// Returns facts about a WSDL that are useful to the user beyond the offers.
    private func notes(of definition: WSDLDefinition, _ port: WSDLPort, _ offers: [ServiceOffer]) -> [String] {
        var notes: [String] = []
        for service in definition.services {
            for port in service.ports {
                let place = port.address.isEmpty ? "no address" : client.redactor.clean(url: port.address)
                notes.append(
                    (service.name.isEmpty ? "no service" : "service \(service.name)")
                        + ", port \(port.name) (SOAP \(port.version.rawValue)) at \(place): "
                        + port.operations.map(\.name).joined(separator: ", "))
            }
        }
        let types = definition.schemas.namesOfTypes.filter { id, name in
            guard !name.isBuiltIn, case .complex = definition.schemas[id] else { return false }
            return true
        }
        if !types.isEmpty { notes.append("types: \(types.values.map(\.local).sorted().joined(separator: ", "))") }
        if options.endpoint == nil, HTTPURL(port.address) == nil {
            notes.append("the WSDL gives port \(port.name) no http(s) address: add endpoint")
        }
        if offers.isEmpty { notes.append("no operation returns anything that could be an entity") }
        return notes
    }

    /// Starts a scan of an operation's records.
    public func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let section = try SOAPSection(request.section)
        if request.validates { return ValidationSource(SOAPSectionValidator(request: request).faults()) }
        let definition = try definition()
        let (_, port) = try definition.port(service: options.service, port: options.port, version: options.version)
        let placeholders = Placeholders(parent: request.parent, since: request.since)
        if let parent = placeholders.skipped(in: section.input) { return SkippedSource(parent) }
        let source = try source(request, section, port, definition)
        guard request.explains else { return source }
        try WriteRuleCheck(
            request: request, section: section, port: port, schemas: definition.schemas,
            commonFaults: options.faultRules
        ).run(warnings: &source.warnings)
        let operation = try port.operation(section.operation)
        return ExplainedSource(
            request: try "POST \(client.redactor.clean(url: endpoint(of: port).text))",
            body: client.redactor.clean(try source.explain()), warnings: source.warnings,
            metadata: [
                "paging": section.paging.style.rawValue,
                "fields": ReplyPaths(operation, definition.schemas, unwraps: section.unwraps).fields(section.records)
                    .joined(separator: "\n"),
            ].filter { !$0.value.isEmpty })
    }

    /// Creates a scan of a section's records.
    private func source(
        _ request: FetchRequest, _ section: SOAPSection, _ port: WSDLPort, _ definition: WSDLDefinition,
        isExact: Bool = false
    ) throws -> SOAPSource {
        let first = try readable(section.operation, of: port)
        var section = section
        section.paging.take(PlainCounts(around: section.records, of: first, definition.schemas))
        let paging = section.paging
        func signs(_ records: [String], _ operation: WSDLOperation) -> FailureSigns {
            paging.isDeclaredWhole
                ? FailureSigns() : FailureSigns(around: records, of: operation, definition.schemas)
        }
        let call = try self.call(first, port: port, definition, section: section)
        let plan = try ReplyPlan(
            operation: first, schemas: definition.schemas, records: section.records, total: paging.totalPath,
            token: paging.tokenPath, more: paging.morePath, done: paging.donePath,
            signs: signs(section.records, first), unwraps: section.unwraps, addsTotals: paging.addsTotals)
        var further: SOAPSource.Step?
        if let name = paging.operation {
            let operation = try readable(name, of: port)
            func moved(_ path: [String]) -> [String] { paging.moved(path, from: first, to: operation) }
            let records = paging.recordsPath.isEmpty ? moved(section.records) : paging.recordsPath
            further = SOAPSource.Step(
                call: try self.call(operation, port: port, definition, section: section),
                plan: try ReplyPlan(
                    operation: operation, schemas: definition.schemas, records: records,
                    total: moved(paging.totalPath), token: moved(paging.tokenPath), more: moved(paging.morePath),
                    done: moved(paging.donePath), signs: signs(records, operation), unwraps: section.unwraps))
        }
        var notes = Self.shortened(definition.notes)
        if !call.sendsCredentials {
            let hasCredentials = options.hasCredentials || !section.headers.isEmptyObject
            notes.append(
                "the input of \(first.name) is sent to \(client.redactor.clean(url: call.endpoint.text)), which the WSDL names "
                    + "and which is another origin than the WSDL's\(hasCredentials ? "; credentials are not" : ""): set the "
                    + "option endpoint to the URL that you trust")
        }
        let input = try Placeholders(parent: request.parent, since: request.since).filled(section.input)
        return try SOAPSource(
            first: SOAPSource.Step(call: call, plan: plan), further: further, section: section, input: input,
            entity: request.entity, cursor: request.cursor, notes: notes, isExact: isExact)
    }

    /// Sends one change, and writes the object's new state if the reply contains it.
    public func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        let section = try SOAPSection(request.section)
        let rule = try SOAPWriteRule(request)
        let definition = try definition()
        let (_, port) = try definition.port(service: options.service, port: options.port, version: options.version)
        var call = try self.call(port.operation(rule.service), port: port, definition, section: section)
        // Only the values of a read are the configuration's; those of a change are the user's data.
        guard call.sendsCredentials else {
            throw BridgeError(
                .permission,
                "the change was not sent: the WSDL names an endpoint of another origin than its own",
                remedy: "set the option endpoint to the URL that you trust",
                location: client.redactor.clean(url: call.endpoint.text))
        }
        call.isSentOnce = true
        let listing = try? port.operation(section.operation)
        let object = CurrentObject(request: request) {
            let reading = try request.readOne.map(SOAPSection.init) ?? section
            var fetch = FetchRequest(entity: request.entity, section: .empty)
            fetch.parent = request.readOne == nil ? request.parent : request.localObject
            let source = try self.source(fetch, reading, port, definition, isExact: true)
            let operation = try port.operation(reading.operation)
            return (source, ReplyPaths(operation, definition.schemas).record(reading.records)?.type)
        }
        try SOAPObjectWriter(
            call: call, rule: rule, request: request, listing: listing, records: section.records,
            unwraps: section.unwraps, current: object
        ).run(into: writer)
    }

    private func readable(_ name: String, of port: WSDLPort) throws -> WSDLOperation {
        let operation = try port.operation(name)
        guard !operation.isOneWay else {
            throw BridgeError(.unsupported, "operation \"\(name)\" is one-way: it has no reply to read")
        }
        return operation
    }

    /// Returns the call of an operation with the configured headers and limits.
    func call(
        _ operation: WSDLOperation, port: WSDLPort, _ definition: WSDLDefinition, section: SOAPSection
    ) throws -> SOAPCall {
        let endpoint = try endpoint(of: port)
        let addressing = options.addressing ?? (port.usesAddressing ? MessageAddressing() : nil)
        var call = SOAPCall(
            client: client, endpoint: endpoint, sendsCredentials: isTrusted(endpoint),
            version: options.version ?? port.version, operation: operation, schemas: definition.schemas,
            headers: MessageHeaders(
                blocks: [options.headers, section.headers], security: options.security, addressing: addressing),
            faultRules: section.faultRules + options.faultRules)
        call.timing = try section.timing.map { try client.timing.replaced(by: $0) }
        return call
    }

    /// Limits the number of notes, because each scan repeats them.
    private static func shortened(_ notes: [String]) -> [String] {
        guard notes.count > 5 else { return notes }
        return notes.prefix(5) + ["and \(notes.count - 5) more oddities of the WSDL: see the log"]
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

    /// Returns whether credentials may go to an endpoint: a WSDL from the network must not direct them to another host;
    /// the user vouches for a local file.
    private func isTrusted(_ endpoint: HTTPURL) -> Bool {
        options.endpoint != nil || options.wsdl.isFile || HTTPURL("\(options.wsdl)")?.origin == endpoint.origin
    }

    private func definition() throws -> WSDLDefinition {
        try loaded.withLock { loaded in
            if let loaded { return loaded }
            let reader = DocumentReader(
                client: client, trusted: options.wsdl, cache: options.cache, importHosts: options.importHosts)
            let definition: WSDLDefinition
            do {
                definition = try context.aside {
                    try WSDLReader.load(options.wsdl, allowedHosts: options.importHosts, read: reader.read)
                }
            } catch var error as BridgeError {
                error.remote = error.remote.map(client.redactor.clean(_:))
                throw error
            }
            for note in definition.notes { context.log(.warning, note) }
            loaded = definition
            return definition
        }
    }
}
