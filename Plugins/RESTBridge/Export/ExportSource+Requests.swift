internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging

/// The requests of an export.
extension ExportSource {
    /// The reply about a job.
    struct Reply {
        let response: HTTPResponse
        /// The body; nil if it is not JSON.
        let body: JSONTree?
        /// The beginning of the body for messages.
        let words: String?
        private let bytes: HTTPExchange.PaddedBody

        init(
            _ response: HTTPResponse, body: JSONTree? = nil, words: String? = nil,
            bytes: HTTPExchange.PaddedBody = .empty
        ) {
            self.response = response
            self.body = body
            self.words = words
            self.bytes = bytes
        }

        /// Returns the value at a place; nil if there is nothing.
        func value(_ place: ReplyPlace) -> JSONTree? {
            switch place {
            case .header(let name): response.header(name).map(JSONTree.text)
            case .headerMember(let name, let path):
                response.header(name).flatMap { try? JSONTree(parsing: Array($0.utf8), what: name) }?
                    .values(at: path)?.first
            case .body(let path): body?.values(at: path).map { $0.first ?? .null }
            }
        }

        /// The sign beside the job's state that its files may lack records, or nil if there is none.
        func failureSign(beside rule: ExportRule) -> String? {
            guard let survey = ReplySurvey(bytes) else { return nil }
            let sign = PartialFailure.sign(survey, in: ["$"], isNull: false) { path in
                rule.accepted.contains(path) || rule.state.path?.description == path
            }
            return sign.map { response.redactor.clean($0) }
        }

        /// The seconds to wait, as the server asks.
        var retryAfter: Double? {
            guard response.header("retry-after") != nil else { return nil }
            return HTTPStatusError.retryAfter(response).map { Double($0) / 1000 }
        }
    }

    /// Sends a request about the job, and reads the whole reply.
    ///
    /// - Parameter accepting: Statuses that are not errors.
    func send(_ request: HTTPRequest, asked: String, accepting: Set<Int> = []) throws -> Reply {
        let exchange = client.start(try timed(request))
        try running.attach(exchange)
        defer { running.detach() }
        let response = try exchange.response()
        if accepting.contains(response.status) {
            exchange.cancel()
            return Reply(response)
        }
        guard (200..<300).contains(response.status) else { throw try exchange.statusError(asked: asked) }
        let padded = try exchange.paddedBody()
        let bytes = Array(padded.bytes.prefix(padded.count))
        let words = RemoteMessage.make(
            Array(bytes.prefix(32_768)), mediaType: response.mediaType, redactor: response.redactor)
        return Reply(response, body: try? JSONTree(parsing: bytes, what: asked), words: words, bytes: padded)
    }

    func warning(_ sign: String) -> String {
        "the export of \(section.entity): the job is done, but \(sign): its records are imported, but missing ones do not count as "
            + "deleted; if the sign does not matter, add its path to export.status.accept"
    }

    private func timed(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        if client.sendsHeader("accept") { request.headers.removeAll { $0.name.isSameField(as: "accept") } }
        request.timing = try section.timing.map { try client.timing.replaced(by: $0) }
        return request
    }

    /// Returns the URLs of the files of a job that is done.
    func locate(_ reply: Reply, _ status: HTTPURL, _ variables: TemplateVariables) throws -> [HTTPURL] {
        func fault(_ sentence: String, _ remedy: String, _ code: BridgeError.Code = .malformed) -> BridgeError {
            BridgeError(
                code, "the export of \(section.entity): \(sentence)", remedy: remedy, location: reply.response.location)
        }
        switch rule.files {
        case .path(let template):
            return [try ListingAddress(base: base, template: template, query: []).url(variables)]
        case .named(let path):
            guard let values = reply.body?.values(at: path) else {
                throw fault("the job is done, and its status has nothing at \(path)", "correct export.files.urls")
            }
            guard reply.body?.hasGap(at: path) == false else {
                throw fault(
                    "the job is done, and a file has no link at \(path)",
                    "sync again once all files are ready; if entries without a file are usual, select the others by a filter in "
                        + "export.files.urls, such as $.files[?@.state=='ready'].url")
            }
            guard values.count <= ExportRule.maxFiles else {
                throw fault(
                    "the job has \(values.count) files, more than \(ExportRule.maxFiles)", "export less at a time",
                    .limit)
            }
            return try values.map { value in
                guard let text = value.text, let url = HTTPURL(text, relativeTo: status), !url.hasUserInfo else {
                    throw fault("\(path) is not an http or https URL", "correct export.files.urls")
                }
                guard url.text.hasPrefix("https:") || base.text.hasPrefix("http:") else {
                    throw fault(
                        "the URL of a file begins with http:, so that others could read or change the file on its way",
                        "ask the API for a link with https", .permission)
                }
                // The parameters of links are secrets by now, and a later link has some of them, too.
                let own = Set(url.queryPairs.filter { linkValues.contains($0.value) }.map(\.name))
                guard url.origin == base.origin || !client.redactor.holdsSecret(url.removing(queryNames: own).text)
                else {
                    throw fault(
                        "the URL of a file holds a credential of the bridge, for another origin than that of url",
                        "ask the API for another link", .permission)
                }
                return url
            }
        }
    }

    /// Requests a file; only the API itself, and the origins that the section names, get credentials.
    func download(_ url: HTTPURL) throws -> HTTPExchange {
        // A signed URL is all that it takes to read the file.
        linkValues.formUnion(url.queryPairs.map(\.value))
        client.hide(queryOf: url)
        var request = HTTPRequest(url: url.text)
        request.sendsCredentials = url.origin == base.origin || rule.trusted.contains(url.origin)
        if request.sendsCredentials { request.headers = section.headers }
        request.setDefault("Accept", "*/*")
        request.bufferLimit = 4 << 20
        return client.start(try timed(request))
    }

    /// Returns the place of a file for messages: without the query, in which a link has its signature.
    static func location(_ url: HTTPURL, _ client: HTTPClient) -> String {
        client.redactor.clean(url: String(url.text.prefix { $0 != "?" }))
    }
}
