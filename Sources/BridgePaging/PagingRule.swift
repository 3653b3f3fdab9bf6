public import BridgeJSON
public import BridgeKit

/// The paging of a listing, from the config or from detection.
public struct PagingRule: Sendable {
    /// How a remote names its pages.
    public enum Style: Sendable {
        /// One reply is all.
        case none
        /// Detected from the first reply.
        case automatic
        /// Pages have numbers.
        case page(start: Int)
        /// Pages begin after a number of records.
        case offset(start: Int)
        /// The reply has the URL of the next page.
        case nextURL(ReplyPlace)
        /// The reply's field `Link` has the URL of the next page (RFC 8288).
        case linkHeader
        /// The reply has a value that requests the next page.
        case cursor(ReplyPlace)
        /// An object in the reply whose members are parameters of the next request, as MediaWiki's `continue`.
        case members(JSONPath)
        /// The value of the last record at a path, plus a number, after which the next page begins.
        case keyset(JSONPath, add: Int)
        /// Code of the program says how to continue, from what is at a place of the reply, if the config names one.
        case code(CustomPager, ReplyPlace?)
    }

    /// The place of the page's position in a request.
    public enum Parameter: Equatable, Sendable {
        /// A query parameter.
        case query(String)
        /// A header field.
        case header(String)
        /// A path into the JSON body.
        case body([String])
        /// A variable of the path.
        case path(String)

        /// Returns the place of a parameter.
        ///
        /// - Parameters:
        ///   - home: `query`, `body`, `header` or `path`; nil for the body if it is JSON, else the query.
        ///   - bodyPrefix: Where a JSON body has its parameters unless `home` is given; nil without such a body.
        ///   - option: The name of the option that has `home`.
        /// - Throws: `BridgeError` of the code `configuration` for another place.
        package init(_ name: String, in home: String?, bodyPrefix: [String]?, option: String) throws {
            switch home ?? (bodyPrefix == nil ? "query" : "body") {
            case "query": self = .query(name)
            case "header": self = .header(name)
            case "path": self = .path(name)
            case "body":
                let prefix = home == nil ? bodyPrefix ?? [] : []
                self = .body(prefix + name.split(separator: ".").map(String.init))
            case let other:
                throw BridgeError(
                    .configuration, "\(option) is \"\(other)\"", remedy: "use query, body, header or path")
            }
        }
    }

    /// How the remote names its pages.
    public var style = Style.none
    /// The style's name in the config.
    public var name = "none"
    /// Where a request says which page it wants.
    public var parameter = Parameter.query("page")
    /// The text around `{value}` in the parameter's value, if it contains more than the position.
    public var template: String?
    /// Where a request says how many records it wants.
    public var sizeParameter: Parameter?
    /// How many records a request wants.
    public var size: Int?
    /// The place of the number of records in the listing.
    public var total: ReplyPlace?
    /// The place of the number of pages.
    public var pages: ReplyPlace?
    /// The place of the flag for further pages.
    public var hasMore: ReplyPlace?
    /// The place of the flag for the last page, the inverse of ``hasMore``.
    public var done: ReplyPlace?
    /// The place of the base URL of a next path, if that is not the page's host.
    public var base: ReplyPlace?
    /// The path, relative to the bridge's url, for requesting later pages by cursor alone, or nil for the path of the
    /// first page.
    public var nextPath: String?
    /// The members of a later page's body besides the cursor.
    public var nextBody: JSONTree?
    /// After how many pages to stop.
    public var maxPages: Int?
    /// Whether the remote lists some records again on purpose, so that counts of records say nothing of the end.
    public var repeats = false
    /// The number of records below which a page is the last one, whatever it names as the next page.
    public var endBelow: Int?
    /// Whether a next URL gets the query parameters of the first page that it does not have with the same value.
    public var keepsQuery = false
    /// Whether the config declares that one reply is all.
    public var isSingle = false
    /// Whether one reply is all, regardless of signs of more.
    public var isWhole = false

    /// The config's `paging: none`.
    public static let single: PagingRule = {
        var rule = PagingRule()
        rule.isSingle = true
        return rule
    }()

    /// The config's `paging: auto`.
    public static let automatic: PagingRule = {
        var rule = PagingRule()
        rule.style = .automatic
        rule.name = "auto"
        return rule
    }()

    private static let members: [String: [String]] = [
        "none": ["total", "whole"],
        "auto": [],
        "page": [
            "page_parameter", "template", "size_parameter", "size", "start", "total", "pages", "has_more", "done", "in",
            "repeats",
        ],
        "offset": [
            "offset_parameter", "template", "limit_parameter", "size", "start", "total", "has_more", "done", "in",
            "repeats",
        ],
        "next_url": ["path", "header", "base", "total", "has_more", "done", "repeats", "keep_query", "end_below"],
        "link_header": ["total", "repeats", "keep_query", "end_below"],
        "cursor": [
            "path", "template", "header", "parameter", "size_parameter", "size", "total", "has_more", "done", "in",
            "next_path",
            "next_body", "end_below",
        ],
        "continue": ["path", "in"],
        "keyset": [
            "field", "template", "parameter", "add", "size_parameter", "size", "total", "has_more", "done", "in",
        ],
        "code": [
            "code", "path", "header", "template", "parameter", "size_parameter", "size", "total", "has_more", "done",
            "in",
        ],
    ]
    private static let styles = "auto, none, page, offset, next_url, link_header, cursor, continue, keyset, code"
    /// Names of the same styles in other tools.
    private static let aliases = ["max_id": "keyset", "since_id": "keyset", "next": "next_url", "link": "link_header"]

