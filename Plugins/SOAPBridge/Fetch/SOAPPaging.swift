internal import BridgeKit

/// How an operation splits a long list into pages.
struct SOAPPaging: Sendable, Equatable {
    enum Style: String, Sendable, CaseIterable {
        case none, offset, page, token
    }

    var style: Style
    /// The request's element for the offset, the page number or the token; empty without paging.
    var positionPath: [String] = []
    /// The request's element for the page size; empty for none.
    var sizePath: [String] = []
    var size = 1000
    var start = 0
    /// The paths from the reply's body element to the total, the token, and the flags for more records and for the end;
    /// empty for none.
    var totalPath: [String] = []
    var tokenPath: [String] = []
    var morePath: [String] = []
    var donePath: [String] = []
    /// Whether the section leaves open how the list ends, and these paths are guesses.
    private(set) var isOpen = false
    /// Whether the totals of several parts of a reply are added up.
    private(set) var addsTotals = false
    /// Whether the section says how the list is split: with `style: none` alone, each reply is the whole list.
    private let isDeclared: Bool
    /// The operation of further pages; nil for the same one.
    ///
    /// It has its own constant input and its own path to the records.
    var operation: String?
    var input = InputValue.object([])
    var recordsPath: [String] = []

    static let schema = #"""
        {
          "type": "object",
          "description": "How the operation returns a long list in pages; default: all at once.",
          "additionalProperties": false,
          "required": ["style"],
          "properties": {
            "style": {"type": "string", "enum": ["none", "offset", "page", "token"], "description": "offset: by the number of records to skip; page: by the number of the page; token: by a token from the page before; none: all at once."},
            "offset_element": {"type": "string", "description": "offset: the request's element for the number of records to skip; a path a/b for a nested one."},
            "limit_element": {"type": "string", "description": "offset and token: the request's element for the number of records wanted; a path a/b for a nested one."},
            "page_element": {"type": "string", "description": "page: the request's element for the number of the page; a path a/b for a nested one."},
            "size_element": {"type": "string", "description": "page: the request's element for the number of records on a page; a path a/b for a nested one."},
            "token_element": {"type": "string", "description": "token: the request's element for the token (a locator, a cursor, a search id); a path a/b for a nested one."},
            "token": {"type": "string", "description": "token: element names from the reply's body element down to the token; the last may be an @attribute."},
            "more": {"type": "string", "description": "Path, as total, to whether there are more records: true or false, or the number of those that follow."},
            "done": {"type": "string", "description": "Path, as total, to whether these were the last records: true or false."},
            "operation": {"type": "string", "description": "token: the operation that returns the further pages, if it is another one."},
            "input": {"type": "object", "description": "token: the constant part of the other operation's request."},
            "records": {"type": "string", "description": "token: the path to the records in the other operation's reply. Default: the same, below its own body element."},
            "size": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000, "description": "Records per page; not more than the service returns at once."},
            "start": {"type": "integer", "minimum": 0, "description": "The first offset (default 0) or page number (default 1)."},
            "total": {"type": "string", "description": "Element names from the reply's body element down to the number of all records; the last may be an @attribute."}
          }
        }
        """#

    /// The members that each style takes besides `size`, `start`, `total`, `more` and `done`.
    private static let members: [(name: String, styles: Set<Style>)] = [
        ("offset_element", [.offset]), ("limit_element", [.offset, .token]), ("page_element", [.page]),
        ("size_element", [.page]), ("token_element", [.token]), ("token", [.token]), ("operation", [.token]),
        ("input", [.token]), ("records", [.token]), ("start", [.offset, .page]),
    ]

    /// Reads and validates `paging`.
    ///
    /// - Throws: ``BridgeError`` configuration for a member that the style requires and lacks, or that it does not
    ///   take.
    init(_ options: BridgeOptions) throws(BridgeError) {
        let text = options.string("style") ?? "none"
        guard let style = Style(rawValue: text) else {
            throw BridgeError(
                .configuration, "paging.style is \"\(text)\"", remedy: "write none, offset, page or token")
        }
        self.style = style
        isDeclared = options.has("style")
        for (name, styles) in Self.members where options.has(name) && !styles.contains(style) {
            throw BridgeError(.configuration, "paging.\(name) does not belong to the style \(style.rawValue)")
        }
        let names: (position: String, size: String, what: String)? =
            switch style {
            case .none: nil
            case .offset: ("offset_element", "limit_element", "offset")
            case .page: ("page_element", "size_element", "page")
            case .token: ("token_element", "limit_element", "token")
            }
        if let names {
            positionPath = try Self.path(options, names.position)
            guard !positionPath.isEmpty else {
                throw BridgeError(
                    .configuration, "paging.\(names.position) is missing",
                    remedy: "name the request's element for the \(names.what)")
            }
            sizePath = try Self.path(options, names.size)
        }
        tokenPath = try Self.path(options, "token")
        guard style != .token || !tokenPath.isEmpty else {
            throw BridgeError(
                .configuration, "paging.token is missing", remedy: "name the reply's element that holds the token")
        }
        size = options.integer("size") ?? 1000
        start = options.integer("start") ?? (style == .page ? 1 : 0)
        guard size > 0, size <= 1_000_000 else {
            throw BridgeError(.configuration, "paging.size is \(size)", remedy: "write a number from 1 to 1000000")
        }
        guard start >= 0, start < 1 << 40 else { throw BridgeError(.configuration, "paging.start is \(start)") }
        totalPath = try Self.path(options, "total")
        morePath = try Self.path(options, "more")
        donePath = try Self.path(options, "done")
        operation = options.string("operation")
        recordsPath = try Self.path(options, "records")
        input = options.withValue("input") { value in value.map(InputValue.init) ?? .object([]) }
        guard operation != nil || recordsPath.isEmpty && !options.has("input") else {
            throw BridgeError(
                .configuration, "paging.records and paging.input are for another operation",
                remedy: "name it in paging.operation, or remove them")
        }
    }

    /// Whether the section declares that each reply is the whole list.
    var isDeclaredWhole: Bool { isDeclared && style == .none }

    /// Whether the section says nothing about paging.
    var isUndeclared: Bool { !isDeclared }

    /// Takes the counts of a reply that the section says nothing about.
    mutating func take(_ counts: PlainCounts) {
        guard !isDeclared, totalPath.isEmpty, morePath.isEmpty, donePath.isEmpty else { return }
        (totalPath, morePath, donePath) = (counts.total, counts.more, counts.done)
        addsTotals = counts.isOfParts
        isOpen = true
    }

    private static func path(_ options: BridgeOptions, _ name: String) throws(BridgeError) -> [String] {
        guard let text = options.string(name) else { return [] }
        guard let path = SOAPSection.path(text) else {
            throw BridgeError(
                .configuration, "paging.\(name) is \"\(text)\"", remedy: "write element names with a slash between them"
            )
        }
        return path
    }

    /// Converts a path in the reply of `from` to the reply of `to`, whose body element differs.
    func moved(_ path: [String], from: WSDLOperation, to: WSDLOperation) -> [String] {
        guard let first = path.first, from.output.elements.count == 1, to.output.elements.count == 1,
            first == from.output.elements[0].name.local
        else { return path }
        return [to.output.elements[0].name.local] + path.dropFirst()
    }
}
