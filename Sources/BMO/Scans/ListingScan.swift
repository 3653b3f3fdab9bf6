internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import SystemCalls

/// One scan: fetch, import, commit, until the end or the first failure.
struct ListingScan: Sendable {
    let plan: ScanPlan
    let context: SyncContext
    /// The object whose children are scanned; nil for all objects.
    let parent: ParentObject?
    /// The counts and events of all scans of the entity.
    let tally: EntityTally
    /// What its attempts take of the entity's quarantine budget.
    private let quarantine: ListingQuarantine
    /// The pages of other parents with which the scan's page may share a transaction.
    private let group: PageGroup.Member?

    init(
        plan: ScanPlan, context: SyncContext, parent: ParentObject?, tally: EntityTally,
        group: PageGroup.Member? = nil
    ) {
        self.plan = plan
        // An observer follows each page through its own transaction.
        self.group = context.observer == nil ? group : nil
        self.context = context
        self.parent = parent
        self.tally = tally
        quarantine = ListingQuarantine(tally.quarantine)
    }

    /// The result of a completed scan.
    struct Result: Sendable {
        var isUnchanged = false
        var listing: ScanListing
        var sweep = SweepResult()
        var counts: ImportCounts
        /// Whether the scan may have missed records, so that it left no cursor.
        var looksAgain = false
        /// How often an object was listed again.
        var repeats = 0
        /// The newest received value of the incremental field.
        var newest: Watermark?
    }

    /// The position of a scan, for failure reports.
    final class ProgressTracker: Sendable {
        private let number = Mutex(0)

        /// The page being fetched, from 1; nil before the first.
        var page: Int? {
            get { number.withLock { $0 > 0 ? $0 : nil } }
            set { number.withLock { $0 = newValue ?? 0 } }
        }
    }

    /// Scans, resuming an interrupted scan if its position is still valid.
    ///
    /// - Throws: Errors of the bridge or the store; earlier pages are committed.
    func run(at place: ProgressTracker) async throws -> Result {
        var result = try await scanUntilCurrent(
            place, fromBeginning: context.options.restart, knowing: parent?.start)
        var looks = 1
        // With pages by position, a record that moved during the fetch was skipped, and is not deleted.
        while result.looksAgain || result.sweep.unconfirmed > 0 {
            guard looks < ScanAttempt.most else {
                if result.looksAgain { warnOfMoving(looks) }
                break
            }
            looks += 1
            tally.noteRepeat()
            result = try await scanUntilCurrent(
                place, fromBeginning: true, confirms: result.sweep.unconfirmed > 0, look: .again(after: result.newest),
                firstRepeats: result.repeats)
        }
        return result
    }

    private func warnOfMoving(_ looks: Int) {
        warn(
            "records moved between pages while they were fetched, in each of \(looks) attempts: all that arrived is imported, and the "
                + "next sync starts from the same value again; paging by a cursor or a key (`paging: {style: keyset}`) "
                + "avoids this")
    }

    /// How often a scan starts over because the remote changed what it had listed.
    private static let mostFreshStarts = 3

    /// Whether a scan may start over: one of a part does not know which rows without a key it has appended.
    private var canStartOver: Bool {
        !context.isPartial || !context.workspace.model.entities[plan.index].key.isEmpty
    }

    /// Scans, and starts over if the saved position is refused, or if what the scan has listed is out of date.
    private func scanUntilCurrent(
        _ place: ProgressTracker, fromBeginning: Bool, knowing start: ScanStart? = nil, confirms: Bool = false,
        look: ScanAttempt = .first, firstRepeats: Int = 0
    ) async throws -> Result {
        var isFresh = fromBeginning
        var freshStarts = 0
        var start = start
        while true {
            do {
                return try await scan(
                    place, fromBeginning: isFresh, knowing: start, confirms: confirms, look: look,
                    firstRepeats: firstRepeats)
            } catch let refusal as ResumeRefused {
                warn(
                    "the scan cannot continue after page \((place.page ?? 1) - 1) (\(refusal.reason)); "
                        + "it starts from the beginning")
            } catch let failure as BridgeFailure
                where failure.startsOver && freshStarts < Self.mostFreshStarts && canStartOver
            {
                freshStarts += 1
                warn("the scan starts over: \(failure.message)")
            }
            tally.forgetResumption()
            tally.noteRepeat()
            (isFresh, start) = (true, nil)
        }
    }

