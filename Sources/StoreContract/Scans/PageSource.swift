/// The source of a page's records.
public struct PageSource: Sendable, Equatable {
    /// The bridge's name in the configuration.
    public var bridge: String
    /// The entity whose scan the page belongs to.
    public var scan: String
    /// The URL or path, without secrets.
    public var location: String?

    /// Creates a source.
    public init(bridge: String, scan: String, location: String?) {
        self.bridge = bridge
        self.scan = scan
        self.location = location
    }
}
