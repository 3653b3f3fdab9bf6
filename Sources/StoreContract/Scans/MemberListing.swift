/// A listing whose known members are stored: an entity, a source and a request.
public struct MemberListing: Hashable, Sendable {
    /// The name of the listed entity.
    public var entity: String
    /// The name of the further source; empty for the entity's own bridge.
    public var source: String
    /// A short text that identifies the request: members that one request returned say nothing about another.
    public var request: String

    /// Creates a listing.
    public init(entity: String, source: String, request: String) {
        self.entity = entity
        self.source = source
        self.request = request
    }
}