    /// - Parameter known: The start of the scan, if it was read already.
    private func scan(
        _ place: ProgressTracker, fromBeginning: Bool, knowing known: ScanStart?, confirms: Bool, look: ScanAttempt,
        firstRepeats: Int
    ) async throws -> Result {
        guard !context.isPartial else { return try await scanPart(place) }
        let scope = plan.scope(parent: parent)
        let start: ScanStart
        if let known {
            start = known
        } else {
            start = try await context.thread.run { [context, plan] in
                try context.store.start(of: scope, plan.memberListing)
            }
        }
        // The scans of thousands of parents begin on the thread with their pages, which spares each of them a wait.
        let beginsWithPage = parent != nil && start.progress == nil && !removesAbandoned
        defer { context.thread.runLater { [context] in context.store.endScan(scope) } }
        let saved = start.progress
        // A scan that confirms what the first one lacks asks for everything: with a token, the bridge could leave out the
        // same objects again.
        let cursor = confirms && plan.incremental == .token ? nil : start.cursor
        let request = ScanRequest(
            plan, saved: cursor, isFull: context.options.full, options: context.options, parent: parent)
        // A resume point is valid only for the request that it came from.
        let progress = fromBeginning || saved?.request != request.fingerprint ? nil : saved
        if progress == nil, removesAbandoned { try await removeAbandoned(scope) }
        if progress == nil { quarantine.startOver() }
        if let progress, parent == nil {
            // The earlier pages belong to the same scan.
            let aside = try await context.thread.run { [context, plan] in
                try context.store.quarantinedCount(of: plan.entity.name, since: progress.began)
            }
            quarantine.take(aside)
        }
        if saved != nil, progress == nil {
            try await context.gate.pass {
                try await context.thread.run { [context] in try context.store.forgetProgress(of: scope) }
            }
        }
        tally.began(afterPage: progress?.page)
        let connection = try await context.connections.connection(for: plan.bridge)
        place.page = (progress?.page ?? 0) + 1
        if !beginsWithPage {
            try await context.thread.run { [context] in
                try context.store.beginScan(scope, afterPage: progress?.page)
            }
        }
        let stream: RecordStream
        do {
            stream = try await connection.fetch(fetchRequest(request, cursor: progress?.cursor))
        } catch {
            if progress != nil, error.blamesCursor { throw ResumeRefused(error) }
            throw error
        }
        let recognition = parent == nil ? try await BatchRecognition.of(request, context, members: start.members) : nil
        let writer = PageWriter(
            confirms ? .confirmation : .listing, of: request, context, parent: parent, after: progress,
            look: look, firstRepeats: firstRepeats, acknowledged: start.acknowledged, members: start.members,
            quarantine: quarantine, recognition: recognition, begins: beginsWithPage, group: group)
        writer.redaction = connection.redaction
        var result = Result(
            listing: ScanListing(isWhole: false, began: progress?.began ?? request.began),
            counts: ImportCounts(entityCount: context.workspace.model.entities.count))
        do {
            result = try await take(stream, writer, place, result)
            // A scan for changes may return few records, which need not have all members.
            if plan.isListing, request.since == nil, request.token == nil, request.known == nil {
                tally.add(writer.present)
            }
        } catch {
            let isFirst = place.page == (progress?.page ?? 0) + 1
            if progress != nil, isFirst, let failure = error as? BridgeFailure, failure.blamesCursor {
                throw ResumeRefused(failure)
            }
            throw error
        }
        // The members before the resume point are not known.
        result.listing.members = progress == nil ? writer.members : nil
        // Quarantined records outside of the scan may still be faulty.
        result.listing.isWhole = result.listing.isWhole && !result.listing.began.isEmpty && request.since == nil
        return result
    }

    /// Whether rows of an abandoned scan are deleted: objects without a key would be duplicated when it restarts.
    private var removesAbandoned: Bool {
        plan.isListing && context.workspace.model.entities[plan.index].key.isEmpty
    }

