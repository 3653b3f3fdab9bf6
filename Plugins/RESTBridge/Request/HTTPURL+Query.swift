internal import BridgeHTTP

extension HTTPURL {
    /// Returns the URL with the query parameters of another one, except for those that it has with the same value.
    func adding(queryOf other: HTTPURL) -> HTTPURL {
        let own = queryPairs
        let added = other.queryPairs.filter { pair in !own.contains { $0 == pair } }
        guard !added.isEmpty else { return self }
        let query = added.map { "\(Self.encode($0.name))=\(Self.encode($0.value))" }.joined(separator: "&")
        let mark = text.contains("?") ? own.isEmpty ? "" : "&" : "?"
        return HTTPURL(text + mark + query) ?? self
    }
}
