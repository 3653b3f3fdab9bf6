internal import BridgeJSON
internal import Inference

/// POSTs that list: a search whose body has the page.
extension OpenAPIReader {
    /// The members of a request's body, if it is JSON and the reply is not that of something created.
    func searchBody(of operation: JSONTree) -> SearchBody? {
        let codes = Set((operation["responses"]?.members ?? []).map(\.name))
        guard !codes.isDisjoint(with: ["200", "2XX", "2xx", "default"]) else { return nil }
        if document.isSwagger2 {
            return swaggerBody(of: operation)?["schema"].flatMap { SearchBody($0, in: document) }
        }
        let request = operation["requestBody"].map { document.resolve($0).value }
        let json = request?["content"]?.members.first { $0.name.lowercased().contains("json") }?.value
        return json?["schema"].flatMap { SearchBody($0, in: document) }
    }

    /// Whether a POST only reads: it has a parameter of paging in its body, and is called a search, or has two of them.
    ///
    /// A request that is called a change is none, whatever its body has.
    func isSearch(_ path: String, _ operation: JSONTree, pages: Int) -> Bool {
        let names = [operation["summary"]?.text, operation["operationId"]?.text].compactMap(\.self)
        let verbs = Set(names.compactMap { NameWords.lower($0).first })
        let last = path.split(separator: "/").last { !$0.hasPrefix("{") }.map { NameWords.lower(String($0)) } ?? []
        // Of an ID such as jobs_execute, the last word is the verb.
        let ends = operation["operationId"]?.text.flatMap { NameWords.lower($0).last }.map { [$0] } ?? []
        guard verbs.union(ends).union(last).isDisjoint(with: Self.changes), pages > 0 else { return false }
        return pages > 1 || !verbs.union(last).isDisjoint(with: Self.searches)
    }

    /// Whether a POST is called a search, and not a change.
    func isCalledSearch(_ path: String, _ operation: JSONTree) -> Bool { isSearch(path, operation, pages: 1) }

    private static let searches: Set = [
        "search", "searches", "query", "queries", "list", "lists", "find", "finds", "filter", "fetch", "get", "gets",
        "retrieve", "retrieves", "return", "returns", "lookup", "browse", "scan",
    ]
    private static let changes: Set = [
        "create", "creates", "add", "adds", "update", "updates", "delete", "deletes", "remove", "removes", "send",
        "sends", "execute", "process", "trigger", "publish", "approve", "refund", "pay", "archive", "restore", "export",
        "close", "notify", "generate", "generates", "upload", "import", "set", "sets", "bulk", "insert", "start", "run",
        "merge", "replace", "apply", "assign", "cancel", "submit", "save",
    ]

    /// The body of a request in Swagger 2.
    func swaggerBody(of operation: JSONTree) -> JSONTree? {
        (operation["parameters"]?.elements ?? []).map { document.resolve($0).value }.first { $0["in"]?.text == "body" }
    }
}

extension OpenAPIReader.Listing {
    /// Adds the body with the members that it must have.
    ///
    /// - Parameter sizes: Members that increase the page size, where the paging does not send them.
    mutating func send(_ search: SearchBody, sizes: [(String, JSONTree)]) {
        var content = JSONTree.object([])
        var secrets: [[String]] = []
        for (path, value) in search.values {
            let shown = SecretGuess.hiding(value, at: path, &secrets, variable: SecretGuess.variable)
            content.set(shown, at: path[...])
        }
        bodySecrets = secrets.map(SecretGuess.variable)
        for (name, value) in sizes {
            content.set(value, at: (search.names[name] ?? name).split(separator: ".").map(String.init)[...])
        }
        body = content
        bodyNames = search.values.map { $0.path.joined(separator: ".") }
        missing += search.missing
    }
}

extension PagingGuess {
    /// Sends the paging's parameters in the body, under their whole names.
    mutating func moveIntoBody(_ names: [String: String]) {
        guard var paging else { return }
        for member in ["page_parameter", "size_parameter", "offset_parameter", "limit_parameter", "parameter"] {
            guard let name = paging[member]?.text, let whole = names[name] else { continue }
            paging.set(.text(whole), at: [member])
        }
        if ["page", "offset", "cursor"].contains(paging["style"]?.text) { paging.set("body", at: ["in"]) }
        self.paging = paging
    }
}
