internal import BridgeJSON
internal import BridgeKit

/// The token of a finished scan for the next one: the validators of its pages, or the remote's own token.
struct ScanToken: Equatable, Sendable {
    /// The validators for checking whether the listing changed, or nil if a page had none.
    var marks: ListingMarks?
    /// A delta token or link.
    var delta: String?

    init() {}

    /// - Returns: nil if the text is not a token of this bridge.
    init?(_ text: String) {
        guard let tree = try? JSONTree(parsing: Array(text.utf8), what: "the token"), tree.isObject else { return nil }
        marks = tree["listing"].flatMap(ListingMarks.init)
        delta = tree["delta"]?.text
    }

    var isEmpty: Bool { marks == nil && delta == nil }

    var text: String {
        var members = JSONTree.Members()
        members["listing"] = marks?.tree
        members["delta"] = delta.map { .text($0) }
        return JSONTree.object(members).json
    }
}
