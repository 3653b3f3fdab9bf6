internal import BridgeKit

/// How a listing is divided into slices: the section's `since` and `each`.
struct SliceRule: Sendable {
    private var start: String?
    private var end: String?
    private var format: String?
    /// The length of a window, in seconds.
    private var window: Int64?
    /// What lies between the end of a window and the start of the next, in microseconds.
    private let gap: Int64
    private let hasTimes: Bool
    /// Whether the request has the upper bound of the section's times.
    private let sendsUntil: Bool
    private let lists: [(name: String, values: [String])]
    private let split: SplitRule?
    private let variables: TemplateVariables

    /// The maximum number of slices: with windows of a second, a listing over years would never end.
    private static let maxSlices = 100_000
    /// How far in the future a bound must be, in microseconds, to leave out no record that changes during the scan: a day.
    private static let margin: Int64 = 86_400_000_000 - 60_000_000

    init(_ section: BridgeOptions, _ variables: TemplateVariables) throws {
        self.variables = variables
        let times = section.object("since")
        hasTimes = times != nil
        sendsUntil = hasTimes && Self.sendsUntil(section)
        start = times?.string("start")
        end = times?.string("until")
        format = times?.string("format")
        if let text = times?.string("window") {
            guard let seconds = TimeText.seconds(text) else {
                throw BridgeError(
                    .configuration, "since.window is \"\(text)\"", remedy: "write a span such as 12h, 30d or 1w")
            }
            window = seconds
        }
        if window != nil, start == nil {
            throw BridgeError(
                .configuration, "since.window needs since.start",
                remedy: "say when the first window begins, such as start: \"2020-01-01\"")
        }
        gap = try Self.gap(times, window: window)
        split = try SplitRule(section)
        let each = section.object("each")
        lists = (each?.names ?? []).map { (name: $0, values: each?.strings($0) ?? []) }
        if let empty = lists.first(where: \.values.isEmpty) {
            throw BridgeError(
                .configuration, "each.\(empty.name) has no values", remedy: "list what to request, or remove it")
        }
        let reserved = ["since", "until", "parent", "object", "key"] + (split == nil ? [] : SplitRule.names)
        if let name = lists.first(where: { reserved.contains($0.name) })?.name {
            throw BridgeError(
                .configuration, "each.\(name) has the name of another variable", remedy: "choose another name")
        }
    }

    private static func gap(_ times: BridgeOptions?, window: Int64?) throws -> Int64 {
        guard let text = times?.string("gap") else { return 0 }
        guard let gap = TimeText.span(text) else {
            throw BridgeError(
                .configuration, "since.gap is \"\(text)\"", remedy: "write a span such as 1d, 1s or 1ms")
        }
        guard let window else {
            throw BridgeError(
                .configuration, "since.gap needs since.window", remedy: "say how long a window is, such as window: 1d")
        }
        guard gap <= window * 1_000_000 else {
            throw BridgeError(
                .configuration, "since.gap is longer than since.window: each window would end before it begins",
                remedy: "write the smallest unit of the times that the API takes, such as 1d for dates or 1s")
        }
        return gap
    }

    /// Whether the requests of a section have the variable `until`.
    static func sendsUntil(_ section: BridgeOptions) -> Bool {
        let name = Array("until".utf8)
        return ["path", "query", "headers", "body", "graphql", "export"].contains { member in
            section.withValue(member) { $0.map { names(name, in: $0) } ?? false }
        }
    }

    /// Whether a section has a variable anywhere but in the members that give it a value, and in those for writes.
    static func names(_ variable: String, in section: BridgeOptions) -> Bool {
        let name = Array(variable.utf8)
        let others = Set(section.names).subtracting(["since", "each", "split", "parameters", "write"])
        return others.contains { member in
            section.withValue(member) { $0.map { names(name, in: $0) } ?? false }
        }
    }

    /// Whether a part of a section has a variable.
    private static func names(_ variable: [UInt8], in part: BatchValue) -> Bool {
        switch part.tag {
        case .text: names(variable, in: Array(part.string.utf8))
        case .array: part.elements.contains { names(variable, in: $0) }
        case .object: (0..<part.count).contains { names(variable, in: part[$0]) }
        default: false
        }
    }

    /// Whether a template has a variable, between a character that begins a name and one that ends it.
    private static func names(_ variable: [UInt8], in template: [UInt8]) -> Bool {
        // A walk by parent makes a rule for each parent, and a regular expression takes long to compile.
        guard let first = variable.first, template.count > variable.count + 1 else { return false }
        return (1..<template.count - variable.count).contains { start in
            template[start] == first && template[start...].starts(with: variable)
                && "{|,?&;+#./".utf8.contains(template[start - 1])
                && "}|,*:".utf8.contains(template[start + variable.count])
        }
    }

