internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// One operation at one endpoint: builds requests and checks the status and headers of replies.
struct SOAPCall: Sendable {
    let client: HTTPClient
    let endpoint: HTTPURL
    /// Whether the endpoint has the origin that the user configured.
    let sendsCredentials: Bool
    let version: SOAPVersion
    let operation: WSDLOperation
    let schemas: SchemaSet
    var headers = MessageHeaders()
    var faultRules: [SOAPFaultRule] = []
    /// Whether the call is a write, which only the host may repeat.
    var isSentOnce = false
    /// The time limits of the service; nil for those of the options.
    var timing: HTTPTiming?

    /// Sends a request.
    ///
    /// - Returns: The exchange, and the paths of required elements that the input lacks.
    func start(_ input: InputValue) throws(BridgeError) -> (exchange: HTTPExchange, missing: [String]) {
        let (body, missing) = try envelope(input)
        var request = HTTPRequest(method: "POST", url: endpoint.text, body: body)
        request.headers = httpHeaders
        // Parsing keeps up with the network: a larger buffer would only cost memory.
        request.bufferLimit = 256 << 10
        request.sendsCredentials = sendsCredentials
        request.isSentOnce = isSentOnce
        request.timing = timing
        return (client.start(request), missing)
    }

    /// Returns the request's bytes and the paths of required elements that the input lacks.
    func envelope(_ input: InputValue) throws(BridgeError) -> (bytes: [UInt8], missing: [String]) {
        // If the WSDL moved the endpoint to another origin, header blocks carry no password either.
        let raw = try headers.standard(
            operation, version: version, endpoint: endpoint.text, hasSecurity: sendsCredentials)
        return try EnvelopeWriter.write(
            operation, version: version, input: input, schemas: schemas,
            headers: sendsCredentials ? headers.merged : .object([]), rawHeaders: raw)
    }

    /// The HTTP header fields that SOAP requires.
    var httpHeaders: [(name: String, value: String)] {
        let accept = "text/xml, application/soap+xml, multipart/related, application/xml;q=0.9, */*;q=0.1"
        switch version {
        case .v11:
            // SOAP 1.1, section 6.1.1: quoted, and present even if empty.
            return [
                ("Content-Type", "text/xml; charset=utf-8"), ("SOAPAction", "\"\(operation.action)\""),
                ("Accept", accept),
            ]
        case .v12:
            let action = operation.action.isEmpty ? "" : "; action=\"\(operation.action)\""
            return [("Content-Type", "application/soap+xml; charset=utf-8" + action), ("Accept", accept)]
        }
    }

    /// Checks by its status and media type that the reply's body is an envelope.
    ///
    /// - Returns: The start of a body with an unexpected media type, which had to be read to decide.
    /// - Throws: ``BridgeError`` for a web page or a failure status; ``FaultReply`` for a fault with such a status.
    @discardableResult
    func checkHead(of exchange: HTTPExchange, plan: ReplyPlan, asked: String) throws -> [UInt8]? {
        let response = try exchange.response()
        let type = MediaType(response.header("content-type") ?? "")
        let isReadable = type.isXML || type.name.hasPrefix("multipart/")
        if (200..<300).contains(response.status) {
            if isReadable { return nil }
            return try sniff(exchange, response, asked: asked)
        }
        if response.status == 415 {
            var error = try exchange.statusError(asked: asked)
            error.remedy =
                "the service may speak the other version of SOAP: set soap_version to \"\(version == .v11 ? "1.2" : "1.1")\""
            throw error
        }
        let prefix = exchange.bodyPrefix(1 << 20)
        // Some servers send faults as text/html.
        guard isReadable || Self.looksLikeEnvelope(prefix) else {
            throw HTTPStatusError.make(response, bodyPrefix: prefix, asked: asked)
        }
        var error = HTTPStatusError.make(response, bodyPrefix: [], asked: asked)
        guard let fault = SOAPFault.find(in: prefix, contentType: response.header("content-type"), plan: plan) else {
            error.remote = RemoteMessage.make(prefix, mediaType: response.mediaType, redactor: response.redactor)
            throw error
        }
        if [401, 403, 407, 429].contains(response.status), rule(for: fault, response) == nil {
            error.remote = String(response.redactor.clean(fault.words).prefix(1000))
            throw error
        }
        throw reply(fault, response)
    }

    private static func looksLikeEnvelope(_ bytes: [UInt8]) -> Bool {
        let start = String(decoding: bytes.prefix(1000).filter { $0 != 0 }, as: UTF8.self)
        return start.contains("<Envelope") || start.contains(":Envelope")
    }

    /// Reads the start of a body: text that begins like XML is accepted as XML regardless of its media type.
    private func sniff(_ exchange: HTTPExchange, _ response: HTTPResponse, asked: String) throws -> [UInt8] {
        var prefix: [UInt8] = []
        while prefix.count < 512, let chunk = try exchange.nextChunk() { prefix += chunk }
        let text = prefix.drop(while: XMLSpace.contains)
        let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text
        guard start.first == UInt8(ascii: "<"), !RemoteMessage.isPage(Array(start), mediaType: nil) else {
            exchange.cancel()
            throw Self.notXML(prefix, response, asked: asked)
        }
        return prefix
    }

    // MARK: Faults

    /// A fault and the configured reaction to it.
    struct FaultReply: Error {
        let fault: SOAPFault
        let action: SOAPFaultRule.Action?
        let error: BridgeError
    }

    private func rule(for fault: SOAPFault, _ response: HTTPResponse) -> SOAPFaultRule? {
        faultRules.first { $0.fits(fault, status: response.status) }
    }

    /// Returns a fault with the action of the first matching rule.
    func reply(_ fault: SOAPFault, _ response: HTTPResponse) -> FaultReply {
        var error = error(fault, response)
        let rule = rule(for: fault, response)
        if let rule { error = rule.applied(to: error) }
        return FaultReply(fault: fault, action: rule?.action, error: error)
    }

    /// Returns the error for a fault by the standards alone.
    func error(_ fault: SOAPFault, _ response: HTTPResponse) -> BridgeError {
        var error = fault.error(status: response.status, operation: operation.name, location: response.location)
        error.remote = error.remote.map { String(response.redactor.clean($0).prefix(1000)) }
        if error.isRetryable { error.retryAfterMilliseconds = HTTPStatusError.retryAfter(response) }
        return error
    }

    private static func notXML(_ prefix: [UInt8], _ response: HTTPResponse, asked: String) -> BridgeError {
        let isPage = RemoteMessage.isPage(prefix, mediaType: response.mediaType)
        return BridgeError(
            .malformed,
            "\(asked): the server answers \(response.status) with "
                + (isPage ? "a web page" : "\(response.mediaType ?? "something")") + ", not XML",
            remedy: "check the endpoint; the option \"endpoint\" overrides the WSDL's address",
            location: response.location,
            remote: RemoteMessage.make(prefix, mediaType: response.mediaType, redactor: response.redactor))
    }
}

extension SOAPFault {
    /// Returns the fault in a reply's bytes, if any.
    static func find(in bytes: [UInt8], contentType: String? = nil, plan: ReplyPlan) -> SOAPFault? {
        guard let reader = try? ReplyReader(plan: plan, contentType: contentType) else { return nil }
        try? reader.feed(bytes[...], into: RecordBatchWriter())
        return reader.fault
    }
}
