internal import BridgeHTTP
internal import BridgeJSON
internal import CSimdJSON

extension RESTSection {
    /// Returns the members to add to each record: from the reply's header fields and the request's variables.
    func recordFields(_ response: HTTPResponse) -> [(name: String, value: String)] {
        headerFields.compactMap { name, header in response.header(header).map { (name: name, value: $0) } }
            + requestFields
    }

    /// Makes the reader add these members to each object that it reads from now on.
    static func set(_ fields: [(name: String, value: String)], in reader: OpaquePointer) {
        bmo_json_clear_fields(reader)
        for (name, value) in fields {
            JSONPath.withChars(name) { name in
                JSONPath.withChars(value) { value in
                    bmo_json_set_field(reader, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }
    }

    /// Whether the column names are among the records, as a first row; then only the first page has them.
    var namesAreRecord: Bool {
        guard case .path(let path) = columns else { return false }
        return (records ?? .root).isPrefix(of: path)
    }
}
