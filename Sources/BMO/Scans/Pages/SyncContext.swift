internal import StoreContract

/// The context shared by all scans of a sync.
struct SyncContext: Sendable {
    let workspace: Workspace
    let store: any Store
    let connections: Connections
    let thread: ImportThread
    let gate: PageGate
    let options: Workspace.SyncOptions
    let report: @Sendable (SyncEvent) -> Void
    /// Observes each page of a request; nil in a sync.
    var observer: (any PageObserver)?
    /// The part of the scans to do; nil for all.
    var shards: ShardPlan?
    /// What the request adds to the bridges'; nothing in a sync.
    var terms = ScanTerms()

    /// Whether only a part of a listing is requested: absence from it means nothing.
    var isPartial: Bool { !options.conditions.isEmpty || terms.changesListing }
}
