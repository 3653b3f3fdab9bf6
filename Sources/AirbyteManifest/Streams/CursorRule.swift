internal import Model

/// Translates a cursor (`incremental_sync`) into `incremental` and the section's `since`.
struct CursorRule {
    let draft: EntityDraft

    /// The fields of a slice that hold the cursor's window, and the format in which they are sent.
    struct Window {
        var start = "start_time"
        var end = "end_time"
        var format: String?
    }

    /// The rest of the translation, which follows that of the request.
    private let component: ConfigValue
    private let scope: Scope
    private(set) var window = Window()

    init?(_ component: ConfigValue?, draft: EntityDraft, _ scope: Scope) {
        guard let component, component != .null else { return nil }
        self.draft = draft
        self.component = component
        self.scope = scope.with(component)
        window.start = component["partition_field_start"]?.string ?? window.start
        window.end = component["partition_field_end"]?.string ?? window.end
        window.format = component["datetime_format"]?.string
    }

    private func known(_ value: ConfigValue?) -> String? {
        guard let value, value != .null else { return nil }
        return (try? Template(value.printed, scope))?.known?.printed
    }

    /// Returns the seconds of a duration if they are known and not zero.
    ///
    /// - Parameters:
    ///   - isLongest: Whether a month and a year are as long as any.
    ///   - loss: What bmo does without the duration.
    private func span(_ member: String, isLongest: Bool = false, loss: String) -> Int64? {
        guard let value = component[member], value != .null, value != "" else { return nil }
        var text = known(value)
        if text == nil {
            // A configuration has no variables here, so the manifest's own default is the best that is known.
            var scope = scope
            scope.assumesDefaults = true
            text = (try? Template(value.printed, scope))?.known?.printed
            if let text { draft.doubt("\(member) \(value.printed) is taken as \(text): give its input with --set") }
        }
        guard let text else {
            draft.doubt("\(member) \(value.printed) is not known: \(loss); give its input with --set")
            return nil
        }
        if text.isEmpty { return nil }
        guard let seconds = ISODuration.seconds(text, isLongest: isLongest) else {
            draft.doubt("\(member) \(text) cannot be read as a duration: \(loss)")
            return nil
        }
        return seconds > 0 ? seconds : nil
    }

    /// Prepares the section for the variables `{since}` and `{until}`.
    func begin(_ text: SliceText) {
        switch component.type {
        case "DatetimeBasedCursor": break
        case "IncrementingCountCursor":
            let start = known(component["start_value"])
            if start == nil, let given = component["start_value"], given != .null {
                draft.doubt("the cursor's start \(given.printed) is not known: bmo starts at 0")
            }
            draft.set("since", .object([("start", .string(start ?? "0"))]))
            return
        default:
            let name = component["class_name"]?.string ?? component.type ?? ""
            draft.doubt("the cursor \(name) is custom Python; bmo reads the whole listing each time")
            return
        }
        var since: [(key: String, value: ConfigValue)] = []
        do {
            if let start = try self.start(text) { since.append(("start", .string(start))) }
        } catch {
            let start = component["start_datetime"] ?? .null
            draft.sectionNote(
                "not carried: the cursor's start \(start.printed): \(reason(error))")
            draft.doubt("the cursor's start \((start["datetime"] ?? start).printed): \(reason(error))")
        }
        if let end = component["end_datetime"], end != .null {
            do {
                let until = try moment(end, text)
                if until != "now", !until.isEmpty { since.append(("until", .string(until))) }
            } catch {
                draft.doubt(
                    "the cursor's end \((end["datetime"] ?? end).printed): \(reason(error)); bmo reads until now")
            }
        }
        if let format = window.format { since.append(("format", .string(format))) }
        draft.set("since", .object(since))
    }

    private func start(_ text: SliceText) throws -> String? {
        guard let start = component["start_datetime"] else { return nil }
        var value = try moment(start, text)
        // The later of the two, if both are known.
        if let least = start["min_datetime"], least != .null {
            let other = try? moment(least, text)
            if let other, value.first?.isNumber == true, other.first?.isNumber == true {
                value = max(value, other)
            } else {
                draft.doubt("the cursor's start: min_datetime \(least.printed) is not compared with \(value)")
            }
        }
        return value.isEmpty ? nil : value
    }

