internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// Reading of the object before a change, for remotes that replace whole objects.
extension RESTObjectWriter {
    /// Returns the remote's current object and its ETag.
    ///
    /// - Throws: ``BridgeError``; nothing was sent.
    func read(_ url: HTTPURL) throws -> (object: JSONTree, etag: String?) {
        guard let place = try readingPlace(url) else {
            throw BridgeError(
                .configuration, "\(asked): the object cannot be read before it is sent as a whole",
                remedy: "set read_one of \(request.entity), or write.update.format: json")
        }
        let exchange = client.start(place.request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            throw try exchange.statusError(asked: "reading before \(asked)")
        }
        let object = try object(in: exchange.body(), response, place, orElse: "format: json to send only what changed")
            .sent
        try checkUnchanged(object)
        return (object, response.header("etag"))
    }

    /// Returns the nested objects that the update changes in part, as the remote has them.
    ///
    /// If the remote has no way to read them, they have only the locally known parts.
    ///
    /// - Throws: ``BridgeError`` if reading fails, or returns something else than the object; nothing was sent.
    func wholeNested(_ url: HTTPURL) throws -> JSONTree? {
        guard let nested = request.nested else { return nil }
        let known = JSONTree(nested)
        guard let current = try readIfPossible(url) else { return known }
        try checkUnchanged(current)
        var whole = JSONTree.object([])
        for (name, own) in known.members {
            switch current[name] {
            case let theirs? where theirs.isObject: whole.set(theirs, at: [name])
            case .null?: break
            // The object that was read has another structure than the listing's records.
            default: whole.set(own, at: [name])
            }
        }
        return whole
    }

    /// Returns the remote's object for a JSON Patch that sets a member of an object which the remote may lack; nil if it has
    /// that, or cannot be read: it then decides about the patch.
    ///
    /// - Throws: ``BridgeError`` if the remote has changed a value meanwhile; nothing was sent.
    func patched(_ url: HTTPURL) throws -> JSONTree? {
        var known: [JSONTree] = [JSONTree(request.before)]
        if let nested = request.nested { known.append(JSONTree(nested)) }
        guard Changes(request).mayLackParents(besides: known) else { return nil }
        guard let current = try? readIfPossible(url) else { return nil }
        try checkUnchanged(current)
        return current
    }

    /// Refuses to write over values that the remote has changed since they were imported.
    private func checkUnchanged(_ object: JSONTree) throws {
        guard let path = EarlierValues(request).difference(from: object) else { return }
        throw BridgeError(
            .conflict, "\(asked) was not sent: the remote now has a different \(path)", remedy: "read the object again")
    }

    /// Returns the object in the structure of the listing's records, or nil if the remote has no way to read it.
    private func readIfPossible(_ url: HTTPURL) throws -> JSONTree? {
        guard let place = try readingPlace(url) else { return nil }
        let exchange = client.start(place.request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            var error = try exchange.statusError(asked: "reading before \(asked)")
            // The remote never answers a GET there (RFC 9110, sections 15.5.6 and 15.6.2).
            if [405, 501].contains(response.status) { return nil }
            if !error.isRetryable, error.code != .authentication {
                error.remedy =
                    (error.remedy.map { "\($0); " } ?? "") + "or set write.update.nested: part, which reads nothing"
            }
            throw error
        }
        return try object(
            in: exchange.body(), response, place, orElse: "nested: part to send only what changed"
        ).listed
    }

    /// Returns the object in the reply to a read, as it was sent and as a listing would have it.
    ///
    /// - Parameter alternative: What may be set under `write.update` to do without reading.
    /// - Throws: ``BridgeError`` if the reply has a message in the object's place, or another object. Sent back with the
    ///   changes, it would replace the object.
    private func object(
        in body: [UInt8], _ response: HTTPResponse, _ place: ReadingPlace, orElse alternative: String
    ) throws -> (sent: JSONTree, listed: JSONTree) {
        func refusal(_ words: String) -> BridgeError {
            BridgeError(
                .remote, "reading before \(asked): \(words); nothing was sent",
                remedy: "set \(place.isOwn ? "read_one.records" : "write.update.records") to the object's place in the "
                    + "reply, or \(alternative)",
                location: response.location,
                remote: excerpt(of: body, response))
        }
        guard let object = record(in: body, at: place.records) else { throw refusal("the reply holds no object") }
        let listed = try shaped(object).map { batch in withExtendedLifetime(batch) { JSONTree(batch[0]) } } ?? object
        for (name, path) in request.keyPaths.sorted(by: { $0.key < $1.key }) {
            guard let wanted = request.key.string(name) else { continue }
            let words = path.joined(separator: ".")
            guard let value = listed[path], let found = EarlierValues.scalar(value), !found.isEmpty else {
                try checkDisguise(body, response, asked: "reading before \(asked)")
                throw refusal("the reply's object has no \(words)")
            }
            // A transformer may have changed the case.
            guard SameNotation.isSame(found, wanted) || found.lowercased() == wanted.lowercased() else {
                throw refusal("the reply has another object, by its \(words)")
            }
        }
        if request.keyPaths.isEmpty { try checkDisguise(body, response, asked: "reading before \(asked)") }
        return (object, listed)
    }

    /// Where the object is read.
    private struct ReadingPlace {
        let request: HTTPRequest
        let records: JSONPath?
        /// Whether `read_one` says so.
        let isOwn: Bool
    }

    /// Returns the request that reads the object: from `read_one`, or else at the URL of the write.
    private func readingPlace(_ url: HTTPURL) throws -> ReadingPlace? {
        if let readOne = request.readOne {
            var fetch = FetchRequest(entity: request.entity, section: readOne)
            fetch.parent = keyedObject
            fetch.userInfo = request.userInfo
            let section = try RESTSection(fetch, base: base, parameters: parameters)
            return ReadingPlace(
                request: try section.request(at: .only, after: nil, delta: nil).0, records: section.records, isOwn: true
            )
        }
        guard rule.isReadWhereWritten else { return nil }
        return ReadingPlace(
            request: HTTPRequest(url: url.text, headers: [(name: "Accept", value: rule.accept)]), records: nil,
            isOwn: false)
    }

    /// The object's values and key as the remote has them before the write.
    private var keyedObject: BridgeOptions { request.remoteObject.replacing(with: request.key) }

    /// Returns a reply's object as a listing would return it, or nil if it already has that form.
    func shaped(_ record: JSONTree) throws -> RecordBatch? {
        guard let preset = rule.preset, preset.shapesRecords, preset != .odata else { return nil }
        let scratch = RecordBatchWriter()
        record.write(to: scratch)
        let batch = try scratch.finish()
        let writer = RecordBatchWriter()
        try withExtendedLifetime(batch) { try RecordShaper(preset, included: nil).write(batch[0], to: writer) }
        return try writer.finish()
    }
}
