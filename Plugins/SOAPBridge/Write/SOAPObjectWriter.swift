internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Sends one change to the service and reads its answer.
///
/// The request is sent at most once. If its outcome is unknown, the error has the code `timeout` and is not retryable:
/// the host then reads the object before it writes again.
struct SOAPObjectWriter {
    let call: SOAPCall
    let rule: SOAPWriteRule
    let request: WriteRequest
    /// The operation that lists the entity's records and the path to them, which give the records' type.
    let listing: WSDLOperation?
    let records: [String]
    /// Whether the content of a wrapper is read as a plain list.
    let unwraps: Bool
    /// The current object of the service, for an update that sends the whole object.
    let current: CurrentObject

    /// The change in words, for messages.
    private var asked: String {
        let key = request.key.names.compactMap { request.key.string($0) }.joined(separator: ", ")
        let what = key.isEmpty ? request.entity : "\(request.entity) \(key)"
        return "the \(request.operation.rawValue) of \(what) by \(call.operation.name)"
    }

    func run(into writer: RecordBatchWriter) throws {
        let path = try recordPath()
        let plan = try ReplyPlan(
            operation: call.operation, schemas: call.schemas, records: path, token: rule.replyKey?.path ?? [],
            unwraps: unwraps)
        let input = try input()
        let lacking = try lacking(input)
        if request.explains { return try explain(input, into: writer) }
        guard lacking.isEmpty else {
            throw BridgeError(
                .configuration,
                "\(asked) was not sent: the schema requires \(lacking.prefix(10).joined(separator: ", "))",
                remedy:
                    "give the object a value there, or name a constant under write.\(request.operation.rawValue).input")
        }
        let (exchange, missing) = try call.start(input)
        do {
            try read(exchange, plan, hasRecord: !path.isEmpty, into: writer)
        } catch let fault as SOAPCall.FaultReply {
            try refuse(fault)
        } catch var error as BridgeError {
            error.message = error.message.hasPrefix(asked) ? error.message : "\(asked): \(error.message)"
            if !missing.isEmpty, error.remedy == nil {
                error.remedy =
                    "the request lacks what the schema requires: \(missing.prefix(10).joined(separator: ", "))"
            }
            throw error
        }
    }

    // MARK: Request

    private func input() throws -> InputValue {
        var input = try Placeholders(parent: request.parent, key: request.key, object: request.object).filled(
            rule.input)
        if request.operation != .delete {
            let target = try RequestTarget(call.operation, values: rule.values, schemas: call.schemas)
            let place = target.path.joined(separator: "/")
            var tree: InputValue?
            let isWhole = request.operation == .update && rule.sendsAll
            if isWhole {
                // A service that replaces the whole object would empty omitted elements.
                tree = try whole(target, constants: input.value(at: rule.values))
                if let tree { input = try set(tree, at: rule.values, in: input) }
            }
            let change = ObjectChange(
                target: target, asked: asked, leavesOut: isWhole || request.operation == .create)
            func put(_ value: InputValue, _ path: [String]) throws {
                let wrapped = path.reversed().reduce(value) { .object([.init(name: $1, value: $0)]) }
                let old = input.value(at: rule.values)
                let merged = try change.merged(wrapped, into: old, element: target.element, place: place)
                input = try set(merged ?? .object([]), at: rule.values, in: input)
            }
            for (path, attribute) in rule.attributes { try put(value(request.object, attribute), path) }
            for name in request.values.names { try put(value(request.values, name), [name]) }
        }
        for (attribute, path) in rule.keys {
            let names = request.key.names
            let name = attribute.isEmpty && names.count == 1 ? names[0] : attribute
            guard let text = request.key.string(name) else {
                // A new object has no key yet: the service assigns it.
                if request.operation == .create { continue }
                throw BridgeError(
                    .configuration, "\(asked): the key has no \(attribute.isEmpty ? "single attribute" : attribute)",
                    remedy: "write.\(request.operation.rawValue).key names an element for each of: "
                        + names.joined(separator: ", "))
            }
            input = try set(.text(text), at: path, in: input)
        }
        return input
    }