    /// Returns a time in the form that the section accepts: ISO 8601, `now-30d`, or a parameter.
    private func moment(_ value: ConfigValue, _ text: SliceText) throws -> String {
        let scope = scope.with(value)
        let template = try Template((value["datetime"] ?? value).printed, scope)
        guard let expression = template.expression else { return try text.text(template, in: .query) }
        let moment = try moment(expression, text)
        guard expression.known != nil, let format = Self.ownFormat(value) ?? window.format, !Self.isRead(format),
            !moment.isEmpty
        else { return moment }
        if let time = ManifestTime.iso(moment, format: format) { return time }
        // Some connectors write the start in another format than that of the requests.
        guard ManifestTime.iso(String(moment.prefix(10)), format: "%Y-%m-%d") == nil else { return moment }
        throw Untranslatable("bmo does not read a time in the format \(format)")
    }

    /// Returns a known time as the section takes it: seconds of a `timestamp`, and those of the first years, as ISO 8601.
    private static func time(_ value: ConfigValue, format: String?) -> String {
        var seconds: Double?
        switch value {
        case .double(let number): seconds = number
        case .int(let number) where format == "%s" && (0..<100_000_000).contains(number): seconds = Double(number)
        default: break
        }
        let time = seconds.flatMap { Int64(exactly: ($0 * 1_000_000).rounded()) }
        return time.flatMap { KnownMacros.text($0, "%Y-%m-%dT%H:%M:%SZ")?.string } ?? value.printed
    }

