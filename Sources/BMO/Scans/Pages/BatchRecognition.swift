internal import Importer
internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import SystemCalls
internal import TextFormats

/// Recognises the batches that a listing had in an earlier scan, so that they need not be mapped and compared again.
struct BatchRecognition: Sendable {
    private let memory: any BatchMemory
    /// What decides which missing members keep the stored value: the members that the listing was known to return.
    let absenceContext: UInt64

    init(_ memory: any BatchMemory, members: Set<ListedMember>) {
        self.memory = memory
        var fingerprint = Fingerprint()
        for text in members.map({ "\($0.entity) \($0.path)" }).sorted() {
            fingerprint.add(text)
            fingerprint.separate()
        }
        absenceContext = fingerprint.value
    }

    /// Returns what a batch was like, if the listing had it before and it would be mapped in the same way.
    ///
    /// - Parameter membersAreKnown: Whether the scan has brought no member that the listing was not known to have.
    func summary(of digest: BatchDigest, membersAreKnown: Bool) -> BatchSummary? {
        guard let summary = memory.summary(of: digest),
            summary.absenceContext == nil || membersAreKnown && summary.absenceContext == absenceContext
        else { return nil }
        return summary
    }

    /// The memory of a listing that is scanned as a whole; nil if its batches may have other effects than their rows, or
    /// are to be read anew.
    ///
    /// Call it when the scan has begun.
    static func of(
        _ request: ScanRequest, _ context: SyncContext, members: Set<ListedMember>
    ) async throws -> BatchRecognition? {
        let plan = request.plan
        guard plan.isListing, plan.watched == nil, plan.policy.tombstone == nil, request.isFull,
            context.observer == nil, context.terms.fieldPaths == nil,
            !context.options.full, !context.options.restart, !context.isPartial,
            // Another bmo may map in another way.
            let program = FileStamp.ofProgram
        else { return nil }
        let target = ScanTarget(scope: plan.scope(parent: nil), entity: plan.index)
        let memory = try await context.thread.run {
            try context.store.batchMemory(of: target, mapping: "\(plan.request) \(program.text)")
        }
        return memory.map { BatchRecognition($0, members: members) }
    }
}

/// A batch that the listing had before.
struct RecognizedBatch: Sendable {
    let batch: RecordBatch
    let digest: BatchDigest
    let summary: BatchSummary
    /// See ``BatchRecognition/absenceContext``.
    let absenceContext: UInt64
}
