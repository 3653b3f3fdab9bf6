internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Maps the batches of one scan, ahead of their import; used by the scan's task alone.
final class BatchMapper {
    private let mapper: Mapper
    /// Maps deleted objects, whose fields say nothing about those of records.
    private lazy var deletionMapper = Mapper(model)
    private let model: CompiledModel
    private let plan: ScanPlan
    private let target: ScanTarget
    private let parent: [StoredValue]?
    private let terms: ScanTerms
    /// The conditions that records must meet, in a scan of a part.
    private let filter: RecordFilter?
    private let keepsKeys: Bool
    /// Recognises batches that the listing had before; nil if none may be.
    private let recognition: BatchRecognition?
    /// The members of the records so far; see ``ListedMember``.
    private(set) var members: Set<ListedMember> = []
    /// The members that earlier scans of the listing returned.
    let knownMembers: Set<ListedMember>
    /// Whether a record has had a member that the listing was not known to have.
    private var hasNewMembers = false
    /// The fields that the records had, among those that the configuration reads.
    private(set) var present: PresentFields
    /// Removes secrets from what is kept of records besides their values; set it before the first batch.
    var redaction = Redaction.none

    /// - Parameter members: The members that earlier scans of the same listing returned.
    init(
        _ request: ScanRequest, _ target: ScanTarget, _ context: SyncContext, parent: ParentObject?,
        members: Set<ListedMember>, recognition: BatchRecognition?, filter: RecordFilter?, keepsKeys: Bool
    ) {
        plan = request.plan
        model = context.workspace.model
        terms = context.terms
        self.target = target
        self.parent = parent?.key
        self.recognition = recognition
        knownMembers = members
        self.filter = filter
        self.keepsKeys = keepsKeys
        mapper = Mapper(model, knownMembers: members, readsMetadata: context.observer != nil)
        mapper.reportsMembersOfEachBatch = recognition != nil
        present = PresentFields(
            AbsentPathWarnings(plan.attributes, in: model.entities[plan.index]).reads.map(\.field), of: plan.index)
    }

    /// Maps a batch.
    func prepare(_ fetched: FetchedBatch) throws -> PreparedBatch {
        var batch = PreparedBatch(page: fetched.page, received: fetched.records?.count ?? 0)
        if let all = fetched.records {
            let records = try filter?.passing(all, parent: parent) ?? all
            if keepsKeys {
                batch.keys = (0..<records.count).compactMap { mapper.key(of: records[$0], as: plan.mapping) }
            }
            batch.records = (content(of: records, fetched.page), records.count)
        }
        if let deleted = fetched.page.deleted, target.isListing, plan.policy.mode != .ignore {
            batch.deleted = MappedBatch(deleted, by: deletionMapper, as: plan.mapping, parent: parent)
        }
        return batch
    }

    /// Maps records, unless the listing had the same batch before.
    private func content(of records: RecordBatch, _ page: PageInfo) -> PreparedBatch.Content {
        let mayRecognize = recognition != nil && !page.partial && page.deleted == nil
        let digest = mayRecognize ? records.digest : nil
        if let digest, let recognition, let summary = recognition.summary(of: digest, membersAreKnown: !hasNewMembers) {
            members.formUnion(summary.members)
            present.note(summary)
            return .recognized(
                RecognizedBatch(
                    batch: records, digest: digest, summary: summary, absenceContext: recognition.absenceContext))
        }
        let mapped = MappedBatch(
            records, by: mapper, as: plan.mapping, parent: parent,
            // A selective answer lacks values that the request does not need.
            extent: terms.fieldPaths != nil ? .part : page.partial ? .changes : .whole)
        members.formUnion(mapped.members)
        present.note(mapped, redaction)
        if recognition != nil, !hasNewMembers { hasNewMembers = !knownMembers.isSuperset(of: mapped.members) }
        return .mapped(mapped, digest.flatMap { remembered(mapped, $0) })
    }

    /// Returns how a batch may be remembered.
    ///
    /// One that lacks a field is not, if the records have members that nothing reads: the path may be misspelt, and the
    /// next scan warns of that again.
    private func remembered(
        _ mapped: MappedBatch, _ digest: BatchDigest
    ) -> (digest: BatchDigest, summary: BatchSummary)? {
        guard let recognition,
            let summary = mapped.summary(of: target.entity, absenceContext: recognition.absenceContext),
            summary.absentFields.isEmpty || present.others.isEmpty
        else { return nil }
        return (digest, summary)
    }
}

/// A batch with its records mapped.
struct PreparedBatch: Sendable {
    /// The records of a batch.
    enum Content: Sendable {
        /// Those that the listing had before.
        case recognized(RecognizedBatch)
        /// Mapped ones, and how they may be remembered.
        case mapped(MappedBatch, (digest: BatchDigest, summary: BatchSummary)?)
    }

    let page: PageInfo
    let received: Int
    var records: (content: Content, count: Int)?
    var deleted: MappedBatch?
    var keys: [[StoredValue]] = []

    /// The number of bytes, if the batch has nothing but records that the listing had before.
    var recognizedBytes: Int? {
        guard case .recognized(let batch)? = records?.content, deleted == nil else { return nil }
        return batch.batch.byteCount
    }

    /// Whether the batch only signals that the bridge is still working.
    var isNothing: Bool {
        !page.pageEnd && !page.end && records == nil && deleted == nil && page.rejected.isEmpty
            && page.skipped.isEmpty
            && page.warnings.isEmpty
    }
}
