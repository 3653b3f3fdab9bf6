internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch

/// Finds references to unknown attributes, which would be left out silently, or would fail only during a write.
extension RESTSectionValidator {
    private var write: BridgeOptions? { request.section.object("write") }
    private var variables: VariableValidator { VariableValidator(names: request.names, parent: request.parent) }
    private var operations: [WriteRequest.Operation] {
        [.create, .update, .delete].filter { write?.has($0.rawValue) == true }
    }

    /// - Parameter known: The faults found so far. Names are not checked in a path that already has one.
    func unknownNames(besides known: [SectionFault]) -> [SectionFault] {
        var faults = ["query", "headers", "body", "graphql", "export", "request_fields", "records"].flatMap { member in
            request.section.withValue(member) {
                $0.map { variables.faults(in: $0, option: member, isWrite: false) } ?? []
            }
        }
        for operation in operations {
            guard let options = write?.object(operation.rawValue) else { continue }
            faults += ["query", "headers", "forced", "envelope"].flatMap { member in
                options.withValue(member) { value in
                    let option = "write.\(operation.rawValue).\(member)"
                    return value.map { variables.faults(in: $0, option: option, isWrite: true) } ?? []
                }
            }
        }
        if !known.contains(where: { $0.key?.hasPrefix("path") == true }), let text = request.section.string("path"),
            let template = try? PathTemplate(text, option: "path")
        {
            // In a write, the listing's path can use the object's values.
            faults += template.names.compactMap {
                variables.fault(of: $0, option: "path", isWrite: !operations.isEmpty)
            }
        }
        if faults.isEmpty, known.isEmpty { faults += misspeltNames() }
        if faults.isEmpty, known.isEmpty, let fault = sinceFault() { faults.append(fault) }
        if faults.isEmpty, known.isEmpty { faults += unusedFaults() }
        if faults.isEmpty, known.isEmpty, let fault = tokenFault() { faults.append(fault) }
        if let fault = fieldsFault() { faults.append(fault) }
        if let fault = gapFault() { faults.append(fault) }
        if request.section.has("split"), !uses("from") || !uses("to") {
            faults.append(
                SectionFault(
                    key: "split", message: "split: the section does not use \(uses("from") ? "{to}" : "{from}")",
                    remedy: "put {from} and {to} where the API takes the first and the last id, such as "
                        + "query: {min_id: \"{from}\", max_id: \"{to}\"}"))
        }
        guard let names = request.names else { return faults }
        faults += (request.section.object("filters")?.names ?? []).compactMap {
            EntityNames.fault($0, among: names.fields, option: "filters.\($0)")
        }
        if let name = write?.string("if_match") {
            if let fault = EntityNames.fault(name, among: names.fields, option: "write.if_match") {
                faults.append(fault)
            }
        }
        for operation in operations where !known.contains(where: { $0.key?.hasPrefix("write") == true }) {
            faults += pathFaults(of: operation, names)
        }
        return faults
    }

    /// Finds unknown variables with a name close to a known one.
    ///
    /// A text would be sent with their braces, and a part of a path would be left out.
    private func misspeltNames() -> [SectionFault] {
        let sections = [request.section.object("parameters"), request.section.object("each"), parameters]
        let parameters = sections.compactMap(\.self).flatMap(\.names)
        func fault(_ name: String, option: String, known: [String]) -> SectionFault? {
            let first = name.split(separator: ".").first.map(String.init) ?? name
            let sources = name.contains(".") ? ["parent", "object", "key", "user_info"] : ["since", "until"]
            // A name of one or two letters is close to every short name.
            guard first.count > 2, !(known + sources).contains(first) else { return nil }
            let question = NearestName.question(known + sources, to: first)
            guard !question.isEmpty else { return nil }
            return SectionFault(
                key: option, message: "\(option): {\(name)} is not a variable\(question)",
                remedy: "correct its name, or give it a value under parameters")
        }
        var faults = ["query", "headers", "request_fields"].flatMap { option in
            request.section.withValue(option) { value in
                let names = value.map { VariableValidator.variables(in: $0) } ?? []
                return names.compactMap { fault($0, option: option, known: parameters) }
            }
        }
        if let text = request.section.string("path"), let template = try? PathTemplate(text, option: "path") {
            let names = operations.isEmpty ? [] : ["key"] + (request.names?.fields ?? []) + (request.names?.key ?? [])
            let paging = request.section.object("paging")
            let places = ["page_parameter", "offset_parameter", "parameter", "size_parameter", "limit_parameter"]
            let pages =
                paging?.string("in") == "path" ? ["page", "offset"] + places.compactMap { paging?.string($0) } : []
            let known = parameters + names + pages + (request.parent?.names ?? [])
            faults += template.names.compactMap { fault($0, option: "path", known: known) }
        }
        return faults
    }

