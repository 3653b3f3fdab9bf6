internal import BridgeKit

/// How a listing goes on, as the config says.
struct PagingRule: Sendable {
    enum Style: Sendable {
        case none
        case page(parameter: String, sizeParameter: String?, start: Int)
        case offset(parameter: String, limitParameter: String)
        case nextURL(JSONPath)
        case linkHeader
        case cursor(JSONPath, parameter: String)
    }

    var style = Style.none
    var name = "none"
    var size: Int?
    var total: JSONPath?
    var pages: JSONPath?
    var maxPages: Int?

    private static let members: [String: [String]] = [
        "none": ["total"],
        "page": ["page_parameter", "size_parameter", "size", "start", "total", "pages"],
        "offset": ["offset_parameter", "limit_parameter", "size", "total"],
        "next_url": ["path", "total"],
        "link_header": ["total"],
        "cursor": ["path", "parameter", "total"],
    ]

    init() {}

    /// - Parameter pageSize: The host's wish, where the config has none.
    init(_ options: BridgeOptions?, pageSize: Int?) throws {
        guard let options else { return }
        name = options.string("style") ?? ""
        guard let known = Self.members[name] else {
            throw BridgeError(
                .configuration, "paging.style is \"\(name)\"",
                remedy: "use one of: none, page, offset, next_url, link_header, cursor")
        }
        if let stranger = options.names.first(where: { !(known + ["style", "max_pages"]).contains($0) }) {
            throw BridgeError(
                .configuration, "paging.\(stranger) has no meaning with paging.style \(name)",
                remedy: "style \(name) takes: \((known + ["max_pages"]).joined(separator: ", "))")
        }
        func path(_ member: String) throws -> JSONPath? {
            try options.string(member).map { try JSONPath($0, option: "paging.\(member)") }
        }
        size = options.integer("size")
        total = try path("total")
        pages = try path("pages")
        maxPages = options.integer("max_pages")
        for (member, value) in [("size", size), ("max_pages", maxPages)] {
            if let value, value < 1 {
                throw BridgeError(.configuration, "paging.\(member) is \(value)", remedy: "it must be at least 1")
            }
        }
        switch name {
        case "page":
            let sizeParameter = options.string("size_parameter")
            if sizeParameter != nil { size = size ?? pageSize }
            if let sizeParameter, size == nil {
                throw BridgeError(
                    .configuration, "paging.size is missing", remedy: "say what \(sizeParameter) should ask for")
            }
            style = .page(
                parameter: options.string("page_parameter") ?? "page", sizeParameter: sizeParameter,
                start: options.integer("start") ?? 1)
        case "offset":
            size = size ?? pageSize
            style = .offset(
                parameter: options.string("offset_parameter") ?? "offset",
                limitParameter: options.string("limit_parameter") ?? "limit")
        case "next_url": style = .nextURL(try path("path") ?? JSONPath("$.next", option: "paging.path"))
        case "link_header": style = .linkHeader
        case "cursor":
            guard let path = try path("path") else {
                throw BridgeError(
                    .configuration, "paging.path is missing", remedy: "say where the reply holds the next cursor")
            }
            style = .cursor(path, parameter: options.string("parameter") ?? "cursor")
        default: style = .none
        }
    }

    /// Where the reply says how to go on.
    var next: JSONPath? {
        switch style {
        case .nextURL(let path), .cursor(let path, _): path
        case .none, .page, .offset, .linkHeader: nil
        }
    }
}
