internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// The request of one scan (everything, or the changes since an earlier scan), and the state that it leaves at its end.
struct ScanRequest: Sendable {
    let plan: ScanPlan
    /// The state of an earlier scan, if it is still valid.
    let cursor: ScanCursor?
    let began: String
    let ignoresDeletionLimit: Bool

    /// Creates a request, using the saved state only if it matches the plan.
    ///
    /// - Parameters:
    ///   - saved: The state of an earlier scan.
    ///   - isFull: Whether to request everything, regardless of the state.
    init(_ plan: ScanPlan, saved: ScanCursor?, isFull: Bool, ignoresDeletionLimit: Bool) {
        isAskedInFull = isFull
        self.plan = plan
        self.ignoresDeletionLimit = ignoresDeletionLimit
        began = Clock.now()
        var cursor = isFull || saved?.request != plan.request || plan.incremental == nil ? nil : saved
        if let every = plan.fullEvery, let known = cursor,
            known.fullAt <= Clock.text(secondsAgo: every.components.seconds)
        {
            cursor = nil
        }
        switch plan.incremental {
        case .token: if cursor?.token == nil { cursor = nil }
        case .field: if cursor?.newest == nil { cursor = nil }
        case nil: break
        }
        self.cursor = cursor
        wasFull = saved?.request == plan.request ? saved?.fullAt : nil
    }

    /// When a scan of the same request last requested everything.
    private let wasFull: String?
    /// Whether the user asked for everything.
    private let isAskedInFull: Bool

    var isFull: Bool { cursor == nil }

    /// The bridge's own state, which limits its reply to changes.
    var token: String? { plan.incremental == .token ? cursor?.token : nil }

    /// The newest known value, less the lookback.
    var since: String? {
        guard case .field(_, let lookback) = plan.incremental, let newest = cursor?.newest, let watched = plan.watched
        else { return nil }
        return watched.since(local: newest.local, remote: newest.remote, lookback: lookback)
    }

    /// The identity of the request that a resume point must match: a page of one request is meaningless for another.
    var fingerprint: String {
        if let since { return "\(plan.request) since \(since)" }
        if let token {
            // A token may have megabytes.
            return "\(plan.request) token \(token.count) \(token.hashText)"
        }
        return plan.request
    }

    /// Returns the state that the scan leaves when the bridge reports its end.
    ///
    /// - Parameters:
    ///   - isComplete: Whether the bridge reports that everything requested was returned.
    ///   - isUnchanged: Whether the remote reports no changes.
    ///   - token: The bridge's new state.
    ///   - newest: The newest received value of the watched field.
    ///   - isResumed: Whether the scan began in an earlier process.
    ///   - listing: Whether an absent object is deleted at once, or only if another scan lacks it, too.
    func end(
        isComplete: Bool, isUnchanged: Bool, token: String?, newest: Watermark?, isResumed: Bool, hasParent: Bool,
        listing: SweepRule.Listing
    ) -> ScanEnd {
        var end = ScanEnd(defersSweep: hasParent)
        end.cursor = next(
            isComplete: isComplete, isUnchanged: isUnchanged, token: token, newest: newest, isResumed: isResumed)
        // A scan for changes since a value makes no statement about other objects.
        if isComplete, !isUnchanged, since == nil, plan.isListing, plan.policy.mode != .ignore {
            end.sweep = SweepRule(
                deletionLimit: ignoresDeletionLimit ? nil : plan.policy.deletionLimit, listing: listing,
                origin: plan.origin)
        }
        return end
    }

    private func next(
        isComplete: Bool, isUnchanged: Bool, token: String?, newest: Watermark?, isResumed: Bool
    ) -> ScanCursor? {
        // Without `full_every` the time is not needed, and a sync without changes writes nothing.
        // A user of `--full` expects the time to be recorded.
        let isNoted = plan.fullEvery != nil || isAskedInFull
        let fullAt = isFull && !isUnchanged ? (isNoted ? began : wasFull ?? began) : wasFull ?? began
        switch plan.incremental {
        case nil: return nil
        case .token:
            // Records that an incomplete scan left out would not be returned again.
            guard let token, isUnchanged || isComplete || (!isFull && !isResumed) else { return nil }
            return ScanCursor(token: token, newest: nil, request: plan.request, fullAt: fullAt)
        case .field:
            guard isComplete || isUnchanged,
                let newest = isFull ? newest : Watermark.newer(cursor?.newest, newest)
            else { return nil }
            return ScanCursor(token: nil, newest: newest, request: plan.request, fullAt: fullAt)
        }
    }
}

extension String {
    fileprivate var hashText: String {
        var fingerprint = Fingerprint()
        fingerprint.add(self)
        return String(fingerprint.value, radix: 16)
    }
}
