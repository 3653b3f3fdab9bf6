internal import Model
internal import TextFormats

/// A request of a collection, with its first saved example that has JSON.
struct PostmanRequest {
    let name: String
    let method: String
    /// The scheme and host; variables in it have no value.
    let base: String
    /// The path's segments: a variable is `:name`.
    let path: [String]
    /// Whether the path ends with a slash, which servers may distinguish.
    let endsWithSlash: Bool
    /// The parameters, not encoded, in order; a name may occur several times.
    let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    let body: ConfigValue?
    let auth: ConfigValue?
    /// The reply of the example; nil if there is none.
    let example: ConfigValue?
    /// What is left out, in words.
    var notes: [String] = []

    init(
        _ item: ConfigValue, _ request: ConfigValue, name: String, auth: ConfigValue?, _ variables: PostmanVariables
    ) {
        self.name = name
        self.auth = auth
        let parts: ConfigValue = request.string == nil ? request : .object([("url", request)])
        method = parts["method"]?.string?.uppercased() ?? "GET"
        let url = parts["url"] ?? .null
        let whole = variables.text(url.string ?? url["raw"]?.string ?? Self.joined(url))
        var raw = whole
        if let mark = raw.firstIndex(where: { $0 == "?" || $0 == "#" }) { raw = String(raw[..<mark]) }
        (base, path) = Self.split(raw)
        endsWithSlash = raw.hasSuffix("/") && !path.isEmpty
        var notes: [String] = []
        func pairs(_ list: ConfigValue?, _ what: String) -> [(name: String, value: String)] {
            (list?.array ?? []).compactMap { pair in
                guard let key = pair["key"]?.string, !key.isEmpty else { return nil }
                guard pair["disabled"]?.bool != true else {
                    notes.append("the \(what) \(key) is disabled in the collection")
                    return nil
                }
                return (key, variables.text(pair["value"]?.string ?? ""))
            }
        }
        // Postman sends them as they are written: encoded, or not.
        query = (url["query"] == nil ? Self.pairs(in: whole) : pairs(url["query"], "parameter")).map {
            (
                name: PercentEncoding.decoded($0.name, plusIsSpace: true),
                value: PercentEncoding.decoded($0.value, plusIsSpace: true)
            )
        }
        headers = pairs(parts["header"], "header field")
        body = parts["body"].flatMap { $0 == .null || $0["disabled"]?.bool == true ? nil : $0 }
        let replies = (item["response"]?.array ?? []).filter { reply in
            guard case .int(let code)? = reply["code"] else { return reply["code"] == nil }
            return (200..<300).contains(code)
        }
        example = replies.lazy.compactMap { reply in
            reply["body"]?.string.flatMap { try? ConfigValue(json: $0) }
        }.first { $0.array != nil || $0.members != nil }
        if (item["event"]?.array ?? []).contains(where: { $0["listen"]?.string == "prerequest" }) {
            notes.append("its pre-request script is not run")
        }
        self.notes = notes
    }

    private static func joined(_ url: ConfigValue) -> String {
        let host = (url["host"]?.array?.map(\.printed).joined(separator: ".")) ?? url["host"]?.string ?? ""
        let path = (url["path"]?.array?.map { $0["value"]?.printed ?? $0.printed }) ?? []
        return (url["protocol"]?.string.map { $0 + "://" } ?? "") + host + "/" + path.joined(separator: "/")
    }

    private static func split(_ raw: String) -> (base: String, path: [String]) {
        let scheme = raw.firstRange(of: "://")?.upperBound ?? raw.startIndex
        let end = raw[scheme...].firstIndex(of: "/") ?? raw.endIndex
        let path = raw[end...].split(separator: "/").map { segment in
            // A variable of the collection without a value is one of the path.
            segment.hasPrefix("{{") && segment.hasSuffix("}}")
                ? ":" + segment.dropFirst(2).dropLast(2) : String(segment)
        }
        return (String(raw[..<end]), path)
    }

    private static func pairs(in url: String) -> [(name: String, value: String)] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// The path without variables, with a `:` for each, by which listings are compared.
    var shape: String { method + " " + base + "/" + path.map { $0.hasPrefix(":") ? ":" : $0 }.joined(separator: "/") }
}
