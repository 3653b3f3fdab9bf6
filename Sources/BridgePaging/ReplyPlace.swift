public import BridgeJSON
internal import BridgeKit

/// A place in a reply: a path of its body, or a header field.
public enum ReplyPlace: Hashable, Sendable, CustomStringConvertible {
    /// A path of the body.
    case body(JSONPath)
    /// A header field.
    case header(String)
    /// A member of a header field whose value is JSON, such as `X-Pagination: {"total": 130}`.
    case headerMember(String, JSONPath)

    /// Parses a place.
    ///
    /// A text that begins with `$` is a path. Any other text names a header field, and a part after a dot leads into
    /// its JSON.
    ///
    /// - Parameters:
    ///   - text: The place as written in the config.
    ///   - option: The option that holds it, for the error message.
    /// - Throws: `BridgeError` that says how to write a place.
    public init(_ text: String, option: String) throws {
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

    /// The path of the body; nil for a header field.
    public var path: JSONPath? { if case .body(let path) = self { path } else { nil } }

    /// The place as written in the config.
    public var description: String {
        switch self {
        case .body(let path): path.description
        case .header(let name): name
        case .headerMember(let name, let path): name + path.description.dropFirst()
        }
    }
}