    /// Finds `fields` without a place for `{fields}`, or without an effect.
    private func fieldsFault() -> SectionFault? {
        guard request.section.has("fields") else { return nil }
        guard uses("fields") else {
            return SectionFault(
                key: "fields", message: "fields says how {fields} is written, but the section does not use {fields}",
                remedy: "put {fields} where the API takes it, such as query: {fields: \"{fields}\"}, or remove fields")
        }
        guard request.fieldPaths == nil, request.section.string("fields") != "graphql" else { return nil }
        return SectionFault(
            key: "fields", message: "fields has no effect: the mapping may read any value of a record",
            remedy: "remove it, or \"extra\" and sub-entities", isWarning: true)
    }

    /// Finds a gap between windows that does not change a request.
    private func gapFault() -> SectionFault? {
        let isNamed = request.section.withValue("request_fields") { $0?.json.contains("{until}") ?? false }
        guard request.section.object("since")?.has("gap") == true, !isNamed, !SliceRule.sendsUntil(request.section)
        else { return nil }
        return SectionFault(
            key: "since.gap", message: "since.gap shortens {until}, but the section does not use {until}",
            remedy: "put {until} where the API takes the end, such as query: {to: \"{until}\"}, or remove gap")
    }

    /// Whether the path or a text of the request has a variable.
    private func uses(_ name: String) -> Bool {
        let isInPath =
            request.section.string("path").flatMap { try? PathTemplate($0, option: "path") }
            .map { $0.names.contains(name) } ?? false
        return isInPath
            || ["query", "headers", "body", "graphql", "export"].contains { option in
                request.section.withValue(option) { $0?.json.contains("{\(name)}") ?? false }
            }
    }

    /// Finds an incremental section without a place for `since`.
    ///
    /// The remote would return everything, and the host would take it for changes, so that no absent record would ever
    /// be deleted.
    private func sinceFault() -> SectionFault? {
        guard request.since != nil else { return nil }
        guard !uses("since") else { return nil }
        return SectionFault(
            key: nil,
            message:
                "incremental names a field, but the section does not use {since}: each sync would fetch everything, "
                + "treat it as changes, and delete nothing",
            remedy: "put {since} where the API takes it, such as query: {since: \"{since}\"}, or remove incremental")
    }

    /// Finds faults in the path of a write: its own, or the listing's path with the key.
    private func pathFaults(of operation: WriteRequest.Operation, _ names: EntityNames) -> [SectionFault] {
        guard
            let rule = try? RESTWriteRule(WriteRequest(operation, entity: request.entity, section: request.section))
        else { return [] }
        let option = "write.\(operation.rawValue)"
        guard let path = rule.path else {
            let isItem = rule.isOfItem && rule.mutation == nil
            guard isItem, names.key.count > 1 else { return [] }
            return [
                SectionFault(
                    key: option,
                    message: "\(option): its path cannot be derived from a key of \(names.key.count) parts",
                    remedy: "set \(option).path, such as /users/"
                        + names.key.map { "{key.\($0)}" }.joined(separator: "/"))
            ]
        }
        let faults = path.names.compactMap { variables.fault(of: $0, option: "\(option).path", isWrite: true) }
        guard faults.isEmpty, let missing = path.missing(placeholders(names)), missing != "key" else { return faults }
        return [
            SectionFault(
                key: "\(option).path", message: "\(option).path: {\(missing)} never has a value",
                remedy: "use {key}, {key.NAME}, {object.NAME} or {parent.NAME}, or set \(missing) under parameters")
        ]
    }

    /// Returns variables with their names as values.
    private func placeholders(_ names: EntityNames) -> TemplateVariables {
        func object(_ names: [String]) -> BridgeOptions {
            BridgeOptions { writer in for name in names { writer.member(name, name) } }
        }
        return TemplateVariables(
            parameters: [request.section.object("parameters"), parameters].compactMap(\.self), namesUserInfo: true,
            parent: request.parent, object: object(names.fields), key: object(names.key))
    }

    /// Warns about nested objects that are only partly configured and not read before an update.
    ///
    /// A remote that replaces the whole object would lose the other parts.
    func nestedWarnings() -> [SectionFault] {
        guard let nested = request.names?.nested, !nested.isEmpty, operations.contains(.update),
            let rule = try? RESTWriteRule(WriteRequest(.update, entity: request.entity, section: request.section)),
            rule.sendsNestedWhole, !rule.isReadWhereWritten
        else { return [] }
        return [
            SectionFault(
                key: "write.update",
                message:
                    "write.update: \(nested.joined(separator: ", ")) \(nested.count == 1 ? "goes" : "go") inside nested "
                    + "objects, which cannot be read before they are sent: the remote gets only the parts that are "
                    + "attributes here, and may lose the others",
                remedy: "set read_one of the entity, or nested: part if the remote merges what it gets",
                isWarning: true)
        ]
    }
}
