internal import Model
internal import TextFormats

/// Translates one resource of a dlt configuration.
struct DLTResource {
    let draft: EntityDraft
    let resource: ConfigValue
    let client: ConfigValue
    let bridges: DLTBridges
    /// Returns the translation of another resource.
    let other: (String) -> EntityDraft?

    private var endpoint: ConfigValue { resource["endpoint"] ?? .object([]) }

    /// What has a meaning for dlt's loading alone.
    private static let ofLoading = [
        "max_table_nesting", "parallelized", "file_format", "table_format", "section", "spec",
    ]
    private static let read: Set<String> = [
        "name", "endpoint", "primary_key", "write_disposition", "columns", "include_from_parent", "processing_steps",
        "selected", "merge_key", "table_name",
    ]
    private static let readOfEndpoint: Set<String> = [
        "path", "method", "params", "json", "data", "headers", "paginator", "data_selector", "response_actions",
        "incremental", "auth",
    ]

    func apply() {
        draft.keepsExtra = draft.columns.claim("extra") == "extra"
        columns()
        key()
        parent()
        let cursor = DLTCursor(draft: draft, endpoint: endpoint)
        request(cursor)
        cursor?.finish()
        disposition()
        for name in ["merge_key"] where resource[name]?.isTruthy == true {
            draft.doubt("\(name) \(resource[name]?.printed ?? "") is not carried")
        }
        for step in resource["processing_steps"]?.array ?? [] {
            for (name, _) in step.members ?? [] { draft.doubt("its processing step \(name) is Python") }
        }
        if resource["selected"]?.bool == false {
            draft.note("dlt does not load this resource (selected: false), only its children")
        }
        if let table = resource["table_name"]?.string, table != draft.stream {
            draft.note("dlt's table is \(table); the name of the entity is that of its table here")
        }
        let rest = (resource.members ?? []).filter { !Self.read.contains($0.key) && $0.value != .null }.map(\.key)
        for name in rest where Self.ofLoading.contains(name) { draft.note("\(name) has no meaning for bmo") }
        for name in rest where !Self.ofLoading.contains(name) { draft.doubt("\(name) is not carried") }
        for (name, value) in endpoint.members ?? [] where !Self.readOfEndpoint.contains(name) && value != .null {
            draft.doubt("endpoint.\(name) is not carried")
        }
    }

    // MARK: Columns and Keys

    private static let types = [
        "text": "text", "bigint": "integer", "double": "real", "bool": "boolean", "timestamp": "timestamp",
        "date": "date", "decimal": "decimal", "wei": "decimal", "json": "json", "complex": "json", "time": "text",
    ]

    private func columns() {
        guard let given = resource["columns"], given != .null else {
            draft.note("dlt infers the columns; here all members without an attribute are in the column extra")
            return
        }
        var list = (given.members ?? []).map { (name: $0.key, hints: $0.value) }
        list += (given.array ?? []).compactMap { hints in hints["name"]?.string.map { (name: $0, hints: hints) } }
        if given.string != nil { draft.doubt("its columns are Python: \(given.printed)") }
        for (name, hints) in list {
            guard let type = hints["data_type"]?.string else { continue }
            guard let own = Self.types[type] else {
                draft.doubt("the column \(name) has the type \(type), which bmo does not have")
                continue
            }
            _ = draft.attribute(reading: name.split(separator: ".").map(String.init), type: own)
        }
    }

    private func key() {
        let given = resource["primary_key"]
        for name in given?.array?.map(\.printed) ?? (given?.string).map({ [$0] }) ?? [] {
            draft.key.append(attribute(name))
        }
    }

    private func attribute(_ path: String) -> String {
        let bare = path.hasPrefix("$.") ? String(path.dropFirst(2)) : path
        return draft.attribute(reading: bare.split(separator: ".").map(String.init))
    }

