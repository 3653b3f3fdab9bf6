internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// What the reply to a change says.
extension RESTObjectWriter {
    /// Returns the body of a reply with a status of success.
    ///
    /// - Throws: ``BridgeError``, if it does not tell whether the change was made: it is cut off, or not the API's, such
    ///   as a proxy's page. A 201 tells so by itself.
    func reply(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> [UInt8] {
        do {
            let reply = try exchange.body()
            if response.status != 201, let fault = Self.fault(of: reply, response) {
                throw BridgeError(
                    .malformed, "the reply has status \(response.status), but \(fault)", location: response.location,
                    remote: RemoteMessage.make(
                        Array(reply.prefix(65_536)), mediaType: response.mediaType, redactor: response.redactor))
            }
            return reply
        } catch var error as BridgeError {
            guard response.status != 201 else { return [] }
            error.message = "\(asked): \(error.message)"
            throw unknown(error)
        }
    }

    /// Parts of words with which a text says that a change was not made.
    private static let refusals = [
        "error", "fail", "denied", "forbidden", "unauthor", "not authorized", "invalid", "unavailable", "too many",
        "exceeded", "try again", "busy", "timeout", "timed out", "maintenance", "log in", "login", "sign in",
        "not found",
        "not allowed", "refused", "rejected",
    ]

    /// Returns what is wrong with the reply to a change; nil if it can be a success's.
    private static func fault(of reply: [UInt8], _ response: HTTPResponse) -> String? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = reply.dropFirst(reply.starts(with: mark) ? mark.count : 0)
        guard let first = body.first(where: { $0 > 0x20 }) else { return nil }
        switch first {
        case UInt8(ascii: "<"):
            return RemoteMessage.isPage(reply, mediaType: response.mediaType) ? "it is a web page" : "it is not JSON"
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return ReplySurvey(HTTPExchange.PaddedBody(reply)) == nil ? "it is cut off, or is not valid JSON" : nil
        default: break
        }
        if body.filter({ $0 > 0x20 }).elementsEqual("false".utf8) { return "it is false" }
        var text = String(decoding: body.prefix(2000), as: UTF8.self).lowercased()
        for success in ["no error", "without error", "0 error", "0 failed"] { text = text.replacing(success, with: "") }
        return refusals.contains(where: text.contains)
            ? "it is a text that does not say that the change was made" : nil
    }

    /// Returns the beginning of a reply for an error, without secrets.
    func excerpt(of reply: [UInt8], _ response: HTTPResponse) -> String {
        String(response.redactor.clean(String(decoding: reply.prefix(2000), as: UTF8.self)).prefix(500))
    }

    /// Refuses a failure reported with status 200.
    ///
    /// - Parameter asked: What was asked, for the message.
    func checkDisguise(_ reply: [UInt8], _ response: HTTPResponse, asked: String) throws {
        let (body, own) = (HTTPExchange.PaddedBody(reply), OwnValues(request))
        guard !reply.isEmpty, let survey = ReplySurvey(body), !survey.isArray,
            let root = try? JSONTree(parsing: reply, what: asked),
            let failure = DisguisedFailure(ofChange: survey, key: ownKey(root), showsObject: own.areShown(in: root)),
            try !hasRule(for: failure.path)
        else { return }
        // The object may have such a value itself.
        let isOwn = failure.path.hasPrefix("$.") && own.hasName(String(failure.path.dropFirst(2)))
        guard !isOwn || !own.areShown(in: root) else { return }
        throw failure.error(asked: asked, response: response, body: body, isWrite: true)
    }

    /// Returns the names of the reply's members that hold the changed object's key; none if it has another key, or lacks it.
    ///
    /// What else such a reply has may be the object's: an error of its own, or a status.
    private func ownKey(_ root: JSONTree) -> [String] {
        // The id of a JSON-RPC reply belongs to the request.
        guard root["jsonrpc"] == nil else { return [] }
        var names: [String] = []
        for (name, path) in request.keyPaths {
            guard let first = path.first, let wanted = request.key.string(name), !wanted.isEmpty,
                let value = root[path].flatMap(EarlierValues.scalar), SameNotation.isSame(value, wanted)
            else { return [] }
            names.append(first)
        }
        return names
    }

    /// Returns the reply's only object, or nil if there is none.
    func record(in body: [UInt8], at place: JSONPath? = nil) -> JSONTree? { placedRecord(in: body, at: place)?.object }

    /// Returns the reply's only object with its path, or nil if there is none.
    func placedRecord(in body: [UInt8], at place: JSONPath? = nil) -> (path: String, object: JSONTree)? {
        guard !body.isEmpty, let root = try? JSONTree(parsing: body, what: asked), !IssueReport.isReport(root) else {
            return nil
        }
        for path in [place].compactMap(\.self) + rule.records {
            var found = path.values(in: root)
            var end = ""
            if found.count == 1, case .array(let elements) = found[0] { (found, end) = (elements, "[0]") }
            if found.count == 1, found[0].isObject { return (path.description + end, found[0]) }
        }
        return nil
    }

    /// Returns a record with only the key that the reply has at `reply_key`.
    func keyed(_ reply: [UInt8]) -> JSONTree? {
        guard request.operation == .create, let path = rule.replyKey, let field = rule.keyField,
            let root = try? JSONTree(parsing: reply, what: asked), let key = path.values(in: root).first
        else { return nil }
        switch key {
        case .text, .number:
            var record = JSONTree.object([])
            record.set(key, at: field[...])
            return record
        case .null, .bool, .array, .object: return nil
        }
    }

    /// Returns the new object from Location: its key, or the object at that URL.
    ///
    /// Only beside 201 it is the object's (RFC 9110, section 10.2.2). That of a 202 is often a job's, and one of another
    /// origin is not requested: without a record, the host searches for the object.
    func created(_ response: HTTPResponse) -> JSONTree? {
        guard response.status == 201, let location = response.header("location"), let sent = HTTPURL(response.url),
            let url = HTTPURL(location, relativeTo: sent)
        else { return nil }
        if let field = rule.keyField {
            guard let last = url.lastPathSegment else { return nil }
            var record = JSONTree.object([])
            record.set(Int64(last).map { String($0) == last } == true ? .number(last) : .text(last), at: field[...])
            return record
        }
        // Elsewhere, another server would say what the object is, and the URL may hold a credential.
        guard url.origin == base.origin else {
            log.log(
                .warning,
                "\(asked): the Location of the reply is of another origin than that of url, so it was not requested: "
                    + client.redactor.clean(url: url.text))
            return nil
        }
        let exchange = client.start(HTTPRequest(url: url.text, headers: [(name: "Accept", value: rule.accept)]))
        guard let reply = try? exchange.response(), (200..<300).contains(reply.status) else { return nil }
        return (try? exchange.body()).flatMap { record(in: $0) }
    }
}
