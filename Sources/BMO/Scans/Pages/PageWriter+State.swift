internal import BridgeHost
internal import Importer
internal import Mapping
internal import StoreContract

/// What a scan covers, and what its pages have come to.
extension PageWriter {
    /// How much of a listing the scan covers, and so what its gaps mean.
    enum Extent {
        /// All of it, or the changes since an earlier scan.
        case listing
        /// All of it once more: a row is deleted only if this scan lacks it, too.
        case confirmation
        /// The records that meet conditions; it leaves no state for the next scan.
        case part(RecordFilter)
        /// The pages of a request, which leave no state either; with or without the keys of their objects.
        case pages(keepsKeys: Bool)

        /// The conditions of a part.
        var filter: RecordFilter? { if case .part(let filter) = self { filter } else { nil } }

        /// Whether the keys of the objects are kept.
        var keepsKeys: Bool { if case .pages(keepsKeys: true) = self { true } else { false } }

        /// Whether the scan has no effect on the next one.
        var leavesNothing: Bool {
            switch self {
            case .listing, .confirmation: false
            case .part, .pages: true
            }
        }
    }

    /// The scan's state so far.
    struct State: Sendable {
        var page = 0
        var records = 0
        /// The number of records that were not mapped and compared, because they came in a batch that the listing had before.
        var recognized = 0
        /// The keys of the records' objects, in their order, where requested; without those of quarantined records.
        var keys: [[StoredValue]] = []
        var counts: ImportCounts
        /// The values of the watched field.
        var watermark: ScanWatermark
        /// The result of the sweep after the last page.
        var sweep: SweepResult?
        /// Whether the bridge makes no statement about rows that the listing lacks.
        var skipsEverything = false
        /// The field by which the bridge names skipped objects, where no attribute has it unchanged.
        var unknownSkippedField: String?
        /// The objects that the bridge skipped.
        var skipped = SkippedRecords()
        /// The number of records that changed something, and that the previous scan should have returned.
        var late = 0
        var totals = ReportedTotals()
        /// The number of deletions on the remote that could not be matched to objects.
        var badTombstones = 0
        /// Whether the scan may have missed records that moved between pages: it leaves no cursor then.
        var looksAgain = false
        /// The objects that the listing lacks because other records came twice.
        var lacking = LackingObjects()
        /// How often an object was listed again.
        var repeats = 0
        /// Whether the listing is paged by position.
        var isPositional = false
        var order = ListingOrder()
        /// Whether the scan ended at what is known, although the listing has more.
        var endsAtKnown = false
    }

    /// Callbacks for each batch, on the import thread, in the order of the imports.
    struct Listener: Sendable {
        /// Called before a batch is imported.
        let begins: @Sendable (PageInfo) -> Void
        /// Called after a page is committed.
        let committed: @Sendable (State, PageInfo) -> Void
    }

    /// A batch that waits for its import, or is being imported.
    struct Job {
        let result: Promise<Result<Void, any Error>>
        /// The number of bytes, if the batch was recognised, and so takes no more; nil if it was mapped.
        let recognizedBytes: Int?
    }
}
