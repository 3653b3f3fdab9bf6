internal import BridgeKit

/// Holds an entity's `write:` against the WSDL, without sending anything.
struct WriteRuleCheck {
    let request: FetchRequest
    let port: WSDLPort
    let schemas: SchemaSet

    /// - Throws: ``BridgeError`` configuration for an operation, an element or a path that the WSDL lacks.
    func run() throws(BridgeError) {
        let named = request.section.object("write")?.names ?? []
        for operation in [WriteRequest.Operation.create, .update, .delete] where named.contains(operation.rawValue) {
            do throws(BridgeError) {
                try check(WriteRule(WriteRequest(operation, entity: request.entity, section: request.section)))
            } catch {
                var error = error
                error.message = "write.\(operation.rawValue): \(error.message)"
                throw error
            }
        }
    }

    private func check(_ rule: WriteRule) throws(BridgeError) {
        let operation = try port.operation(rule.service)
        var input = try Placeholders(parent: .empty, key: .empty, object: .empty).filled(rule.input)
        for (_, path) in rule.keys { input = try input.setting(path[...], to: "1") }
        for (path, _) in rule.attributes { input = try input.setting((rule.values + path)[...], to: "1") }
        // An element that is not there is told; a value at the end of the path would not fit an object's element.
        if !rule.values.isEmpty { try find(rule.values, in: operation) }
        _ = try EnvelopeWriter.write(operation, version: port.version, input: input, schemas: schemas)
        let paths = ReplyPaths(operation, schemas)
        if let record = rule.record { _ = try paths.checked(record, option: "record") }
        if let key = rule.replyKey { _ = try paths.checked(key.path, option: "reply_key") }
    }

    private func find(_ path: [String], in operation: WSDLOperation) throws(BridgeError) {
        var level = operation.input.elements
        if level.count == 1, case .complex(let type) = schemas[level[0].type] { level = type.children }
        for name in path {
            guard let next = level.first(where: { $0.name.local == name }) else {
                throw BridgeError(
                    .configuration, "\"values\" names \"\(name)\", which \(operation.name) does not take",
                    remedy: "its elements: \(NearestName.list(level.map(\.name.local), to: name))")
            }
            guard case .complex(let type) = schemas[next.type], !type.isOpen else { return }
            level = type.children
        }
    }
}