    /// Returns the slices in the order of their requests; a single one if the listing is not divided.
    ///
    /// - Parameters:
    ///   - since: The newest known value, as the remote sent it, or nil for everything.
    ///   - time: The same value as a time, if the remote sent it in a form of its own.
    ///   - isName: Whether `since` is only a name that stands for a value.
    ///   - now: The time at which the scan began, which `now` means.
    ///   - present: The present, which is later in a resumed scan.
    func slices(
        since: String?, time: String? = nil, isName: Bool = false, now: Int64, present: Int64? = nil
    ) throws -> [Slice] {
        var windows = [Slice(since: since)]
        if hasTimes {
            let known = time.flatMap { TimeText.microseconds($0, now: now) }
            try checkTimes(since: since, known: known, isName: isName, now: now)
            windows = try self.windows(since: since, known: known, now: now, present: present ?? now)
        }
        var slices = [Slice()]
        for list in lists {
            slices = slices.flatMap { slice in
                list.values.map { value in
                    var slice = slice
                    slice.values[list.name] = value
                    return slice
                }
            }
        }
        let ranges = split?.count ?? 1
        guard slices.count <= Self.maxSlices / max(1, windows.count),
            slices.count * windows.count <= Self.maxSlices / ranges
        else {
            throw BridgeError(
                .configuration, "since, each and split make more than \(Self.maxSlices) requests",
                remedy: "enlarge since.window or split.step, begin later, or list less")
        }
        if let split {
            slices = slices.flatMap { slice in
                split.ranges.map { values in
                    var slice = slice
                    slice.values.merge(values) { $1 }
                    return slice
                }
            }
        }
        return slices.flatMap { slice in
            windows.map { window in
                var window = window
                window.values = slice.values
                // Objects above the last range exist.
                if split?.isOpen == false { window.isBounded = true }
                return window
            }
        }
    }

    /// The configured beginning.
    private var given: String? { start.flatMap { ValueTemplate.expand($0, variables) } }

    /// The configured end.
    private var last: String { end.flatMap { ValueTemplate.expand($0, variables) } ?? "now" }

    /// Requires times between which windows can be made.
    private func checkTimes(since: String?, known: Int64?, isName: Bool, now: Int64) throws {
        func isTime(_ text: String) -> Bool { TimeText.microseconds(text, now: now) != nil }
        guard window != nil else { return }
        if since == nil || isName, let given, !isTime(given) { throw noTime("start", start) }
        if !isTime(last) { throw noTime("until", end) }
        guard let since, !isName, known == nil, !isTime(since) else { return }
        throw BridgeError(
            .configuration,
            "the newest value is \"\(since.prefix(100))\", which is not a time, so since.window cannot divide the listing",
            remedy:
                "give the attribute that incremental names the type timestamp, and a transform with the format in which the "
                + "remote writes it; or remove since.window")
    }

    private func windows(since: String?, known: Int64?, now: Int64, present: Int64) throws -> [Slice] {
        let begin = since ?? given
        let until = TimeText.microseconds(last, now: now)
        // A record that changes while the scan runs leaves a listing up to now.
        let isBounded = since == nil && sendsUntil && until.map { $0 < present + Self.margin } ?? true
        let isMoving = since == nil && given?.hasPrefix("now") == true
        // Without a format and windows, the API takes its values in the form in which it sends them.
        let time = format == nil && window == nil ? nil : known
        guard let begin, let first = time ?? TimeText.microseconds(begin, now: now) else {
            return [
                Slice(since: begin, until: until.map { text($0) } ?? last, isMoving: isMoving, isBounded: isBounded)
            ]
        }
        guard let window, let until, until > first else {
            return [
                Slice(
                    since: text(first), until: until.map { text($0) } ?? last, isMoving: isMoving, isBounded: isBounded)
            ]
        }
        let length = max(window * 1_000_000, TimeText.step(of: format))
        guard (until - first) / length < Self.maxSlices else {
            throw BridgeError(
                .configuration, "since.window makes more than \(Self.maxSlices) requests",
                remedy: "enlarge it, or begin later")
        }
        var slices: [Slice] = []
        var place = first
        while place < until {
            // Adjacent windows share their bound unless the section says otherwise: a gap of one step would lose the
            // records of a fraction of it.
            let next = place + length
            let end = next < until ? next - gap : until
            slices.append(Slice(since: text(place), until: text(end), isMoving: isMoving, isBounded: isBounded))
            place = next
        }
        return slices
    }

    private func noTime(_ option: String, _ text: String?) -> BridgeError {
        BridgeError(
            .configuration,
            "since.\(option) is \"\(text ?? "")\", which is not a time, so since.window cannot divide the listing",
            remedy: "write an ISO 8601 time, seconds since 1970, or a text such as now-30d; format says how to send it")
    }

    private func text(_ microseconds: Int64) -> String {
        TimeText.text(microseconds, format: format ?? "%Y-%m-%dT%H:%M:%SZ")
    }
}