    /// Deletes the rows of an abandoned scan.
    private func removeAbandoned(_ scope: ScanScope) async throws {
        let count = try await context.gate.pass {
            try await context.thread.run { [context, plan] in
                try context.store.removeAbandoned(
                    scope, of: plan.index, as: PageSource(bridge: plan.bridge, scan: plan.entity.name, location: nil))
            }
        }
        guard count > 0 else { return }
        warn(
            "an interrupted scan starts over: the \(count == 1 ? "row" : "\(count) rows") that it had imported "
                + "\(count == 1 ? "was" : "were") deleted")
    }

    /// Scans the records that meet the conditions, without resuming and without leaving state for the next scan.
    private func scanPart(_ place: ProgressTracker) async throws -> Result {
        let model = context.workspace.model
        let layout = model.entities[plan.index]
        // Checked first: a stream begins to fetch when it is opened.
        let filter = try RecordFilter(context.options.conditions, plan: plan.mapping, of: plan.index, in: model)
        let request = ScanRequest(plan, saved: nil, isFull: true)
        quarantine.startOver()
        tally.began(afterPage: nil)
        let connection = try await context.connections.connection(for: plan.bridge)
        let scope = plan.scope(ofPartFor: parent)
        let (acknowledged, members) = try await context.thread.run { [context, plan] in
            try context.store.beginScan(scope, afterPage: nil)
            return (try context.store.newestAcknowledged(), try context.store.members(of: plan.memberListing))
        }
        defer { context.thread.runLater { [context] in context.store.endScan(scope) } }
        place.page = 1
        var fetch = fetchRequest(request, cursor: nil)
        if context.options.readsOne, let one = try await objectRequest() {
            fetch = one
        } else if !context.options.conditions.isEmpty, connection.plugin.can("filter") {
            // The children of a parent need not have its key in their records.
            let ofParent = parent?.relationship.map { layout.toOne[$0] }.map { relationship in
                layout.fields[relationship.firstField..<relationship.firstField + relationship.fieldCount].map(\.name)
            }
            fetch.filters = context.options.conditions.filter { ofParent?.contains($0.field) != true }
                .compactMap { $0.filter(plan, in: layout) }
        }
        let stream = try await connection.fetch(fetch)
        let writer = PageWriter(
            .part(filter), of: request, context, parent: parent, acknowledged: acknowledged,
            members: members, quarantine: quarantine)
        writer.redaction = connection.redaction
        var result = Result(
            listing: ScanListing(isWhole: false, began: request.began),
            counts: ImportCounts(entityCount: model.entities.count))
        do {
            result = try await take(stream, writer, place, result)
        } catch let failure as BridgeFailure where context.options.readsOne && failure.code == .notFound {
            // The remote has no such object.
        }
        result.listing.isWhole = false
        result.isUnchanged = false
        return result
    }

    private func take(
        _ stream: RecordStream, _ writer: PageWriter, _ place: ProgressTracker, _ result: Result
    ) async throws -> Result {
        let combined = CombinedResult(result)
        let listener = PageWriter.Listener(
            begins: { page in
                for warning in page.warnings { warn(warning) }
                if let found = page.found { tally.note("found in the first reply: \(found)") }
            },
            committed: { state, page in settle(state, after: page, place, combined) })
        do {
            try await writer.importAll(of: stream, listener)
        } catch let full as QuarantineFull {
            tally.addQuarantined(full.samples.count)
            throw full
        }
        return combined.result
    }

    /// The combined result of the committed pages.
    private final class CombinedResult: Sendable {
        private let state: Mutex<(result: Result, records: Int)>

        init(_ result: Result) { state = Mutex((result, 0)) }

        var result: Result { state.withLock { $0.result } }

        func change<Value: Sendable>(_ body: (inout Result, inout Int) -> Value) -> Value {
            state.withLock { body(&$0.result, &$0.records) }
        }
    }

