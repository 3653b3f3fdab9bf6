internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Sends one change to the service, and reads its answer.
///
/// The request is sent at most once. Where nothing tells whether the service did it, the error has the code `timeout`
/// and is not retryable: the host looks before it writes again.
struct ObjectWriter {
    let call: SOAPCall
    let rule: WriteRule
    let request: WriteRequest
    /// The operation that lists the entity's records, and the path to them: it tells the records' type.
    let listing: WSDLOperation?
    let records: [String]

    /// The change in words, for messages.
    private var asked: String {
        let key = request.key.names.compactMap { request.key.string($0) }.joined(separator: ", ")
        let what = key.isEmpty ? request.entity : "\(request.entity) \(key)"
        return "the \(request.operation.rawValue) of \(what) by \(call.operation.name)"
    }

    func run(into writer: RecordBatchWriter) throws {
        let path = try recordPath()
        let plan = try ReplyPlan(
            operation: call.operation, schemas: call.schemas, records: path, token: rule.replyKey?.path ?? [])
        let (exchange, missing) = try call.start(try input())
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

    // MARK: request

    private func input() throws(BridgeError) -> InputValue {
        var input = try Placeholders(parent: request.parent, key: request.key, object: request.object).filled(
            rule.input)
        if request.operation != .delete {
            let names = elementNames(at: rule.values)
            // A service that replaces the whole object would empty what is not said.
            if request.operation == .update, rule.sendsAll {
                for name in request.object.names where names.contains(name) {
                    input = try set(value(request.object, name), at: rule.values + [name], in: input)
                }
            }
            for (path, attribute) in rule.attributes {
                input = try set(value(request.object, attribute), at: rule.values + path, in: input)
            }
            for name in request.values.names {
                input = try merge(value(request.values, name), at: rule.values + [name], in: input)
            }
        }
        for (attribute, path) in rule.keys {
            let names = request.key.names
            let name = attribute.isEmpty && names.count == 1 ? names[0] : attribute
            guard let text = request.key.string(name) else {
                // A new object has no key yet: the service gives it one.
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

    /// Sets a value, and of an object each member: what did not change beside them stays.
    private func merge(_ value: InputValue, at path: [String], in input: InputValue) throws(BridgeError) -> InputValue {
        guard case .object(let members) = value, !members.isEmpty else { return try set(value, at: path, in: input) }
        var input = input
        for member in members { input = try merge(member.value, at: path + [member.name], in: input) }
        return input
    }

    /// The names of the elements that the request's element at a path may have.
    private func elementNames(at path: [String]) -> Set<String> {
        var level = call.operation.input.elements
        if level.count == 1 { level = children(level[0]) }
        for name in path {
            guard let next = level.first(where: { $0.name.local == name }) else { return [] }
            level = children(next)
        }
        return Set(level.map(\.name.local))
    }

    private func children(_ element: SchemaElement) -> [SchemaElement] {
        if case .complex(let type) = call.schemas[element.type] { return type.children }
        return []
    }

    // MARK: reply

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
            let reader = try ReplyReader(plan: plan, contentType: type)
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
            try deliver(answer, reader, into: writer)
        } catch let fault as SOAPCall.FaultReply {
            throw fault
        } catch let error as BridgeError {
            // The status said that it was done; what cannot be read of the answer leaves that open.
            throw outcome(error, exchange)
        }
    }

    private func deliver(_ answer: RecordBatchWriter, _ reader: ReplyReader, into writer: RecordBatchWriter) throws {
        if answer.recordCount > 0 {
            let batch = try answer.finish()
            if batch[0].tag == .object, batch[0].count > 0 {
                writer.copy(batch[0])
                return
            }
        }
        if let (_, field) = rule.replyKey, let key = reader.captured(.token) {
            writer.object { writer.member(field, key) }
        }
    }

    /// The path to the object in the reply; empty where it has none.
    private func recordPath() throws -> [String] {
        if let path = rule.record { return path }
        guard request.operation != .delete, let type = recordType() else { return [] }
        var level = call.operation.output.elements.map { ([$0.name.local], $0) }
        for _ in 0..<5 {
            if let found = level.first(where: { $0.1.type == type && $0.0.count > 1 }) { return found.0 }
            level = level.flatMap { path, element in children(element).map { (path + [$0.name.local], $0) } }
        }
        return []
    }

    /// The type of the listing's records.
    private func recordType() -> TypeID? {
        guard let listing else { return nil }
        let path = (try? ReplyPaths(listing, call.schemas).checked(records, option: "records")) ?? records
        var level = listing.output.elements
        var found: SchemaElement?
        for name in path {
            guard let next = level.first(where: { $0.name.local == name }) else { return nil }
            found = next
            level = children(next)
        }
        guard let found, case .complex(let type) = call.schemas[found.type] else { return nil }
        // A path may end at the array that holds the records.
        return type.isArray ? type.children.first?.type : found.type
    }

    // MARK: failure

    /// A fault is an answer: nothing was done, whatever its status says.
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
        // Busy servers say so before they begin; other failures of theirs may come after it was done.
        let status = (try? exchange.response())?.status ?? 0
        guard exchange.wasSent, !isAnswer, !(400..<500).contains(status) || status == 408, status != 503 else {
            if isAnswer || status != 0 { error.isRetryable = error.isRetryable && [429, 503].contains(status) }
            return error
        }
        if error.code == .cancelled || error.code == .configuration { return error }
        return BridgeError(
            .timeout, "\(error.message); the request was sent, and nothing tells whether the service carried it out",
            remedy: "look at the service before it is sent again", location: error.location, remote: error.remote)
    }
}
