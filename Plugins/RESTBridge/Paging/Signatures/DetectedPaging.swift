internal import BridgePaging
internal import BridgeKit

/// The detected paging, in terms of the config's `paging`.
struct DetectedPaging: Equatable {
    typealias Member = (name: String, value: String)

    var members: [Member]
    /// The position of the page that was read, if pages are numbered.
    var first: PagePosition?
    /// Whether it is unknown if pages count from 0 or from 1.
    var isStartUnknown = false
    /// Whether a full page is the only sign of more records.
    var isEndUnknown = false
    /// The name of the signature or the vendor that the reply matches.
    var source: String?

    subscript(name: String) -> String? { members.first { $0.name == name }?.value }

    var options: BridgeOptions {
        BridgeOptions { writer in
            for (name, value) in members {
                if ["size", "start"].contains(name), let number = Int(value) {
                    writer.member(name, number)
                } else {
                    writer.member(name, value)
                }
            }
        }
    }

    /// The paging as a person would write it.
    var description: String {
        "{" + members.map { "\($0.name): \($0.value)" }.joined(separator: ", ") + "}"
    }

    static func == (left: Self, right: Self) -> Bool {
        left.description == right.description && left.first == right.first
    }
}
