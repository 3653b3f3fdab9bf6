internal import BridgeHost
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
    private let options: Workspace.SyncOptions
    /// The state of the parent whose children are requested, which the cursor keeps; see ``ParentObject/state``.
    private let parentState: String?

    /// Creates a request, using the saved state only if it matches the plan.
    ///
    /// - Parameters:
    ///   - saved: The state of an earlier scan.
    ///   - isFull: Whether to request everything, regardless of the state.
    ///   - options: How the sync deletes what the listing lacks.
    ///   - parent: The parent whose children are requested.
    init(
        _ plan: ScanPlan, saved: ScanCursor?, isFull: Bool, options: Workspace.SyncOptions = Workspace.SyncOptions(),
        parent: ParentObject? = nil
    ) {
        isAskedInFull = isFull
        parentState = parent?.state
        self.plan = plan
        self.options = options
        began = Clock.now()
        let isKnown = saved.map(plan.isOwn) ?? false
        var cursor = isFull || !isKnown || plan.incremental == nil ? nil : saved
        if let known = cursor, plan.isFullDue(since: known.fullAt) { cursor = nil }
        switch plan.incremental {
        case .token: if cursor?.token == nil { cursor = nil }
        case .field: if cursor?.newest == nil { cursor = nil }
        case nil: break
        }
        self.cursor = cursor
        wasFull = isKnown ? saved?.fullAt : nil
    }

    /// When a scan of the same request last requested everything.
    private let wasFull: String?
    /// Whether the user asked for everything.
    private let isAskedInFull: Bool

    var isFull: Bool { cursor == nil }

    /// The bridge's own state, which limits its reply to changes.
    var token: String? { plan.incremental == .token ? cursor?.token : nil }

    /// The newest known value, less the lookback, as the remote writes it.
    var since: String? { known { $0.since(local: $1.local, remote: $1.remote, lookback: $2) } }

    /// The newest known value, less the lookback, as a time, if the remote writes it in a form of its own.
    var sinceTime: String? { known { $0.sinceTime(local: $1.local, remote: $1.remote, lookback: $2) } }

    /// Returns the request to the bridge, as far as a scan and its plan have it in common.
    func fetch(from cursor: String?, of parent: ParentObject?) -> FetchRequest {
        var fetch = FetchRequest(entity: plan.entity.name, section: plan.section, cursor: cursor)
        fetch.token = token
        fetch.since = since
        fetch.sinceTime = sinceTime
        fetch.newestFirst = plan.incremental?.endsAtKnown == true
        fetch.parent = parent?.options
        fetch.fieldPaths = plan.fieldPaths
        return fetch
    }

    /// Returns what a function makes of the newest known value and the lookback, if the scan asks for what follows.
    private func known(_ make: (WatchedField, Watermark, Int64) -> String?) -> String? {
        guard case .field(_, let lookback, .any) = plan.incremental, let newest = cursor?.newest,
            let watched = plan.watched
        else { return nil }
        return make(watched, newest, lookback)
    }

    /// The newest known value, less the lookback, in a listing with the newest first: a scan ends after the page whose
    /// last record is older, because it has everything from there on.
    var known: StoredValue? {
        guard case .field(_, let lookback, .newestFirst) = plan.incremental, let newest = cursor?.newest else {
            return nil
        }
        return plan.watched?.value(newest.local, lessBy: lookback)
    }

    /// The identity of the request that a resume point must match: a page of one request is meaningless for another.
    var fingerprint: String {
        if let since { return "\(plan.request) since \(since)" }
        // Another scan may have saved a watermark meanwhile, so that this one would end elsewhere.
        if let known { return "\(plan.request) down to \(known)" }
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
        end.followsCursor = !isFull
        // A scan for changes since a value makes no statement about other objects.
        if isComplete, !isUnchanged, since == nil, plan.isListing, plan.policy.mode != .ignore {
            end.sweep = options.sweep(of: plan, listing)
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
        case nil:
            guard parentState != nil, isComplete || isUnchanged else { return nil }
            return cursor(fullAt: fullAt)
        case .token:
            // Records that an incomplete scan left out would not be returned again.
            guard isUnchanged || isComplete || (!isFull && !isResumed) else { return nil }
            guard let token = token ?? (isUnchanged ? cursor?.token : nil) else {
                return parentState == nil ? nil : cursor(fullAt: fullAt)
            }
            return cursor(token: token, fullAt: fullAt)
        case .field:
            guard isComplete || isUnchanged else { return nil }
            // A parent without children leaves no value, and is done with all the same.
            let newest = isFull ? newest : Watermark.newer(cursor?.newest, newest)
            return newest == nil && parentState == nil ? nil : cursor(newest: newest, fullAt: fullAt)
        }
    }

    private func cursor(token: String? = nil, newest: Watermark? = nil, fullAt: String) -> ScanCursor {
        ScanCursor(token: token, newest: newest, request: plan.cursorRequest, parentState: parentState, fullAt: fullAt)
    }
}

extension String {
    fileprivate var hashText: String {
        var fingerprint = Fingerprint()
        fingerprint.add(self)
        return String(fingerprint.value, radix: 16)
    }
}

extension Workspace.SyncOptions {
    /// Returns how the rows are deleted that the listing of a scan lacks.
    func sweep(of plan: ScanPlan, _ listing: SweepRule.Listing = .only) -> SweepRule {
        var limit: DeletePolicy.DeletionLimit? = plan.policy.deletionLimit
        if let agreedDeletions { limit = DeletePolicy.DeletionLimit(share: 0, rows: agreedDeletions) }
        if allowsDeletes { limit = nil }
        var rule = SweepRule(deletionLimit: limit, listing: listing, origin: plan.origin)
        rule.coversOtherOrigins = agreedDeletions != nil
        return rule
    }
}
