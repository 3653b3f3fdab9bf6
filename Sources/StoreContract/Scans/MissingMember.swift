public import Mapping

/// A member that no record has any more.
public struct MissingMember: Sendable {
    /// The member.
    public var member: ListedMember
    /// Whether it came from another request, with another section or URL.
    public var isOfOtherRequest: Bool

    /// Creates a missing member.
    package init(member: ListedMember, isOfOtherRequest: Bool) {
        self.member = member
        self.isOfOtherRequest = isOfOtherRequest
    }
}