    /// Creates a rule for a single page.
    public init() {}

    /// Reads a rule from the config.
    ///
    /// - Parameters:
    ///   - options: The section's `paging`, as docs/rest.md describes it.
    ///   - pageSize: The host's preferred page size, if the config sets none.
    ///   - bodyPrefix: The path in a body at which `size` and its parameter are placed unless `in` says otherwise; nil for
    ///     requests without a body.
    /// - Throws: `BridgeError` with code `configuration`, which names the option and lists what it takes.
    public init(_ options: BridgeOptions, pageSize: Int?, bodyPrefix: [String]? = nil) throws {
        let given = options.string("style") ?? "auto"
        name = Self.aliases[given] ?? given
        guard let known = Self.members[name] else {
            throw BridgeError(
                .configuration, "paging.style is \"\(name)\"", remedy: "use one of: \(Self.styles)")
        }
        if let unknown = options.names.first(where: { !(known + ["style", "max_pages"]).contains($0) }) {
            throw BridgeError(
                .configuration, "paging.\(unknown) has no effect with paging.style \(name)",
                remedy: "style \(name) takes: \((known + ["max_pages"]).joined(separator: ", "))")
        }
        func place(_ member: String) throws -> ReplyPlace? {
            try options.string(member).map { try ReplyPlace($0, option: "paging.\(member)") }
        }
        size = options.integer("size")
        total = try place("total")
        pages = try place("pages")
        hasMore = try place("has_more")
        done = try place("done")
        base = try place("base")
        nextPath = options.string("next_path")
        nextBody = options.withValue("next_body") { $0.map(JSONTree.init) }
        guard nextBody == nil || nextPath != nil else {
            throw BridgeError(
                .configuration, "paging.next_body without paging.next_path",
                remedy: "say where the pages after the first are requested")
        }
        maxPages = options.integer("max_pages")
        repeats = options.bool("repeats") ?? false
        keepsQuery = options.bool("keep_query") ?? false
        endBelow = options.integer("end_below")
        template = options.string("template")
        if let template, !template.contains("{value}") {
            throw BridgeError(
                .configuration, "paging.template is \"\(template)\"",
                remedy: "write {value} where the page's number, offset or cursor belongs")
        }
        let start = options.integer("start")
        for (member, value, least) in [
            ("size", size, 1), ("max_pages", maxPages, 1), ("end_below", endBelow, 1),
            ("start", start, -Int.maxPosition),
        ] {
            if let value, value < least || value > Int.maxPosition {
                throw BridgeError(
                    .configuration, "paging.\(member) is \(value)",
                    remedy: value < least && least == 1 ? "it must be at least 1" : "no listing has such a number")
            }
        }
        func parameter(_ member: String, _ standard: String?) throws -> Parameter? {
            try (options.string(member) ?? standard).map {
                try Parameter($0, in: options.string("in"), bodyPrefix: bodyPrefix, option: "paging.in")
            }
        }
        func next(_ standard: String?) throws -> ReplyPlace {
            if let header = options.string("header") {
                return try ReplyPlace(header.hasPrefix("$") ? "" : header, option: "paging.header")
            }
            if let path = try place("path") { return path }
            if let standard { return .body(try JSONPath(standard, option: "paging.path")) }
            throw BridgeError(
                .configuration, "paging.path is missing",
                remedy: "say where the reply holds the next cursor: path for its body, header for its head")
        }
        switch name {
        case "page":
            sizeParameter = try parameter("size_parameter", nil)
            if sizeParameter != nil { size = size ?? pageSize }
            self.parameter = try parameter("page_parameter", "page") ?? self.parameter
            style = .page(start: start ?? 1)
        case "offset":
            // With an empty name, the server chooses the size.
            let sendsSize = options.string("limit_parameter")?.isEmpty != true
            if sendsSize { size = size ?? pageSize }
            self.parameter = try parameter("offset_parameter", "offset") ?? self.parameter
            sizeParameter = size == nil || !sendsSize ? nil : try parameter("limit_parameter", "limit")
            style = .offset(start: start ?? 0)
        case "next_url": style = .nextURL(try next("$.next"))
        case "link_header": style = .linkHeader
        case "cursor":
            sizeParameter = try parameter("size_parameter", nil)
            self.parameter = try parameter("parameter", "cursor") ?? self.parameter
            style = .cursor(try next(nil))
        case "continue":
            // The names come from the reply; this one only says where they go.
            self.parameter = try parameter("parameter", "") ?? self.parameter
            guard case .body(let path) = try next("$.continue") else {
                throw BridgeError(
                    .configuration, "paging.path names no object in the body",
                    remedy: "write a path such as $.continue")
            }
            style = .members(path)
        case "keyset":
            sizeParameter = try parameter("size_parameter", nil)
            self.parameter =
                try parameter("parameter", given == "keyset" ? "after" : given) ?? self.parameter
            let field = options.string("field") ?? "id"
            style = .keyset(
                try JSONPath(field.hasPrefix("$") ? field : "$.\(field)", option: "paging.field"),
                add: options.integer("add") ?? 0)
        case "code":
            sizeParameter = try parameter("size_parameter", nil)
            self.parameter = try parameter("parameter", "cursor") ?? self.parameter
            let isPlaced = options.has("path") || options.has("header")
            style = .code(try CustomPager.named(options.string("code")), isPlaced ? try next(nil) : nil)
        case "auto": style = .automatic
        default:
            style = .none
            isSingle = true
            isWhole = options.bool("whole") ?? false
        }
        if options.has("size_parameter"), size == nil {
            throw BridgeError(
                .configuration, "paging.size is missing",
                remedy: "say what \(options.string("size_parameter") ?? "") should request")
        }
    }

