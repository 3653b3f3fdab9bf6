internal import BridgeHTTP
internal import BridgeKit

/// An entity's section of the config.
struct RESTSection: Sendable {
    let entity: String
    let method: String
    let url: HTTPURL
    let headers: [(name: String, value: String)]
    /// Nil where the config names none: then only a root that leaves no doubt is taken.
    let records: JSONPath?
    let paging: PagingRule

    init(_ request: FetchRequest, base: HTTPURL) throws {
        entity = request.entity
        let section = request.section
        method = section.string("method") ?? "GET"
        guard ["GET", "POST"].contains(method) else {
            throw BridgeError(.configuration, "method is \"\(method)\"", remedy: "use GET or POST")
        }
        let path = section.string("path") ?? ""
        guard !path.contains("://"), let joined = base.appending(path: path) else {
            throw BridgeError(
                .configuration, "path \"\(path)\" does not fit below url",
                remedy: "write the path alone, such as /users; another host needs a bridge of its own")
        }
        let query = section.object("query")
        url = joined.setting(
            query: (query?.names ?? []).flatMap { name in
                (query?.strings(name) ?? []).map { (name: name, value: $0) }
            })
        let fields = section.object("headers")
        headers = (fields?.names ?? []).map { (name: $0, value: fields?.string($0) ?? "") }
        records = try section.string("records").map { try JSONPath($0, option: "records") }
        paging = try PagingRule(section.object("paging"), pageSize: request.pageSize)
        for path in [paging.next, paging.total, paging.pages].compactMap(\.self) {
            // One forward pass cannot both copy a value and look into it. The root array has no members to point at.
            guard let records, !records.segments.isEmpty, records.isPrefix(of: path) else { continue }
            throw BridgeError(
                .configuration, "the paging path \(path) lies inside the records at \(records)",
                remedy: "point it at what stands beside the records")
        }
    }

    /// The URL of a page.
    ///
    /// - Throws: ``BridgeError`` where the remote named what is no URL.
    func url(at position: Position, after page: HTTPURL?) throws -> HTTPURL {
        switch (position, paging.style) {
        case (.page(let number), .page(let parameter, let sizeParameter, _)):
            var query = [(name: parameter, value: String(number))]
            if let sizeParameter, let size = paging.size { query.append((sizeParameter, String(size))) }
            return url.setting(query: query)
        case (.offset(let number), .offset(let parameter, let limitParameter)):
            var query = [(name: parameter, value: String(number))]
            if let size = paging.size { query.append((limitParameter, String(size))) }
            return url.setting(query: query)
        case (.cursor(let cursor), .cursor(_, let parameter)):
            return url.setting(query: [(name: parameter, value: cursor)])
        case (.url(let text), _):
            guard let next = HTTPURL(text, relativeTo: page ?? url), !next.hasUserInfo else {
                throw BridgeError(
                    .malformed, "the reply names a next page that is no http or https URL",
                    remedy: "check paging.path", location: nil)
            }
            return next
        default: return url
        }
    }
}
