internal import Model

/// Translates an incremental parameter of dlt into `since` and `incremental`.
struct DLTCursor {
    private let draft: EntityDraft
    private let rule: ConfigValue
    /// The query parameters that take the start and the end.
    private let start: String?
    private let end: String?

    private static let read: Set<String> = [
        "type", "cursor_path", "initial_value", "end_value", "start_param", "end_param", "convert", "transform", "lag",
        "last_value_func",
    ]

    /// The least number that is taken for milliseconds since 1970, in 1973, and not for seconds, in the year 5138.
    private static let firstMilliseconds: Int64 = 100_000_000_000

    /// - Returns: nil if the endpoint has none.
    init?(draft: EntityDraft, endpoint: ConfigValue) {
        self.draft = draft
        let bound = endpoint["params"]?.members?.first { $0.value["type"]?.string == "incremental" }
        if let bound {
            (rule, start, end) = (bound.value, bound.key, nil)
        } else if let rule = endpoint["incremental"], rule.members != nil {
            (self.rule, start, end) = (rule, rule["start_param"]?.string, rule["end_param"]?.string)
        } else {
            return nil
        }
    }

    /// Adds the parameters to the request.
    func inject() {
        if let start { draft.add(start, "{since}", to: "query") }
        if let end { draft.add(end, "{until}", to: "query") }
    }

    /// Adds what the request's variables need, once all of the request is known.
    func finish() {
        for name in ["convert", "transform"] where rule[name] != nil && rule[name] != .null {
            draft.doubt("incremental: \(name) is Python; the value is sent as it is")
        }
        if let function = rule["last_value_func"]?.printed, function != "max",
            !function.contains("built-in function max")
        {
            draft.doubt("incremental: last_value_func \(function) is not carried; bmo takes the newest value")
        }
        for (name, value) in rule.members ?? [] where !Self.read.contains(name) && value != .null {
            draft.doubt("incremental: \(name) is not carried")
        }
        guard let field = rule["cursor_path"]?.string, !field.isEmpty else {
            draft.doubt("incremental has no cursor_path")
            return
        }
        let first = rule["initial_value"] ?? .null
        let column = attribute(field, first)
        let sent = draft.settings.map(\.value.json).joined()
        guard sent.contains("{since}") else {
            draft.note(
                "dlt compares the cursor \(field) itself; bmo fetches the whole listing, and writes only changed rows")
            return
        }
        var since: [(key: String, value: ConfigValue)] = []
        if let text = first.string {
            if Self.isTime(text) {
                since.append(("start", .string(text)))
                if text.count == 10 { since.append(("format", "%Y-%m-%d")) }
            } else {
                draft.doubt("incremental: the initial_value \(text) is not a time; the first sync sends none")
            }
        } else if case .int(let number) = first {
            since = [("start", .string(String(number))), ("format", number >= Self.firstMilliseconds ? "%ms" : "%s")]
        } else if first != .null {
            draft.note("the first sync sends no start, where dlt sends \(first.printed)")
        }
        if sent.contains("{until}") {
            if let text = rule["end_value"]?.string, Self.isTime(text) { since.append(("until", .string(text))) }
        } else if let end = rule["end_value"], end != .null {
            draft.doubt("incremental: end_value \(end.printed) is not sent, and not compared")
        }
        if !since.isEmpty { draft.set("since", .object(since)) }
        draft.incremental = [("field", .string(column))]
        if let lag = rule["lag"], lag != .null, lag != .int(0) {
            let isNumber = first.string == nil
            draft.incremental.append(("lookback", isNumber ? lag : .string("\(lag.printed)s")))
        }
    }

    private func attribute(_ field: String, _ first: ConfigValue) -> String {
        let bare = field.hasPrefix("$.") ? String(field.dropFirst(2)) : field
        var type = "timestamp"
        if case .int = first { type = "integer" }
        // A start that is a date says nothing of the records: a timestamp reads dates, too.
        if let text = first.string, !Self.isTime(text) { type = "text" }
        let path = bare.split(separator: ".").map(String.init)
        let isKnown = draft.attributes.contains { $0.path == .string(EntityDraft.path(path)) }
        let name = draft.attribute(reading: path, type: type)
        // A key or a column that dlt declares has its type.
        if isKnown, let index = draft.attributes.firstIndex(where: { $0.name == name }),
            draft.attributes[index].type == "text"
        {
            draft.attributes[index].type = type
        }
        return name
    }

    /// Whether a text is a date or a date-time of ISO 8601.
    private static func isTime(_ text: String) -> Bool {
        text.wholeMatch(of: /\d{4}-\d\d-\d\d(T.+)?/) != nil
    }
}
