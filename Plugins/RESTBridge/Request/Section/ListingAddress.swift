internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging

/// How a listing's URL is made: its path may have a variable for the page.
struct ListingAddress: Sendable {
    let base: HTTPURL
    let template: PathTemplate
    /// The section's query.
    let query: [(name: String, value: String)]
    /// The conditions that the API applies; they replace parameters of the query to which they are joined.
    var conditions: [(name: String, value: String)] = []

    /// Returns the URL with these values of variables.
    ///
    /// - Throws: ``BridgeError`` where a variable has no value.
    func url(_ variables: TemplateVariables) throws -> HTTPURL {
        guard let path = try template.expand(variables) else {
            let name = template.missing(variables) ?? "a variable"
            throw BridgeError(
                .configuration, "path \"\(template)\" needs a value for \(name), and there is none",
                remedy: RESTSection.remedy(for: name, parent: variables.parent))
        }
        // Without a colon, no search for a text is necessary.
        let hasScheme = path.utf8.contains(UInt8(ascii: ":")) && path.contains("://")
        guard !hasScheme, let joined = base.appending(path: path, query: query) else {
            throw BridgeError(
                .configuration, "path \"\(path)\" is not a path below url",
                remedy: "write only the path, such as /users; another host needs a bridge of its own")
        }
        return joined.setting(query: conditions)
    }
}

extension RESTSection {
    /// Returns the URL of a page whose position, or size, is in the path.
    func url(at position: PagePosition) throws -> HTTPURL {
        let value: JSONTree?
        switch position {
        case .page(let number), .offset(let number): value = .number(String(number))
        case .cursor(let text): value = .text(text)
        case .json, .url, .only: value = nil
        }
        guard let values = paging.pathValues(at: value) else { return url }
        var variables = variables
        variables.slice.merge(values) { $1 }
        return try address.url(variables)
    }

    /// Returns where a JSON body has the parameters of the paging and of a token; nil without such a body.
    static func bodyPrefix(_ body: RequestBody?, _ preset: Preset?) -> [String]? {
        preset == .graphQL ? ["variables"] : body?.format == .json ? [] : nil
    }

    /// Returns the section's paging.
    static func paging(
        _ section: BridgeOptions, pageSize: Int?, body: RequestBody?, _ preset: Preset?
    ) throws -> PagingRule {
        if section.string("paging") == "none" { return .single }
        if let options = section.object("paging") {
            return try PagingRule(options, pageSize: pageSize, bodyPrefix: bodyPrefix(body, preset))
        }
        guard [nil, "auto"].contains(section.string("paging")) else {
            throw BridgeError(
                .configuration, "paging is \"\(section.string("paging") ?? "")\"",
                remedy: "write auto, none, or an object with a style")
        }
        return .automatic
    }
}
