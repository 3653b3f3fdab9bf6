internal import BridgeKit

/// A scan of one listing.
protocol ListingSource: RecordSource {
    /// Its requests, which another thread may cancel.
    var running: RunningRequests { get }
}