    /// Returns the service's current object in the shape of the update's request, with the configured constants.
    private func whole(_ target: RequestTarget, constants: InputValue?) throws -> InputValue {
        let (object, type) = try current.read(asked: asked)
        if let place = SameValue.difference(before, object) {
            throw BridgeError(
                .conflict, "\(asked) was not sent: the service now has a different \(place)",
                remedy: "read the object again")
        }
        var filled = Set(rule.leftOut + rule.attributes.compactMap(\.path.first) + request.values.names)
        if case .object(let members)? = constants { filled.formUnion(members.map(\.name)) }
        if rule.values.isEmpty { filled.formUnion(rule.keys.compactMap(\.path.first)) }
        do throws(BridgeError) {
            let fitted = try TypeFit(target: target, filled: filled).fitted(object, from: type)
            return constants.map { Self.overlaid(fitted, with: $0) } ?? fitted
        } catch {
            var error = error
            error.message = "\(asked) was not sent: \(error.message)"
            throw error
        }
    }

    private var before: InputValue {
        .object(request.before.names.map { .init(name: $0, value: value(request.before, $0)) })
    }

    /// Returns a value overlaid with the configured constants, which take precedence.
    private static func overlaid(_ value: InputValue, with constants: InputValue) -> InputValue {
        guard case .object(var members) = value, case .object(let new) = constants else { return constants }
        for member in new {
            let old = members.place(of: member.name).map { members[$0].value }
            members.set(member.name, to: old.map { overlaid($0, with: member.value) } ?? member.value)
        }
        return .object(members)
    }

    /// Returns the required elements without a value; elements that the service itself omits from the object do not
    /// count.
    private func lacking(_ input: InputValue) throws -> [String] {
        let missing = try call.envelope(input).missing
        // In SOAP encoding, an omitted element has no value (SOAP 1.1, section 5.1).
        if call.operation.input.isEncoded { return [] }
        guard request.operation == .update else { return missing }
        guard rule.sendsAll, !rule.values.isEmpty else { return rule.sendsAll ? missing : [] }
        let own = try RequestTarget(call.operation, values: rule.values, schemas: call.schemas).path
            .joined(separator: "/")
        return missing.filter { !$0.hasPrefix(own + "/") }
    }

    private func explain(_ input: InputValue, into writer: RecordBatchWriter) throws {
        let redactor = call.client.redactor
        let envelope = try call.envelope(input)
        writer.object {
            writer.member("request", "POST \(redactor.clean(url: call.endpoint.text))")
            writer.member("body", redactor.clean(String(decoding: envelope.bytes, as: UTF8.self)))
            if !envelope.missing.isEmpty {
                writer.member("warning", "the schema requires \(envelope.missing.prefix(10).joined(separator: ", "))")
            }
        }
    }

    private func value(_ options: BridgeOptions, _ name: String) -> InputValue {
        options.withValue(name) { $0.map(InputValue.init) ?? .null }
    }

    private func set(_ value: InputValue, at path: [String], in input: InputValue) throws(BridgeError) -> InputValue {
        guard let name = path.first else { return value }
        guard case .object(var members) = input else {
            throw BridgeError(
                .configuration, "\(asked): the element \"\(name)\" lies inside an input value that is not an object",
                remedy: "correct write.\(request.operation.rawValue).input")
        }
        let index = members.firstIndex { $0.name == name }
        let rest = Array(path.dropFirst())
        let inner = rest.isEmpty ? value : try set(value, at: rest, in: index.map { members[$0].value } ?? .object([]))
        if let index { members[index].value = inner } else { members.append(.init(name: name, value: inner)) }
        return .object(members)
    }

    // MARK: Reply

