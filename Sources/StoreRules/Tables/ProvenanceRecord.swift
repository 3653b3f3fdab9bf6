/// The columns of a row that one source wrote, apart from the entity's own listing.
package struct ProvenanceRecord: Equatable, Sendable {
    /// The bridge's name in the configuration.
    package var bridge: String
    /// The entity whose scan it was.
    package var scan: String
    /// The columns.
    package var columns: Set<String>
    /// The first run in which the source wrote them, if known.
    package var firstRun: Int64?
    /// The last run.
    package var lastRun: Int64?
    /// The URL or path, without secrets.
    package var location: String?
    /// Whether the entity's own listing has ever included the row.
    package var isListed: Bool

    package init(
        bridge: String, scan: String, columns: Set<String>, firstRun: Int64?, lastRun: Int64?, location: String?,
        isListed: Bool
    ) {
        self.bridge = bridge
        self.scan = scan
        self.columns = columns
        self.firstRun = firstRun
        self.lastRun = lastRun
        self.location = location
        self.isListed = isListed
    }
}