    private static func ownFormat(_ value: ConfigValue) -> String? {
        value["datetime_format"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether the section takes times of a format as they are: ISO 8601 times, and seconds or milliseconds since 1970.
    private static func isRead(_ format: String) -> Bool { format.hasPrefix("%Y-%m-%d") || epochs[format] != nil }

    private func moment(_ expression: Expression, _ text: SliceText) throws -> String {
        if let value = expression.known { return value == .null ? "" : Self.time(value, format: window.format) }
        switch expression {
        case .input(let input): return "{\(text.bridge.parameter(for: input))}"
        case .call(.name("now_utc"), _): return "now"
        case .call(.name("today_utc"), _):
            doubtCut(expression, to: "%Y-%m-%d")
            return "now"
        case .call(.name("format_datetime"), let arguments), .call(.name("str_to_datetime"), let arguments),
            .call(.name("timestamp"), let arguments):
            if arguments.count > 1 { doubtCut(expression, to: arguments[1].known?.string) }
            if let first = arguments.first { return try moment(first, text) }
        case .call(.member(let time, .literal("strftime")), let arguments):
            doubtCut(expression, to: arguments.first?.known?.string)
            return try moment(time, text)
        case .call(.member(let time, .literal("isoformat")), _): return try moment(time, text)
        case .call(.name("day_delta"), let arguments):
            if arguments.count > 1 { doubtCut(expression, to: arguments[1].known?.string) }
            guard case .int(let days)? = arguments.first?.known else { break }
            return days == 0 ? "now" : "now\(days < 0 ? "-" : "+")\(days.magnitude)d"
        case .binary(let sign, .call(.name("now_utc"), _), .call(.name("duration"), let arguments))
        where "+-".contains(sign):
            guard let span = arguments.first?.known?.string, let seconds = ISODuration.seconds(span) else { break }
            if ISODuration.hasMonths(span) {
                draft.doubt("\(expression.text): a month is taken as 30 days, and a year as 365")
            }
            return seconds == 0 ? "now" : "now\(sign)\(ISODuration.span(seconds))"
        case .binary("or", let first, _): return try moment(first, text)
        default: break
        }
        throw Untranslatable("only Python can compute {{ \(expression.text) }}")
    }

    /// Reports a time that is written in a coarser format than that of the requests: the beginning of a day or a month.
    private func doubtCut(_ time: Expression, to format: String?) {
        guard let sent = window.format, let format, let loss = TimeFormat.loss(in: format, before: sent) else { return }
        draft.doubt("\(time.text) leaves out \(loss) of the time; bmo takes the whole time")
    }

    // MARK: After the Request

    /// Adds the cursor's own parameters, and the entity's `incremental`.
    func finish(_ text: SliceText) {
        guard draft.setting("since") != nil else { return }
        inject(component["start_time_option"] ?? component["start_value_option"], "{since}", text)
        inject(component["end_time_option"], "{until}", text)
        let sent =
            draft.settings.filter { $0.name != "since" }.map(\.value.json).joined()
            + draft.requestFields.map(\.value.json).joined()
        guard sent.contains("{since}") || sent.contains("{until}") else {
            draft.settings.removeAll { $0.name == "since" }
            draft.note(
                "Airbyte compares the cursor \(known(component["cursor_field"]) ?? "") itself; bmo fetches the whole listing; where the stream has a key, it writes only changed rows"
            )
            return
        }
        addWindow(sendsUntil: sent.contains("{until}"))
        let since = draft.setting("since")
        if draft.sendsNow, since?["window"] != nil || since?["until"] != nil {
            draft.doubt("a request sends the present time; bmo sends the end of its window")
        }
        guard sent.contains("{since}") else {
            draft.note("its requests have an end, but no start")
            return
        }
        guard let field = known(component["cursor_field"]), !field.isEmpty else {
            draft.doubt("only Python knows the cursor's field; each sync requests everything since the start")
            return
        }
        doubtUnread()
        if formats.first == "%s_as_float" {
            draft.doubt(
                "the cursor \(field) has fractions of seconds, which bmo does not compare; each sync requests everything "
                    + "since the start")
            return
        }
        if let loss = lossOfForm(field) {
            draft.doubt("\(loss); each sync requests everything since the start")
            return
        }
        let name = attribute(field)
        draft.incremental = [("field", .string(name))]
        if let seconds = span(
            "lookback_window", isLongest: true, loss: "bmo requests what is newer than the last value")
        {
            let isInteger = draft.attributes.first { $0.name == name }?.type == "integer"
            let (units, isOver) = seconds.multipliedReportingOverflow(by: Self.epochs[formats.first ?? ""] ?? 1)
            let value: ConfigValue = isInteger && !isOver ? .int(units) : .string(ISODuration.span(seconds))
            draft.incremental.append(("lookback", value))
        }
    }

    private func addWindow(sendsUntil: Bool) {
        guard component.type == "DatetimeBasedCursor",
            let seconds = span("step", loss: "one request has the whole time")
        else { return }
        guard draft.setting("since")?["start"] != nil else {
            draft.doubt("step \(component["step"]?.printed ?? ""): without a start, one request has the whole time")
            return
        }
        draft.add("window", .string(ISODuration.span(seconds)), to: "since")
        if let step = component["step"]?.string, ISODuration.hasMonths(known(.string(step)) ?? step) {
            let isInRecords = draft.requestFields.contains {
                $0.value.json.contains("{since}") || $0.value.json.contains("{until}")
            }
            let text = "step \(step): windows of \(ISODuration.span(seconds)), where Airbyte's are months or years"
            if isInRecords { draft.doubt(text) } else { draft.note(text) }
        }
        if sendsUntil { addGap(window: seconds) }
    }

    /// Lets each window but the last end before the next one begins, as Airbyte's do.
    private func addGap(window: Int64) {
        guard let given = component["cursor_granularity"]?.printed, !given.isEmpty,
            component["cursor_granularity"] != .null
        else { return }
        // The CDK does not evaluate expressions here.
        guard let gap = ISODuration.microseconds(given) else {
            draft.doubt("cursor_granularity \(given) cannot be read as a duration: windows share their bound")
            return
        }
        guard gap > 0 else { return }
        let (length, isOver) = window.multipliedReportingOverflow(by: 1_000_000)
        guard isOver || gap <= length else {
            draft.doubt("cursor_granularity \(given) is longer than the step: windows share their bound")
            return
        }
        draft.add("gap", .string(ISODuration.span(microseconds: gap)), to: "since")
    }

    /// How many units of an integer cursor make a second, by format.
    private static let epochs: [String: Int64] = [
        "%s": 1, "%s_as_float": 1, "%ms": 1000, "%epoch_microseconds": 1_000_000,
    ]

    /// The formats of the cursor's values in records, and then the one in requests.
    private var formats: [String] {
        (component["cursor_datetime_formats"]?.array ?? []).map(\.printed) + [window.format].compactMap(\.self)
    }

    /// Returns why the cursor's values cannot be compared, and gives their column a type that takes all of them; nil if
    /// they can.
    private func lossOfForm(_ field: String) -> String? {
        guard component.type == "DatetimeBasedCursor" else { return nil }
        let given = Set((component["cursor_datetime_formats"]?.array ?? []).map(\.printed))
        let first = formats.first ?? ""
        let isMixed = given.count > 1 && !given.allSatisfy(TimeFormat.isISO)
        let isUnread = !first.isEmpty && !TimeFormat.isISO(first) && !TimeFormat.isReadable(first)
        guard isMixed || isUnread && Self.epochs[first] == nil else { return nil }
        let hasNumbers = !given.isDisjoint(with: TimeFormat.epochs)
        for index in draft.attributes.indices where draft.attributes[index].member == field {
            guard ["timestamp", "date", "integer"].contains(draft.attributes[index].type) else { continue }
            draft.attributes[index].type = hasNumbers ? "json" : "text"
            draft.attributes[index].transform = nil
        }
        return isMixed
            ? "the cursor \(field) has values in several forms (\(given.sorted().joined(separator: ", "))), which bmo does not compare"
            : "the cursor \(field) has values in the form \(first), which bmo does not read"
    }

    /// Reports the members of a cursor that the CDK uses and the translation leaves out.
    private func doubtUnread() {
        let parts: [(name: String, part: ConfigValue?, unread: [String])] = [
            ("incremental_sync", component, ["clamping", "is_data_feed", "is_compare_strictly"]),
            ("start_datetime", component["start_datetime"], ["max_datetime", "datetime_format"]),
            ("end_datetime", component["end_datetime"], ["min_datetime", "max_datetime", "datetime_format"]),
        ]
        for (name, part, unread) in parts {
            for member in unread {
                guard let value = part?[member], value.isTruthy else { continue }
                // bmo reads ISO 8601 times anyway.
                if member == "datetime_format", let format = value.string,
                    Self.isRead(format) || known(part?["datetime"]) != nil
                {
                    continue
                }
                draft.doubt("\(name): \(member) \(value.printed) is not carried")
            }
        }
    }

    private func inject(_ option: ConfigValue?, _ variable: String, _ text: SliceText) {
        guard let option, option != .null else { return }
        do {
            try text.want(window.format)
            try RequestPlace(option, scope.with(option)).put(.string(variable), in: draft)
        } catch {
            draft.obstacle("its cursor: \(reason(error))")
        }
    }

    /// Returns the attribute of the cursor, with a type that can be compared.
    private func attribute(_ field: String) -> String {
        let path = [EntityDraft.path([field]), field].first { text in
            draft.attributes.contains { $0.path == .string(text) || $0.name == field }
        }
        if path == nil { _ = draft.attribute(reading: field.split(separator: ".").map(String.init)) }
        guard
            let index = draft.attributes.firstIndex(where: { $0.member == field })
                ?? draft.attributes.firstIndex(where: {
                    $0.name == field || $0.path == .string(field) || $0.path == .string(EntityDraft.path([field]))
                })
        else { return field }
        if component.type == "IncrementingCountCursor" {
            draft.attributes[index].type = "integer"
            return draft.attributes[index].name
        }
        let format = formats.first ?? ""
        let type = draft.attributes[index].type
        if Self.epochs[format] != nil {
            if type != "integer" {
                draft.attributes[index].type = "integer"
                draft.attributes[index].transform = nil
            }
        } else if TimeFormat.isISO(format) || format.isEmpty {
            if !["timestamp", "date"].contains(type) {
                draft.attributes[index].type = format == "%Y-%m-%d" && formats.count == 1 ? "date" : "timestamp"
                draft.attributes[index].transform = "empty_as_null"
            }
        } else {
            draft.attributes[index].type = TimeFormat.hasTime(format) ? "timestamp" : "date"
            draft.attributes[index].transform = ["format": .string(format)]
        }
        if case .array = draft.attributes[index].path { draft.attributes[index].takeFirst() }
        return draft.attributes[index].name
    }
}
