internal import BridgeKit
internal import RecordBatch

/// Reads the complete object before an update, so that it can be sent back.
struct CurrentObject {
    /// The number of records searched in a listing.
    private static let maxRecords = 10_000

    let request: WriteRequest
    /// Opens the scan that returns the object, by `read_one` or else by the listing; `type` is that of its records if
    /// known.
    let open: () throws -> (source: SOAPSource, type: TypeID?)

    /// Returns the object as a tree of names and texts.
    ///
    /// - Throws: ``BridgeError``; the service was not changed.
    func read(asked: String) throws -> (object: InputValue, type: TypeID?) {
        do {
            let (source, type) = try open()
            defer { source.cancel() }
            let object = try find(in: source)
            if case .text(let obstacle)? = object.member(RecordEmitter.obstacleName) {
                throw BridgeError(
                    .unsupported, "the object cannot be sent back whole: \(obstacle)",
                    remedy: "set \"send: changes\" if the service leaves the rest unchanged")
            }
            return (object, type)
        } catch let fault as SOAPCall.FaultReply {
            throw named(fault.error, asked)
        } catch let error as BridgeError {
            throw named(error, asked)
        }
    }

    /// Describes an error: the change was not sent, so its outcome is known even if the answer is unreadable.
    private func named(_ error: BridgeError, _ asked: String) -> BridgeError {
        var error = error
        error.message = "\(asked) was not sent, since reading the object failed: \(error.message)"
        switch error.code {
        case .malformed, .internal: error.code = .remote
        case .timeout: error.isRetryable = true
        default: break
        }
        return error
    }

    private func find(in source: SOAPSource) throws -> InputValue {
        let isOne = request.readOne != nil
        guard isOne || request.key.names.contains(where: { request.keyPaths[$0] != nil }) else {
            throw BridgeError(
                .unsupported, "it is unknown which record of the listing it is",
                remedy: "set read_one, or \"send: changes\" if the service leaves the rest unchanged")
        }
        var count = 0
        var rejected: String?
        while count < Self.maxRecords {
            let writer = RecordBatchWriter()
            let page = try source.next(into: writer)
            rejected = rejected ?? page.rejected.first?.reason
            let batch = try writer.finish()
            count += batch.count
            let found = withExtendedLifetime(batch) { () -> InputValue? in
                for index in 0..<batch.count {
                    let object = InputValue(batch[index])
                    if isThis(object) { return object }
                }
                return nil
            }
            if let found { return found }
            guard page.isEnd else { continue }
            if let rejected { throw BridgeError(.remote, rejected, remedy: "check the service's reply") }
            if isOne, count > 0 {
                throw BridgeError(
                    .remote, "read_one returned another object", remedy: "check \"input\" and \"records\" of read_one")
            }
            guard isOne || page.isComplete else { break }
            throw BridgeError(.notFound, "the service does not have the object")
        }
        throw BridgeError(
            .unsupported, "it was not among \(count) records of the listing, which may have more",
            remedy: "set read_one, which requests one object")
    }

    /// Returns whether a record has the key, ignoring parts that records do not contain, such as a parent's.
    private func isThis(_ object: InputValue) -> Bool {
        request.key.names.allSatisfy { name in
            guard let path = request.keyPaths[name], let key = request.key.string(name) else { return true }
            guard let text = object.value(at: path)?.scalar else { return request.readOne != nil }
            return SameNotation.isSame(text, key)
        }
    }
}

extension WriteRequest {
    /// The object's local values, with the key as the remote has it.
    var localObject: BridgeOptions {
        BridgeOptions { writer in
            for name in key.names { copy(key, name, to: writer) }
            for name in object.names where !key.names.contains(name) { copy(object, name, to: writer) }
        }
    }

    private func copy(_ options: BridgeOptions, _ name: String, to writer: RecordBatchWriter) {
        options.withValue(name) { value in
            guard let value else { return }
            writer.key(name)
            writer.copy(value)
        }
    }
}