    /// Returns the value to send; in a template it is part of a text.
    public func value(_ value: JSONTree) -> JSONTree {
        template.map { .text($0.replacing("{value}", with: value.plainText ?? value.json)) } ?? value
    }

    /// Returns the values of the path's variables for a position; nil if neither it nor the size goes there.
    package func pathValues(at position: JSONTree?) -> [String: String]? {
        var values: [String: String] = [:]
        if case .path(let name)? = sizeParameter, let size { values[name] = String(size) }
        guard case .path(let name) = parameter else { return values.isEmpty ? nil : values }
        if let position { values[name] = value(position).plainText }
        return values
    }

    /// The number of the first page, or the offset of the first record.
    package var start: JSONTree? {
        switch style {
        case .page(let start), .offset(let start): .number(String(start))
        case .none, .automatic, .nextURL, .linkHeader, .cursor, .members, .keyset, .code: nil
        }
    }

    /// The variables of the path that the paging gives a value.
    package var pathNames: [String] {
        [parameter, sizeParameter].compactMap { place -> String? in
            if case .path(let name)? = place { name } else { nil }
        }
    }

    /// The query parameters that the paging sets.
    package var queryNames: [String] {
        var places = [sizeParameter]
        switch style {
        case .page, .offset, .cursor, .keyset, .code: places.append(parameter)
        case .none, .automatic, .nextURL, .linkHeader, .members: break
        }
        return places.compactMap { place -> String? in
            if case .query(let name)? = place { name } else { nil }
        }
    }

    package var isByMembers: Bool { if case .members = style { true } else { false } }

    /// Returns the place of a parameter whose name comes from the reply.
    package func place(of name: String) -> Parameter {
        switch parameter {
        // A server that may name header fields could set any of them.
        case .query, .header, .path: .query(name)
        case .body(let prefix): .body(prefix + [name])
        }
    }

    /// The place of the next position in the reply.
    public var next: ReplyPlace? {
        switch style {
        case .nextURL(let place), .cursor(let place): place
        case .code(_, let place): place
        case .none, .automatic, .page, .offset, .linkHeader, .members, .keyset: nil
        }
    }

    /// Whether paging reads header fields.
    public var readsHead: Bool {
        if case .linkHeader = style { return true }
        return [next, total, pages, hasMore, done].contains { place in place.map { $0.path == nil } ?? false }
    }

    /// Whether the scan depends on the number of a page's records.
    package var countsRecords: Bool {
        switch style {
        case .none, .automatic, .page, .offset, .keyset, .code: true
        case .nextURL, .linkHeader, .cursor, .members: total != nil || endBelow != nil
        }
    }

    /// Whether each page must name the next one.
    package var needsNext: Bool {
        switch style {
        case .automatic, .nextURL, .linkHeader, .cursor, .members, .keyset: true
        case .none, .page, .offset, .code: false
        }
    }

    /// Whether pages are requested by number or offset, and the listing ends at one without records.
    package var isNumbered: Bool {
        switch style {
        case .page, .offset: true
        case .automatic, .nextURL, .linkHeader, .cursor, .members, .keyset, .code, .none: false
        }
    }

    /// All paths into the reply's body.
    public var paths: [JSONPath] { [next, total, pages, hasMore, done, base].compactMap { $0?.path } }

    /// Whether a cursor may be an object or an array, which only a body can carry.
    package var takesJSON: Bool { if case .body = parameter { true } else { false } }

    /// Whether a cursor or a key that is a number is sent as one, as only a body tells it from a text.
    package var keepsNumbers: Bool {
        switch style {
        case .cursor, .keyset: takesJSON
        case .none, .automatic, .page, .offset, .nextURL, .linkHeader, .members, .code: false
        }
    }
}