    private func read(
        _ exchange: HTTPExchange, _ plan: ReplyPlan, hasRecord: Bool, into writer: RecordBatchWriter
    ) throws {
        let response: HTTPResponse
        let prefix: [UInt8]?
        do {
            response = try exchange.response()
            if call.operation.isOneWay, (200..<300).contains(response.status) { return }
            // Some services answer a change with an empty 200 or 202.
            if response.status == 202 || response.status == 204 || response.header("content-length") == "0",
                (200..<300).contains(response.status)
            {
                return
            }
            prefix = try call.checkHead(of: exchange, plan: plan, asked: asked)
        } catch let error as BridgeError {
            throw outcome(error, exchange)
        }
        do {
            let type = prefix == nil ? response.header("content-type") : nil
            let reader = try ReplyReader(
                plan: plan, contentType: type, recordBytes: call.client.maxRecordBytes)
            reader.judgeBody()
            let answer = RecordBatchWriter()
            var next: [UInt8]? = prefix
            if next == nil { next = try exchange.nextChunk() }
            while let chunk = next {
                try reader.feed(chunk[...], into: answer)
                if let fault = reader.fault { throw call.reply(fault, response) }
                next = try exchange.nextChunk()
            }
            try reader.finish()
            try reader.drain(into: answer, limit: 10, bytes: 64 << 20)
            if let refusal = reader.refusal { throw Refusal(error: error(refusal, response)) }
            if let doubt = reader.doubt { throw Refusal(error: error(doubt, response, isSure: false)) }
            try deliver(answer, reader, into: writer)
        } catch let refusal as Refusal {
            throw refusal.error
        } catch let fault as SOAPCall.FaultReply {
            throw fault
        } catch let error as BridgeError {
            // The status reports success, but an unreadable answer leaves the outcome unknown.
            throw outcome(error, exchange)
        }
    }

    /// A reply that says without a fault that the change was not, or may not have been, carried out.
    private struct Refusal: Error {
        let error: BridgeError
    }

    private func error(
        _ reason: (words: String, message: String?), _ response: HTTPResponse, isSure: Bool = true
    ) -> BridgeError {
        func clean(_ text: String) -> String { String(response.redactor.clean(text).prefix(1000)) }
        let (words, remote) = (clean(reason.words), reason.message.map(clean))
        if isSure {
            return BridgeError(
                .remote, "\(asked): the reply says that the change was not carried out: \(words)",
                location: response.location, remote: remote)
        }
        return BridgeError(
            .timeout, "\(asked): the reply says that something failed: \(words); \(Self.unknown)",
            remedy: Self.remedy, location: response.location, remote: remote)
    }

    private static let unknown = "the request was sent, but it is unknown whether the service carried it out"
    private static let remedy = "check the service before it is sent again"

    private func deliver(_ answer: RecordBatchWriter, _ reader: ReplyReader, into writer: RecordBatchWriter) throws {
        // Of several objects, none is known to be the one that was changed.
        if answer.recordCount > 0, reader.recordCount == 1 {
            let batch = try answer.finish()
            if batch[0].tag == .object, batch[0].count > 0 {
                writer.copy(batch[0])
                return
            }
        }
        if let (_, field) = rule.replyKey, let key = reader.captured(.token) {
            writer.object { writer.member(field, key.trimmingWhiteSpace) }
        }
    }

    /// Returns the path to the object in the reply; empty if the reply has none.
    private func recordPath() throws -> [String] {
        if let path = rule.record { return path }
        guard request.operation != .delete, let type = recordType() else { return [] }
        return ReplyObject(in: call.operation, of: type, call.schemas).path
    }

    /// Returns the type of the listing's records.
    private func recordType() -> TypeID? {
        listing.flatMap { ReplyPaths($0, call.schemas).record(records)?.type }
    }

    // MARK: Failure

    /// Throws the error of a fault, after which nothing was changed regardless of the status.
    private func refuse(_ fault: SOAPCall.FaultReply) throws {
        var error = fault.error
        switch fault.action {
        case .empty, .ignore: return
        case .notFound where request.operation == .delete: return
        case .retry, .rateLimited: break
        case .timeout:
            error.isRetryable = false
        default: error.isRetryable = error.code == .remote && error.isRetryable
        }
        error.message = "\(asked): \(error.message)"
        throw error
    }

    private func outcome(_ error: BridgeError, _ exchange: HTTPExchange) -> BridgeError {
        var error = error
        let isAnswer = [.authentication, .permission, .notFound, .conflict, .rateLimited].contains(error.code)
        // Overloaded servers reject a request before they begin; other server errors may follow the change.
        let status = (try? exchange.response())?.status ?? 0
        let isRefused = (400..<500).contains(status) && !HTTPStatusError.leavesOpen(status)
        let isUnstarted = HTTPStatusError.deniesStart(status)
        guard exchange.wasSent, !isAnswer, !isRefused, !isUnstarted else {
            if isAnswer || status != 0 { error.isRetryable = error.isRetryable && isUnstarted }
            return error
        }
        if error.code == .cancelled || error.code == .configuration { return error }
        return BridgeError(
            .timeout, "\(error.message); \(Self.unknown)", remedy: Self.remedy, location: error.location,
            remote: error.remote)
    }
}
