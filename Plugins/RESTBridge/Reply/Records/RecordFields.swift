internal import BridgeHTTP
internal import BridgeJSON

extension RESTSection {
    /// Returns the members to add to each record: from the reply's header fields and the request's variables.
    func recordFields(_ response: HTTPResponse) -> [(name: String, value: String)] {
        headerFields.compactMap { name, header in response.header(header).map { (name: name, value: $0) } }
            + requestFields
    }

    /// Whether the column names are among the records, as a first row; then only the first page has them.
    var namesAreRecord: Bool {
        guard case .path(let path) = columns else { return false }
        return (records ?? .root).isPrefix(of: path)
    }

    /// Whether the first row of a page may be the column names: not if they are beside the records.
    var mayRepeatNames: Bool {
        if case .names = columns { true } else { namesAreRecord }
    }
}