    private func disposition() {
        let given = resource["write_disposition"]
        let words = given?.string ?? given?["disposition"]?.string ?? "append"
        if given?.members != nil, let strategy = given?["strategy"]?.printed {
            draft.doubt("write_disposition has the strategy \(strategy), which is not carried")
        }
        switch (words, draft.key.isEmpty) {
        case ("append", true), ("merge", true): break
        case ("append", false):
            draft.note("dlt appends all records again; with its key, bmo updates the rows")
            draft.deletes = "ignore"
        case ("merge", false): draft.deletes = "ignore"
        case ("replace", true):
            draft.doubt("dlt replaces the table; without a primary_key each sync appends all records again")
        case ("replace", false): break
        default: draft.doubt("write_disposition \(words) is not carried")
        }
    }

    // MARK: The Parent

    /// The references to other resources in the endpoint, and the fields that `params` resolve.
    private var references: [(resource: String, field: String)] {
        var found: [(resource: String, field: String)] = []
        for text in endpoint.removing("paginator").texts {
            for name in DLTText.names(in: text) where name.hasPrefix("resources.") {
                let parts = name.split(separator: ".", maxSplits: 2).map(String.init)
                if parts.count == 3 { found.append((parts[1], parts[2])) }
            }
        }
        for (_, value) in endpoint["params"]?.members ?? [] where value["type"]?.string == "resolve" {
            found.append((value["resource"]?.printed ?? "", value["field"]?.printed ?? ""))
        }
        return found
    }

    private func parent() {
        guard let first = references.first else {
            if resource["include_from_parent"]?.array?.isEmpty == false {
                draft.doubt("include_from_parent has no effect: the endpoint refers to no other resource")
            }
            return
        }
        if let second = references.first(where: { $0.resource != first.resource }) {
            draft.obstacle(
                "its endpoint refers to \(first.resource) and \(second.resource), and bmo scans by one parent")
            return
        }
        guard let parent = other(first.resource) else {
            draft.obstacle("its parent \(first.resource) is not among the resources, or is its own child")
            return
        }
        if parent.key.isEmpty {
            parent.key = [column(first.field, of: parent)]
            parent.keyComment = "a guess: its children refer to it by this"
            parent.doubt("the resource names no primary_key; \(parent.key[0]) is a guess", ofValues: true)
        }
        draft.parent = (draft.columns.claim("of_" + parent.name.lowercased()), parent, nil)
        for field in resource["include_from_parent"]?.array ?? [] {
            let name = "_\(first.resource)_\(field.printed)"
            draft.requestFields.append((name, .string("{parent.\(column(field.printed, of: parent))}")))
            _ = draft.attribute(reading: [name])
        }
    }

    private func column(_ field: String, of parent: EntityDraft) -> String {
        parent.attribute(reading: field.split(separator: ".").map(String.init))
    }

    /// Returns a text with bmo's variables in place of dlt's placeholders.
    private func text(_ given: String) -> String {
        DLTText.replacing(given) { name in
            let parts = name.split(separator: ".", maxSplits: 2).map(String.init)
            if parts.count == 3, parts[0] == "resources" {
                return draft.parent.map { "{parent.\(column(parts[2], of: $0.draft))}" }
            }
            switch name {
            case "incremental.start_value", "incremental.last_value": return "{since}"
            case "incremental.end_value": return "{until}"
            case "incremental.initial_value":
                return (endpoint["incremental"]?["initial_value"]?.printed).map { $0.replacing("{", with: "") }
            default: break
            }
            guard let value = endpoint["params"]?[name] else { return nil }
            guard value["type"]?.string == "resolve" else { return value.printed }
            return draft.parent.map { "{parent.\(column(value["field"]?.printed ?? "", of: $0.draft))}" }
        }
    }

    // MARK: The Request

