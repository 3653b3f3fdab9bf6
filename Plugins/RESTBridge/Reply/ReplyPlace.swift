internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Where a reply says something: at a path of its body, or in a header field.
enum ReplyPlace: Hashable, Sendable, CustomStringConvertible {
    case body(JSONPath)
    case header(String)
    /// A member of a header field that is JSON itself, such as `X-Pagination: {"total": 130}`.
    case headerMember(String, JSONPath)

    /// A text that begins with `$` is a path, any other one names a header field; what stands behind a dot leads into its JSON.
    init(_ text: String, option: String) throws {
        if text.hasPrefix("$") {
            self = .body(try JSONPath(text, option: option))
        } else if case let name = text.prefix(while: { $0 != "." }), !name.isEmpty,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) })
        {
            self =
                name.count == text.count
                ? .header(text)
                : .headerMember(String(name), try JSONPath("$" + text.dropFirst(name.count), option: option))
        } else {
            throw BridgeError(
                .configuration, "\(option): \"\(text)\" is neither a path nor the name of a header",
                remedy: "write a path such as $.meta.next, or a header's name such as X-Next-Page")
        }
    }

    var path: JSONPath? { if case .body(let path) = self { path } else { nil } }

    /// As the config has it.
    var description: String {
        switch self {
        case .body(let path): path.description
        case .header(let name): name
        case .headerMember(let name, let path): name + path.description.dropFirst()
        }
    }
}
