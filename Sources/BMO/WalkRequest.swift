internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// What one walk asks for: everything, or what moved since an earlier one; and what it may leave when it ends.
struct WalkRequest: Sendable {
    let plan: WalkPlan
    /// What an earlier walk left, if it is of any use now.
    let cursor: WalkCursor?
    let began: String
    let ignoresBrake: Bool

    /// - Parameters:
    ///   - saved: What an earlier walk left.
    ///   - isFull: Asks for everything, whatever there is.
    init(_ plan: WalkPlan, saved: WalkCursor?, isFull: Bool, ignoresBrake: Bool) {
        self.plan = plan
        self.ignoresBrake = ignoresBrake
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

    /// When a walk of the same request last asked for everything.
    private let wasFull: String?

    var isFull: Bool { cursor == nil }

    /// The bridge's own state, which makes it tell what moved since.
    var token: String? { plan.incremental == .token ? cursor?.token : nil }

    /// The newest value that is known, less the lookback.
    var since: String? {
        guard case .field(_, let lookback) = plan.incremental, let newest = cursor?.newest, let watched = plan.watched
        else { return nil }
        return watched.since(local: newest.local, remote: newest.remote, lookback: lookback)
    }

    /// What a resume point must have been made for: a page of one request says nothing about those of another.
    var fingerprint: String {
        if let since { return "\(plan.request) since \(since)" }
        if let token {
            // A token may have megabytes.
            return "\(plan.request) token \(token.count) \(token.hashText)"
        }
        return plan.request
    }

    /// What the walk leaves when a bridge says that it is over.
    ///
    /// - Parameters:
    ///   - isComplete: The bridge says that all that was asked for has come.
    ///   - isUnchanged: The remote says that nothing moved.
    ///   - token: The bridge's new state.
    ///   - newest: The newest value of the watched field that came.
    ///   - isResumed: The walk began in an earlier process.
    ///   - listing: Whether what the walk lacks is gone, or only if another one lacks it too.
    func end(
        isComplete: Bool, isUnchanged: Bool, token: String?, newest: Watermark?, isResumed: Bool, hasParent: Bool,
        listing: SweepRule.Listing
    ) -> WalkEnd {
        var end = WalkEnd(defersSweep: hasParent)
        end.cursor = next(
            isComplete: isComplete, isUnchanged: isUnchanged, token: token, newest: newest, isResumed: isResumed)
        // A walk that asked for what changed since a value says nothing about the rest.
        if isComplete, !isUnchanged, since == nil, plan.isListing, plan.policy.mode != .ignore {
            end.sweep = SweepRule(brake: ignoresBrake ? nil : plan.policy.brake, listing: listing, origin: plan.origin)
        }
        return end
    }

    private func next(
        isComplete: Bool, isUnchanged: Bool, token: String?, newest: Watermark?, isResumed: Bool
    ) -> WalkCursor? {
        // Without `full_every` nobody asks when that was, and a sync that finds nothing writes nothing.
        let fullAt = isFull && !isUnchanged ? (plan.fullEvery == nil ? wasFull ?? began : began) : wasFull ?? began
        switch plan.incremental {
        case nil: return nil
        case .token:
            // What an incomplete walk left out would not come again.
            guard let token, isUnchanged || isComplete || (!isFull && !isResumed) else { return nil }
            return WalkCursor(token: token, newest: nil, request: plan.request, fullAt: fullAt)
        case .field:
            guard isComplete || isUnchanged,
                let newest = isFull ? newest : Watermark.newer(cursor?.newest, newest)
            else { return nil }
            return WalkCursor(token: nil, newest: newest, request: plan.request, fullAt: fullAt)
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
