internal import BridgeHTTP
internal import BridgeJSON
internal import CSimdJSON

extension RESTSection {
    /// Members that each record of a reply gets: from its head, and from the request's variables.
    func recordFields(_ response: HTTPResponse) -> [(name: String, value: String)] {
        headerFields.compactMap { name, header in response.header(header).map { (name: name, value: $0) } }
            + requestFields
    }

    /// Has a reader write such members into each object that it reads from now on.
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

    /// Whether the names of columns stand among the records, as a first row does: then the first page alone has them.
    var namesAreRecord: Bool {
        guard case .path(let path) = columns else { return false }
        return (records ?? .root).isPrefix(of: path)
    }
}