    private func request(_ cursor: DLTCursor?) {
        let given = endpoint["path"]?.printed ?? ""
        let isSingle = given.split(separator: "/").last.map { !DLTText.names(in: String($0)).isEmpty } ?? false
        let (bridge, path) = bridges.bridge(path: given, auth: endpoint["auth"].flatMap { $0 == .null ? nil : $0 })
        draft.bridge = bridge.name
        for obstacle in bridge.obstacles { draft.obstacle(obstacle) }
        for doubt in bridge.doubts { draft.doubt(doubt) }
        let bound = Set(DLTText.names(in: path))
        let plain = PathText.escaped(path, #"\()|"#)
        let below = text(plain)
        let shown = LiteralCredentials.path(below, of: draft, bridge)
        draft.set("path", .string(shown.hasPrefix("/") ? shown : "/" + shown))
        for name in DLTText.names(in: below) where !["since", "until"].contains(name) && !name.hasPrefix("parent.") {
            draft.obstacle("its path needs {\(name)}, which the configuration does not say")
        }
        let method = endpoint["method"]?.string?.uppercased() ?? "GET"
        if !["GET", "POST"].contains(method) { draft.obstacle("bmo has no listing by \(method)") }
        if method == "POST" { draft.set("method", "POST") }
        for (name, value) in endpoint["params"]?.members ?? [] where !bound.contains(name) {
            guard value["type"]?.string != "resolve", value["type"]?.string != "incremental", value != .null else {
                continue
            }
            if let literal = Self.literal(value), LiteralCredentials.isParameter(name) {
                let variable = LiteralCredentials.variable(name, literal, in: "the query", of: draft, bridge)
                draft.add(name, .string(variable), to: "query")
            } else {
                draft.add(name, sent(value), to: "query")
            }
        }
        for (place, values) in [("client", client["headers"]), ("endpoint", endpoint["headers"])] {
            for (name, value) in values?.members ?? [] { header(name, value, of: place, bridge) }
        }
        if let body = endpoint["json"], body != .null {
            draft.set("body", LiteralCredentials.body(sent(body), of: draft, bridge))
            if method == "GET" { draft.set("method", "GET") }
        }
        if let data = endpoint["data"], data != .null {
            draft.set("body", LiteralCredentials.body(sent(data), of: draft, bridge))
            if data.members != nil { draft.set("body_format", "form") }
            if method == "GET" { draft.set("method", "GET") }
        }
        cursor?.inject()
        var paginator = endpoint["paginator"] ?? .null
        if paginator == .null, !isSingle { paginator = client["paginator"] ?? .null }
        if let selector = endpoint["data_selector"], selector != .null {
            if let records = DLTText.path(selector.printed) {
                draft.set("records", .string(records))
            } else {
                draft.obstacle("bmo cannot read the data_selector \(selector.printed)")
            }
        } else if isSingle {
            draft.set("records", "$")
        }
        if isSingle, paginator == .null {
            draft.set("paging", "none")
        } else {
            DLTPaging(draft: draft).apply(paginator)
        }
        responses()
    }

    /// Returns a value with bmo's variables.
    private func sent(_ value: ConfigValue) -> ConfigValue {
        switch value {
        case .string(let given): .string(text(given))
        case .array(let elements): .array(elements.map(sent))
        case .object(let members): .object(members.map { ($0.key, sent($0.value)) })
        default: value
        }
    }

    /// The text of a value that another resource has no part in; nil for an empty one.
    private static func literal(_ value: ConfigValue) -> String? {
        value.string.flatMap { $0.isEmpty || $0.contains("{resources.") ? nil : $0 }
    }

    private func header(_ name: String, _ value: ConfigValue, of place: String, _ bridge: BridgeDraft) {
        guard value != .null else { return }
        guard SecretNames.isHeader(name), let literal = Self.literal(value) else {
            draft.add(name, .string(text(value.printed)), to: "headers")
            return
        }
        let variable = LiteralCredentials.variable(name, literal, in: "the headers of the \(place)", of: draft, bridge)
        draft.add(name, .string(variable), to: "headers")
    }

    private func responses() {
        var rules: [ConfigValue] = []
        for action in endpoint["response_actions"]?.array ?? [] {
            guard action["action"]?.string == "ignore" else {
                draft.doubt("a response action is Python")
                continue
            }
            if let content = action["content"], content != .null {
                draft.doubt("a reply with the text \(content.printed) is not ignored: bmo's rules test members")
                continue
            }
            guard let status = action["status_code"], status != .null else { continue }
            rules.append(["status": status, "action": "ignore"])
        }
        if !rules.isEmpty { draft.set("responses", .array(rules)) }
    }
}
