internal import BridgeKit

/// An entity's section of the config, checked.
struct SOAPSection: Sendable {
    let operation: String
    let input: InputValue
    let records: [String]
    let paging: Paging
    let maxPages: Int

    static let defaultMaxPages = 100_000

    static let schema = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["operation", "records"],
          "properties": {
            "operation": {"type": "string", "description": "The WSDL's operation that lists the records."},
            "input": {"type": "object", "description": "The constant part of the request: element names and their values, nested; @name is an attribute, a list repeats an element, null is xsi:nil."},
            "records": {"type": "string", "description": "Element names from the reply's body element down to a record, such as ListUsersResponse/users/user."},
            "paging": {
              "type": "object",
              "description": "How the operation gives a long list in pages; default: all at once.",
              "additionalProperties": false,
              "required": ["style"],
              "properties": {
                "style": {"type": "string", "enum": ["none", "offset", "page"], "description": "offset: by the number of records to skip; page: by the number of the page; none: all at once."},
                "offset_element": {"type": "string", "description": "offset: the request's element for the number of records to skip; a path a/b for one inside another."},
                "limit_element": {"type": "string", "description": "offset: the request's element for the number of records wanted; a path a/b for one inside another."},
                "page_element": {"type": "string", "description": "page: the request's element for the number of the page; a path a/b for one inside another."},
                "size_element": {"type": "string", "description": "page: the request's element for the number of records on a page; a path a/b for one inside another."},
                "size": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000, "description": "Records per page; not more than the service gives at once."},
                "start": {"type": "integer", "minimum": 0, "description": "The first offset (default 0) or page number (default 1)."},
                "total": {"type": "string", "description": "Element names from the reply's body element down to the number of all records; the last may be an @attribute."}
              }
            },
            "max_pages": {"type": "integer", "minimum": 1, "default": 100000, "description": "Stop after this many pages, with a warning."}
          }
        }
        """#

    /// Reads and checks a section.
    ///
    /// - Throws: ``BridgeError`` configuration with the member's name.
    init(_ section: BridgeOptions) throws(BridgeError) {
        guard let operation = section.string("operation"), !operation.isEmpty else {
            throw BridgeError(.configuration, "\"operation\" is missing", remedy: "set it to an operation of the WSDL")
        }
        self.operation = operation
        input = section.withValue("input") { value in value.map(InputValue.init) ?? .object([]) }
        guard let records = section.string("records"), let path = Self.path(records) else {
            throw BridgeError(
                .configuration, "\"records\" is missing or no path",
                remedy:
                    "write the element names from the reply's body element to a record: \(operation)Response/items/item"
            )
        }
        self.records = path
        paging = try Paging(section.object("paging") ?? .empty)
        maxPages = section.integer("max_pages") ?? Self.defaultMaxPages
        guard maxPages > 0 else {
            throw BridgeError(.configuration, "\"max_pages\" is \(maxPages)", remedy: "write at least 1")
        }
    }

    /// The names of `a/b/c`; nil where one is empty.
    static func path(_ text: String) -> [String]? {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return names.contains("") ? nil : names
    }
}

/// How an operation gives a long list in pages.
struct Paging: Sendable, Equatable {
    enum Style: String, Sendable {
        case none, offset, page
    }

    var style: Style
    /// The request's element for the offset or the page's number; empty without pages.
    var positionPath: [String] = []
    /// The request's element for the number of records; empty for none.
    var sizePath: [String] = []
    var size = 1000
    var start = 0
    /// From the reply's body element to the number of all records; empty for none.
    var totalPath: [String] = []

    /// Reads and checks `paging`.
    ///
    /// - Throws: ``BridgeError`` configuration for what a style needs and lacks, or does not take.
    init(_ options: BridgeOptions) throws(BridgeError) {
        let text = options.string("style") ?? "none"
        guard let style = Style(rawValue: text) else {
            throw BridgeError(.configuration, "paging.style is \"\(text)\"", remedy: "write none, offset or page")
        }
        self.style = style
        let names: (position: String, size: String)? =
            switch style {
            case .none: nil
            case .offset: ("offset_element", "limit_element")
            case .page: ("page_element", "size_element")
            }
        for name in ["offset_element", "limit_element", "page_element", "size_element"]
        where options.has(name) && name != names?.position && name != names?.size {
            throw BridgeError(.configuration, "paging.\(name) does not belong to the style \(style.rawValue)")
        }
        if let names {
            positionPath = try Self.path(options, names.position)
            guard !positionPath.isEmpty else {
                throw BridgeError(
                    .configuration, "paging.\(names.position) is missing",
                    remedy: "name the request's element for the \(style == .offset ? "offset" : "page")")
            }
            sizePath = try Self.path(options, names.size)
        }
        size = options.integer("size") ?? 1000
        start = options.integer("start") ?? (style == .page ? 1 : 0)
        guard size > 0, size <= 1_000_000 else {
            throw BridgeError(.configuration, "paging.size is \(size)", remedy: "write a number from 1 to 1000000")
        }
        guard start >= 0, start < 1 << 40 else { throw BridgeError(.configuration, "paging.start is \(start)") }
        totalPath = try Self.path(options, "total")
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
}
