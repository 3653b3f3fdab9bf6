internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// Where a reply says something: at a path of its body, or in a header field.
enum ReplyPlace: Hashable, Sendable, CustomStringConvertible {
    case body(JSONPath)
    case header(String)

    /// A text that begins with `$` is a path, any other one names a header field.
    init(_ text: String, option: String) throws {
        if text.hasPrefix("$") {
            self = .body(try JSONPath(text, option: option))
        } else if !text.isEmpty,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}.".utf8.contains($0) })
        {
            self = .header(text)
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
        }
    }
}
