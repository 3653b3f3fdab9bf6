internal import BridgeKit

/// Validates an entity's `write:` against the WSDL, without sending anything.
struct WriteRuleCheck {
    let request: FetchRequest
    let section: SOAPSection
    let port: WSDLPort
    let schemas: SchemaSet
    /// The rules for faults among the bridge's options.
    let commonFaults: [SOAPFaultRule]

    /// - Parameter warnings: Receives the refusals that will affect only some objects.
    /// - Throws: ``BridgeError`` configuration for an operation, an element or a path that the WSDL lacks; unsupported
    ///   for an update that could not send the whole object.
    func run(warnings: inout [String]) throws(BridgeError) {
        if let lacking = lackingFaults() { warnings.append(lacking) }
        let named = request.section.object("write")?.names ?? []
        for operation in [WriteRequest.Operation.create, .update, .delete] where named.contains(operation.rawValue) {
            do throws(BridgeError) {
                let rule = try SOAPWriteRule(WriteRequest(operation, entity: request.entity, section: request.section))
                try check(rule)
                if operation == .update, rule.sendsAll { try checkWhole(rule) }
                if let lacking = try lacking(rule, operation) {
                    warnings.append("write.\(operation.rawValue): \(lacking)")
                }
                if operation != .delete, let several = try severalObjects(rule) {
                    warnings.append("write.\(operation.rawValue): \(several)")
                }
            } catch {
                var error = error
                error.message = "write.\(operation.rawValue): \(error.message)"
                throw error
            }
        }
    }

    /// Returns what reading one object lacks if only the section says which fault means that the object is gone, in words.
    private func lackingFaults() -> String? {
        guard section.faultRules.contains(where: { $0.action == .notFound }), let readOne = request.readOne,
            let reading = try? SOAPSection(readOne)
        else { return nil }
        let rules = reading.faultRules + commonFaults
        guard !rules.contains(where: { $0.action == .notFound || $0.action == .empty }) else { return nil }
        return
            "faults: the section's rule for not_found does not apply to read_one, so that an object that is gone there "
            + "cannot be recognised; repeat the rule in read_one, or set it among the bridge's options"
    }

    /// Returns which elements of the reply may be the object, if several have the type of the records, in words.
    private func severalObjects(_ rule: SOAPWriteRule) throws(BridgeError) -> String? {
        let listing = try port.operation(section.operation)
        guard rule.record == nil, let type = ReplyPaths(listing, schemas).record(section.records)?.type,
            type != schemas.anyType
        else { return nil }
        let paths = ReplyObject(in: try port.operation(rule.service), of: type, schemas).paths
        guard paths.count > 1 else { return nil }
        let names = paths.prefix(5).map { $0.joined(separator: "/") }
        return "the reply has several elements of the type of the records, so the object is not read from it: name the "
            + "object's under record: \(names.joined(separator: ", "))"
    }

    private func check(_ rule: SOAPWriteRule) throws(BridgeError) {
        let operation = try port.operation(rule.service)
        let input = try sampleInput(of: rule, withKeys: true)
        // Reports a missing element; a value at the end of the path would not suit an object's element.
        _ = try RequestTarget(operation, values: rule.values, schemas: schemas)
        _ = try EnvelopeWriter.write(operation, version: port.version, input: input, schemas: schemas)
        let paths = ReplyPaths(operation, schemas)
        if let record = rule.record { _ = try paths.checked(record, option: "record") }
        if let key = rule.replyKey { _ = try paths.checked(key.path, option: "reply_key") }
    }

    /// Returns the rule's input with a sample value for each attribute and key.
    private func sampleInput(of rule: SOAPWriteRule, withKeys: Bool) throws(BridgeError) -> InputValue {
        var input = try Placeholders(parent: .empty, key: .empty, object: .empty).filled(rule.input)
        if withKeys { for (_, path) in rule.keys { input = try input.setting(path[...], to: "1") } }
        for (path, _) in rule.attributes { input = try input.setting((rule.values + path)[...], to: "1") }
        return input
    }

    /// Validates that the object as read has every element that the update takes.
    private func checkWhole(_ rule: SOAPWriteRule) throws(BridgeError) {
        let reading = try request.readOne.map { (section) throws(BridgeError) in try SOAPSection(section) } ?? section
        let type = ReplyPaths(try port.operation(reading.operation), schemas).record(reading.records)?.type
        let operation = try port.operation(rule.service)
        let target = try RequestTarget(operation, values: rule.values, schemas: schemas)
        var filled = Set(rule.leftOut + rule.attributes.compactMap(\.path.first))
        if case .object(let members)? = rule.input.value(at: rule.values) { filled.formUnion(members.map(\.name)) }
        if rule.values.isEmpty { filled.formUnion(rule.keys.compactMap(\.path.first)) }
        filled.formUnion((request.writtenPaths ?? []).compactMap(\.first))
        let unknown = TypeFit(target: target, filled: filled).unknownElements(from: type)
        if !unknown.isEmpty { throw TypeFit.refusal(unknown, target.path) }
    }

    /// Returns the elements that the schema requires and that neither the config nor an attribute supplies, in words.
    private func lacking(
        _ rule: SOAPWriteRule, _ name: WriteRequest.Operation
    ) throws(BridgeError) -> String? {
        guard name != .update, let written = request.writtenPaths else { return nil }
        let operation = try port.operation(rule.service)
        // In SOAP encoding, an omitted element has no value (SOAP 1.1, section 5.1).
        guard !operation.input.isEncoded else { return nil }
        var input = try sampleInput(of: rule, withKeys: name == .delete)
        if name == .create, !rule.values.isEmpty, input.value(at: rule.values) == nil {
            // The attributes supply the object's own element; look for required elements that they omit.
            input = try input.setting(rule.values[...], to: .object([]))
        }
        let missing = try EnvelopeWriter.write(operation, version: port.version, input: input, schemas: schemas).missing
        let target = try RequestTarget(operation, values: rule.values, schemas: schemas)
        let given = written.map { (target.path + $0).joined(separator: "/") }
        let lacking = missing.filter { place in
            name == .delete || !given.contains { $0 == place || $0.hasPrefix(place + "/") || place.hasPrefix($0 + "/") }
        }
        guard !lacking.isEmpty else { return nil }
        return
            "the schema requires \(lacking.prefix(8).joined(separator: ", ")), which no attribute gives: nothing will be "
            + "sent; name a constant under write.\(name.rawValue).input"
    }
}
