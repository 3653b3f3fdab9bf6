internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// One operation at one endpoint: makes requests and looks at the heads of replies.
struct SOAPCall: Sendable {
    let client: HTTPClient
    let endpoint: HTTPURL
    /// The endpoint has the origin of what the user configured.
    let sendsCredentials: Bool
    let version: SOAPVersion
    let operation: WSDLOperation
    let schemas: SchemaSet

    /// Sends a request.
    ///
    /// - Returns: The exchange, and the paths of required elements that the input lacks.
    func start(_ input: InputValue) throws(BridgeError) -> (exchange: HTTPExchange, missing: [String]) {
        let (body, missing) = try EnvelopeWriter.write(operation, version: version, input: input, schemas: schemas)
        var request = HTTPRequest(method: "POST", url: endpoint.text, body: body)
        switch version {
        case .v11:
            // SOAP 1.1, section 6.1.1: quoted, and there even when empty.
            request.headers = [
                ("Content-Type", "text/xml; charset=utf-8"), ("SOAPAction", "\"\(operation.action)\""),
            ]
        case .v12:
            let action = operation.action.isEmpty ? "" : "; action=\"\(operation.action)\""
            request.headers = [("Content-Type", "application/soap+xml; charset=utf-8" + action)]
        }
        request.sendsCredentials = sendsCredentials
        return (client.start(request), missing)
    }

    /// Returns when the reply's body is an envelope to read, by its status and media type.
    ///
    /// - Throws: ``BridgeError``: a fault under a status that is no success, a web page, MTOM.
    func checkHead(of exchange: HTTPExchange, plan: ReplyPlan, asked: String) throws {
        let response = try exchange.response()
        let isXML = Self.isXML(response.mediaType)
        if (200..<300).contains(response.status) {
            if isXML { return }
            throw Self.notXML(exchange, response, asked: asked)
        }
        guard isXML else { throw try exchange.statusError(asked: asked) }
        let prefix = exchange.bodyPrefix(1 << 20)
        var error = HTTPStatusError.make(response, bodyPrefix: [], asked: asked)
        guard let fault = SOAPFault.find(in: prefix, plan: plan) else {
            error.remote = RemoteWords.make(prefix, mediaType: response.mediaType).map(response.redactor.clean(_:))
            throw error
        }
        if [401, 403, 407, 429].contains(response.status) {
            error.remote = response.redactor.clean(String(fault.words.prefix(1000)))
            throw error
        }
        throw self.error(fault, response)
    }

    /// The error that a fault is.
    func error(_ fault: SOAPFault, _ response: HTTPResponse) -> BridgeError {
        var error = fault.error(status: response.status, operation: operation.name, location: response.location)
        error.remote = error.remote.map(response.redactor.clean(_:))
        if error.isRetryable { error.retryAfterMilliseconds = HTTPStatusError.retryAfter(response) }
        return error
    }

    /// A reply without a media type is taken at its word.
    private static func isXML(_ mediaType: String?) -> Bool {
        guard let mediaType else { return true }
        return ["text/xml", "application/xml", ""].contains(mediaType)
            || mediaType.hasSuffix("+xml")
                && mediaType != "application/xhtml+xml"
    }

    private static func notXML(_ exchange: HTTPExchange, _ response: HTTPResponse, asked: String) -> BridgeError {
        if response.mediaType?.hasPrefix("multipart/") == true {
            exchange.cancel()
            return BridgeError(
                .unsupported,
                "\(asked): the reply has attachments (\(response.mediaType ?? "")), which are not read yet",
                location: response.location)
        }
        let prefix = exchange.bodyPrefix()
        let isPage = RemoteWords.isPage(prefix, mediaType: response.mediaType)
        return BridgeError(
            .malformed,
            "\(asked): the server answers \(response.status) with "
                + (isPage ? "a web page" : "\(response.mediaType ?? "something")") + ", not XML",
            remedy: "check the endpoint; the option \"endpoint\" overrides the WSDL's address",
            location: response.location,
            remote: RemoteWords.make(prefix, mediaType: response.mediaType).map(response.redactor.clean(_:)))
    }
}

extension SOAPFault {
    /// The fault in a reply's bytes, if there is one.
    static func find(in bytes: [UInt8], plan: ReplyPlan) -> SOAPFault? {
        guard let reader = try? ReplyReader(plan: plan) else { return nil }
        try? reader.feed(bytes[...], into: RecordBatchWriter())
        return reader.fault
    }
}
