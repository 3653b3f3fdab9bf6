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
        guard let object = record(in: try exchange.body(), at: place.records) else {
            throw BridgeError(
                .remote, "reading before \(asked): the reply holds no object",
                remedy:
                    "set \(place.isOwn ? "read_one.records" : "write.update.records"), or format: json to send only what "
                    + "changed",
                location: response.location)
        }
        try checkUnchanged(object)
        return (object, response.header("etag"))
    }

    /// Returns the nested objects that the update changes in part, as the remote has them.
    ///
    /// If the remote does not allow reading them, they have only the locally known parts.
    ///
    /// - Throws: ``BridgeError`` if the remote is unreachable or too busy; nothing was sent.
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

    /// Refuses to write over values that the remote has changed since they were imported.
    private func checkUnchanged(_ object: JSONTree) throws {
        guard let path = EarlierValues(request).difference(from: object) else { return }
        throw BridgeError(
            .conflict, "\(asked) was not sent: the remote now has a different \(path)", remedy: "read the object again")
    }

    /// Returns the object in the structure of the listing's records, or nil if the remote does not allow reading it.
    private func readIfPossible(_ url: HTTPURL) throws -> JSONTree? {
        guard let place = try readingPlace(url) else { return nil }
        let exchange = client.start(place.request)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            let error = try exchange.statusError(asked: "reading before \(asked)")
            if error.isRetryable { throw error }
            return nil
        }
        let body = try exchange.body()
        guard let object = record(in: body, at: place.records) else { return nil }
        guard let shaped = try? shaped(object) else { return object }
        return withExtendedLifetime(shaped) { JSONTree(shaped[0]) }
    }

    /// Returns the request that reads the object: from `read_one`, or else at the URL of the write.
    private func readingPlace(_ url: HTTPURL) throws -> (request: HTTPRequest, records: JSONPath?, isOwn: Bool)? {
        if let readOne = request.readOne {
            var fetch = FetchRequest(entity: request.entity, section: readOne)
            fetch.parent = keyedObject
            fetch.userInfo = request.userInfo
            let section = try RESTSection(fetch, base: base, parameters: parameters)
            return (try section.request(at: .only, after: nil, delta: nil).0, section.records, true)
        }
        guard rule.isReadWhereWritten else { return nil }
        return (HTTPRequest(url: url.text, headers: [(name: "Accept", value: rule.accept)]), nil, false)
    }

    /// The object's values, with the key as the remote has it.
    private var keyedObject: BridgeOptions {
        BridgeOptions { writer in
            for name in request.object.names {
                (request.key.has(name) ? request.key : request.object).withValue(name) { value in
                    writer.key(name)
                    if let value { writer.copy(value) } else { writer.null() }
                }
            }
        }
    }

    /// Returns a reply's object as a listing would return it, or nil if it already has that form.
    func shaped(_ record: JSONTree) throws -> RecordBatch? {
        guard let preset = rule.preset, preset.shapesRecords, preset != .odata else { return nil }
        let scratch = RecordBatchWriter()
        record.write(to: scratch)
        let batch = try scratch.finish()
        let writer = RecordBatchWriter()
        _ = try withExtendedLifetime(batch) { try RecordShaper(preset, included: nil).write(batch[0], to: writer) }
        return try writer.finish()
    }
}