    /// Adds a committed page to the result.
    private func settle(
        _ state: PageWriter.State, after page: PageInfo, _ place: ProgressTracker, _ combined: CombinedResult
    ) {
        // A scan for changes is never whole: the warning means that more was left out.
        if page.end, !page.complete, !page.unchanged, !page.warnings.isEmpty { tally.markIncomplete() }
        if state.lacking.count > 0 {
            tally.markIncomplete()
            warn(state.lacking.warning)
        }
        let (before, records) = combined.change { result, records in
            defer {
                result.isUnchanged = page.end && page.unchanged
                result.listing.isWhole = page.end && page.complete && !result.isUnchanged && state.lacking.count == 0
                result.counts = state.counts
                result.listing.skipped = state.skipped
                if let sweep = state.sweep { result.sweep = sweep }
                result.looksAgain = state.looksAgain
                result.repeats = state.repeats
                result.newest = state.watermark.newest
                records = state.records
            }
            return (result.counts, state.records - records)
        }
        tally.add(
            state.counts, since: before, records: records, total: page.total, page: parent == nil ? state.page : nil)
        place.page = state.page + 1
        if page.end, state.recognized > 0 {
            tally.detail("\(state.recognized) of \(state.records) records came in the same bytes as before")
        }
        if state.sweep != nil { warnAtEnd(state) }
    }

    private func warnAtEnd(_ state: PageWriter.State) {
        let words = DuplicateKeyWarnings(plan, context.workspace.model, isPositional: state.isPositional)
        // A record that moved may repeat: the next scan returns it once.
        if !state.looksAgain { for words in state.sweep.map(words.warnings) ?? [] { warn(words) } }
        if let kept = state.sweep?.kept {
            tally.markIncomplete()
            warn(kept.words)
        }
        if let field = state.unknownSkippedField {
            warn(
                "the bridge skipped objects by their field `\(field)`, which no attribute stores unchanged: "
                    + "nothing missing from the listing was deleted")
        } else if state.sweep?.isUncertain == true {
            warn("records without a readable key arrived: nothing missing from the listing was deleted")
        }
        if state.badTombstones > 0 {
            let count = state.badTombstones
            warn(
                "\(count == 1 ? "a deleted object" : "\(count) deleted objects") could not be identified by key and went to "
                    + "quarantine: the next sync starts from the same point again")
        }
        if state.order.isBroken, plan.incremental?.endsAtKnown == true, case .field(let name, _, _)? = plan.incremental
        {
            warn(
                "the records are not in order, the newest `\(name)` first: the scan went on to the end of the listing; "
                    + "ask the remote to sort them, or remove \"order: newest_first\"")
        }
        if state.watermark.valuesBeyondLimit > 0, case .field(let name, _, _)? = plan.incremental {
            warn(
                "\(state.watermark.valuesBeyondLimit) values of `\(name)` are more than a day in the future and do not count as the newest"
            )
        }
    }

    private func warn(_ words: String) { tally.warn(parent.map { "\($0.text): \(words)" } ?? words) }

    private func fetchRequest(_ request: ScanRequest, cursor: String?) -> FetchRequest {
        var fetch = request.fetch(from: cursor, of: parent)
        fetch.fields = plan.readMembers.map(Set.init)
        fetch.keyPaths = plan.keyPaths
        fetch.readsDetails = plan.source != nil && parent.map { $0.relationship == nil } ?? false
        fetch.surroundings = plan.surroundings
        fetch.patience = plan.retryFor
        context.terms.apply(to: &fetch)
        return fetch
    }
}

extension PageInfo {
    /// The member `found` of the metadata: the bridge's finding.
    fileprivate var found: String? {
        guard let metadata, let batch = try? JSONParser.batch(metadata), batch.count == 1 else { return nil }
        return withExtendedLifetime(batch) { batch[0]["found"]?.text }
    }
}

extension BridgeFailure {
    /// Whether an expired resume point may be the cause.
    fileprivate var blamesCursor: Bool {
        !isRetryable && [.notFound, .remote, .configuration, .malformed, .conflict].contains(code)
    }
}

/// A failure of the first page after a resume point, which may have caused it.
private struct ResumeRefused: Error {
    let reason: String

    init(_ failure: BridgeFailure) { reason = "\(failure.code.rawValue): \(failure.message)" }
}
