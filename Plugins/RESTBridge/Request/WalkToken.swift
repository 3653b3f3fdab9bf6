internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// What a finished walk leaves for the next one: validators of a listing of one page, or the remote's own token.
struct WalkToken: Equatable, Sendable {
    /// The URL that the validators belong to.
    var url: String?
    /// RFC 9110, section 8.8.3.
    var etag: String?
    /// The Last-Modified field as it came.
    var modified: String?
    /// A delta token or link.
    var delta: String?

    private static let paths = ["$.url", "$.etag", "$.modified", "$.delta"].compactMap {
        try? JSONPath($0, option: "token")
    }

    init() {}

    /// - Returns: nil for what is no token of this bridge.
    init?(_ text: String) {
        guard let values = JSONScalar.read(Self.paths, in: text), values.count == 4 else { return nil }
        url = values[0].plain
        etag = values[1].plain
        modified = values[2].plain
        delta = values[3].plain
    }

    var isEmpty: Bool { etag == nil && modified == nil && delta == nil }

    var text: String {
        var members = JSONTree.Members()
        for (name, value) in [("url", url), ("etag", etag), ("modified", modified), ("delta", delta)] {
            members[name] = value.map { .text($0) }
        }
        return JSONTree.object(members).json
    }
}
