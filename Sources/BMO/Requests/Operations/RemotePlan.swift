/// The plan of a remote operation.
public struct RemotePlan: Sendable, Equatable {
    /// How much of the listing is fetched.
    public enum Extent: Sendable, Equatable {
        /// The entity's listing, as a sync scans it: objects that it lacks are deleted as configured.
        case listing
        /// As many of its pages as the request needs.
        case pages
    }

    /// The scanned entity: for a sub-entity without a listing, its super-entity.
    public var entity: String
    /// The bridge's name in the configuration.
    public var bridge: String
    /// How much of the listing is fetched.
    public var extent: Extent
    /// The conditions passed to the bridge, as text; it need not apply all of them.
    public var filters: [String]
    /// Whether the bridge receives the request's user info.
    public var hasUserInfo = false
}
