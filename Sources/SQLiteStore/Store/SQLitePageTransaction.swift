internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping

/// A page's writes in one SQLite transaction.
final class SQLitePageTransaction: PageTransaction {
    /// What the transaction's page of one scan has listed.
    private struct Listed {
        let scan: ScanTarget
        /// The rows, if the scan logs them.
        let rows: SeenLog
        let savedLog: Bool
        let savedLists: Bool
    }

    private let store: SQLiteStore
    private var isOpen = true
    private var hasWritten = false
    /// The pages of the scans that the transaction followed before.
    private var before: [Listed] = []
    /// The scan that the page belongs to.
    private var scan: ScanTarget?
    /// The rows that the page lists, if the scan logs them.
    private var seen = SeenLog()
    private var notesSeen = false
    /// The greatest row that earlier pages listed.
    private var greatestBefore = Int64.min
    private var savedLog = false
    private var savedLists = false
    /// The page's batches, if the store remembers those of the scan.
    private var batches: PageBatches?
    /// Whether the page ends a scan that deletes what it lacks.
    private var sweeps = false
    /// Whether rows were written, by entity.
    private var touched: [Bool]
    private var due: DueParents

    init(_ store: SQLiteStore) {
        self.store = store
        touched = Array(repeating: false, count: store.model.entities.count)
        due = DueParents(store.model)
    }

    /// The entities whose rows were written, and all that share a table with them.
    private var touchedFamilies: Set<Int> {
        let roots = Set(touched.indices.filter { touched[$0] }.map { store.model.entities[$0].root })
        return Set(store.model.entities.indices.filter { roots.contains(store.model.entities[$0].root) })
    }

    func access(_ body: () throws -> Void) throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        // Statements throw the store's own errors; GRDB's say that the file was closed.
        try SQLiteStore.translating("writing a page") {
            try store.writer.writeWithoutTransaction { _ in
                let writers = try store.writers
                defer { writers.entityWriters.pause() }
                try body()
                try writers.abandoned.prune()
            }
        }
    }

    func setSource(_ source: PageSource) throws { try store.writers.changes.source = source }

    func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        let writers = try store.writers.entityWriters
        var rejected: Int?
        // The writer of the row before: most pages have one entity.
        var last: (entity: Int, writer: EntityWriter)?
        var index = 0
        while index < rows.count {
            let row = rows[index]
            guard row.record != rejected else {
                index += 1
                continue
            }
            let writer: EntityWriter
            if let last, last.entity == row.entity {
                writer = last.writer
            } else {
                writer = writers(row.entity)
                last = (row.entity, writer)
            }
            let run = try index..<index + writer.insertRun(of: rows, from: index)
            if !run.isEmpty {
                try note(inserted: rows[run], by: writer)
                for index in run { try outcome(index, .success(.inserted)) }
                index = run.upperBound
                continue
            }
            let result: Result<MergeOutcome, StoreError>
            do {
                result = .success(try merge(row, by: writer))
            } catch let error as StoreError where error.code == .constraint {
                rejected = row.record
                result = .failure(error)
            }
            try outcome(index, result)
            index += 1
        }
    }

    /// Notes rows that one statement has inserted, whose keys are their rowids.
    private func note(inserted rows: ArraySlice<PageRow>, by writer: EntityWriter) throws {
        guard let entity = rows.first?.entity else { return }
        if notesSeen {
            let listed = rows.compactMap { writer.newRowID(of: $0.cells) }
            if scan?.parent == nil {
                seen.append(contentsOf: listed)
            } else {
                for (row, stored) in zip(rows, listed) {
                    try note(stored, after: nil, entity, row.cells, replaced: nil)
                }
            }
            batches?.note(listed)
        }
        noteWrite(of: entity)
        guard due.concerns(entity) else { return }
        for row in rows { noteDue(row) }
    }

    private func noteWrite(of entity: Int) {
        hasWritten = true
        touched[entity] = true
        batches?.noteWrite()
    }

    private func noteDue(_ row: PageRow) {
        let key = store.model.entities[row.entity].key.map { row.cells[$0].value ?? .null }
        due.note(row.entity, key, writtenBy: scan?.scope)
    }

    @inline(__always)
    private func merge(_ row: PageRow, by writer: EntityWriter) throws -> MergeOutcome {
        let outcome = try writer.merge(row.cells, as: row.role, over: row.listing)
        if notesSeen, row.role.isOfListing, let stored = writer.lastRow {
            let hasBeenPassed = stored <= max(seen.greatest, greatestBefore)
            try note(stored, after: writer.rowBefore, row.entity, row.cells, replaced: writer.replaced)
            batches?.note(stored, after: writer.rowBefore)
            if outcome == .updated, hasBeenPassed { seen.noteRewritten() }
        }
        if outcome != .unchanged {
            noteWrite(of: row.entity)
            if due.concerns(row.entity) { noteDue(row) }
        }
        return outcome
    }

    /// Logs a row that the scan lists.
    private func note(
        _ row: Int64, after before: Int64?, _ entity: Int, _ cells: UnsafeBufferPointer<Cell>, replaced: [StoredValue]?
    ) throws {
        seen.append(row, after: before)
        guard let scan, let parent = scan.parent else { return }
        let toOne = store.model.entities[entity].toOne[parent.relationship]
        let refersElsewhere = zip(parent.key, toOne.firstField..<toOne.firstField + toOne.fieldCount)
            .contains { $0 != cells[$1].value }
        let sweep = try store.writers.sweep
        if let replaced, !refersElsewhere { sweep.noteTaken(row, by: scan, from: replaced) }
        sweep.note(row, of: scan, refersElsewhere: refersElsewhere)
    }

    /// Marks an entity whose rows are about to be written elsewhere.
    func touch(_ entity: Int) { touched[entity] = true }

    private func noteDeleted(_ deleted: [Int: Int]) {
        for entity in deleted.keys { touched[entity] = true }
        if !deleted.isEmpty { hasWritten = true }
    }

    /// The pages of all scans that the transaction has followed.
    private var listed: [Listed] {
        before
            + (scan.map { [Listed(scan: $0, rows: seen, savedLog: savedLog, savedLists: savedLists)] } ?? [])
    }

    func follow(_ scan: ScanTarget) throws {
        before = listed
        (seen, savedLog, savedLists) = (SeenLog(), false, false)
        self.scan = scan
        try store.writers.edits.follow(scan)
        try store.writers.joins.beginPage(scan.scope)
        let log = try scan.isListing ? store.writers.scans.log(of: scan.scope) : nil
        notesSeen = log != nil
        batches = notesSeen ? store.memories?.memory(of: scan.scope).map { PageBatches($0) } : nil
        greatestBefore = log?.greatest ?? Int64.min
        guard notesSeen, let parent = scan.parent else { return }
        let toOne = store.model.entities[scan.entity].toOne[parent.relationship]
        try store.writers.entityWriters(scan.entity).watched = toOne.firstField..<toOne.firstField + toOne.fieldCount
    }

    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        let remover = try store.writers.remover
        for (index, object) in objects.enumerated() {
            let counts = try remover.remove(entity: object.entity, key: object.values)
            guard !counts.isEmpty else { continue }
            noteDeleted(counts)
            batches?.forgetAll()
            deleted(index, counts)
        }
    }

    func markSkipped(_ rows: [SkippedRows]) throws {
        guard notesSeen, let scan else { return }
        for row in try store.writers.sweep.rows(rows, of: scan.entity) { seen.append(row) }
    }

    func markSkipped(entity: Int, key: [StoredValue]) throws {
        guard notesSeen else { return }
        let root = store.model.entities[entity].root
        if let row = try store.writers.rowEditors.row(of: root, key) { seen.append(row) }
    }

    func skipUnknown() throws {
        if notesSeen { seen.appendUnknown() }
    }

    /// Deletes the rows that an interrupted scan listed for an entity without a key, and forgets the saved position.
    func takeBack(_ scope: ScanScope, of entity: Int) throws -> Int {
        let writers = try store.writers
        let editor = writers.rowEditors(store.model.entities[entity].root)
        var count = 0
        for row in try writers.scans.savedRows(of: scope) {
            let key = [StoredValue.integer(row)]
            guard let values = try editor.row(key) else { continue }
            try editor.delete(key, values)
            count += 1
        }
        _ = try writers.scans.save(scope, nil, rows: SeenLog(), isOptional: false)
        if count > 0 { noteDeleted([entity: count]) }
        return count
    }

    func repeatBatch(_ digest: BatchDigest) throws -> Bool {
        guard let scan, try !hasEdits(scan.entity), let rows = batches?.repeats(digest) else { return false }
        seen.append(rows)
        return true
    }

    func rememberBatch(_ batch: (digest: BatchDigest, summary: BatchSummary)?) throws {
        guard batches != nil, let scan else { return }
        // What an edit makes of a batch depends on when the remote took the edit.
        batches?.end(try hasEdits(scan.entity) ? nil : batch)
    }

    private func hasEdits(_ entity: Int) throws -> Bool {
        try store.writers.editCounts(of: store.model.entities[entity].root).isAny
    }

    func listedRows() throws -> ListedRows? {
        guard let scan, var log = try store.writers.scans.log(of: scan.scope) else { return nil }
        log.append(seen)
        let distinct = log.hasUnknown ? nil : log.distinctCount
        return ListedRows(
            count: log.count, distinct: distinct, repeated: log.repeatedRows.count,
            repeatedOnPage: distinct.map { $0 < log.count } ?? false ? log.repeatedOnPage : 0)
    }

    func unconfirmedRows() throws -> Int {
        let writers = try store.writers
        guard let scan, var log = writers.scans.log(of: scan.scope) else { return 0 }
        log.append(seen)
        return try writers.sweep.unconfirmedCount(scan, log)
    }

    func finish(_ end: ScanEnd) throws -> SweepResult {
        guard let scan else { return SweepResult() }
        sweeps = end.sweep != nil
        let writers = try store.writers
        var result = SweepResult()
        let relinked = try settleLists(of: scan.scope)
        var log = writers.scans.log(of: scan.scope)
        log?.append(seen)
        let repeated = try log.flatMap { try writers.sweep.repeated(in: $0, of: scan) }
        let step = try SweepStep(end, hasUnknown: log?.hasUnknown) {
            try log.map { try writers.sweep.note(scan, $0) } ?? 0
        }
        var isSettled = true
        if let log, let rule = end.sweep {
            switch step {
            case .none: break
            case .isUncertain: result.isUncertain = true
            case .waitsForSecondListing(let count): result.unconfirmed = count
            case .waitsForParents: isSettled = try !writers.sweep.wait(scan, log, end.cursor, rule.listing)
            case .sweeps:
                result = try writers.sweep.sweep(scan, log, rule)
                isSettled = result.held == nil
            }
        }
        if let repeated, end.defersSweep {
            writers.sweep.note(repeated, of: scan)
        } else if result.unconfirmed == 0 {
            result.repeated = repeated
        }
        if step.savesCursor(of: end, isSettled: isSettled), let cursor = end.cursor {
            try writers.cursors.save(cursor, of: scan.scope, followsStored: end.followsCursor)
        }
        if !end.defersSweep { try settleOrphans(ofScan: scan.scope.entity, &result) }
        noteDeleted(result.deleted)
        result.relinked = relinked
        return result
    }

    /// Writes the lists that waited for the end of the scan; returns how many changed, by entity.
    private func settleLists(of scope: ScanScope) throws -> [Int: Int] {
        let writers = try store.writers
        var counts: [Int: Int] = [:]
        try writers.joins.settle(scope) { list, isFurtherPart in
            let layout = store.model.entities[list.entity]
            guard try writers.rowEditors.row(of: layout.index, list.owner) != nil,
                try !writers.stubs.contains(layout.name, .key(list.owner)),
                let index = layout.toMany.firstIndex(where: { $0.name == list.relationship })
            else { return }
            let target = store.model.entities[layout.toMany[index].target]
            if case .inverse = layout.toMany[index].storage {
            } else {
                for key in list.listed { try ensure(key, of: target) }
            }
            guard try writers.linkMergers(layout.index, index).settle(list, isFurtherPart: isFurtherPart) else {
                return
            }
            counts[layout.index, default: 0] += 1
            hasWritten = true
            touched[layout.index] = true
            touched[target.index] = true
            if due.concerns(layout.index) { due.note(layout.index, list.owner, writtenBy: scope) }
        }
        return counts
    }

    /// Adds a stub if the target of a waiting list was deleted meanwhile.
    private func ensure(_ key: [StoredValue], of entity: EntityLayout) throws {
        let editor = try store.writers.rowEditors(entity.root)
        guard try store.writers.rowEditors.row(of: entity.root, key) == nil else { return }
        let kind = editor.layout.discriminator.map { field in
            (name: editor.layout.fields[field].name, value: StoredValue.text(entity.name))
        }
        try editor.insert(key, kind.map { [$0] } ?? [], isStub: true)
        touched[entity.root] = true
    }

    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        let writers = try store.writers
        var result = try writers.sweep.sweepParents(of: entity, rule)
        try settleOrphans(ofScan: store.model.entities[entity].name, &result)
        noteDeleted(result.deleted)
        return result
    }

    /// Deletes the orphans of a scan, and adds them and the rows that stay to its result.
    private func settleOrphans(ofScan scan: String, _ result: inout SweepResult) throws {
        let remover = try store.writers.remover
        result.deleted.merge(try remover.settleOrphans(ofScan: scan), uniquingKeysWith: +)
        result.kept = remover.takeKept(ofScan: scan)
    }

    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        hasWritten = true
        // A scan that begins after this check queries the remote after the remote accepted the edit.
        let isScanned = !store.isRehearsal && FileLock.holder(of: store.path) != nil
        try store.writers.edits.acknowledge(entry, key: key, isScanned: isScanned)
    }

    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        let writers = try store.writers
        for (index, reference) in references.enumerated() {
            let kind = store.model.entities[reference.entity].name
            guard try writers.entityWriters(reference.entity).ensure(reference.key, kind: kind) else { continue }
            touched[reference.entity] = true
            created(index)
        }
    }

    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        let mergers = try store.writers.linkMergers
        for (index, list) in lists.enumerated() {
            let layout = store.model.entities[list.entity]
            let owner = layout.key.map { list.owner[$0].value ?? .null }
            if list.yieldsToListing, try store.writers.entityWriters(list.entity).isListed(list.owner) {
                try mergers(list.entity, list.relationship).leave(list.targets)
                continue
            }
            guard try mergers(list.entity, list.relationship).merge(owner: owner, targets: list.targets) else {
                continue
            }
            hasWritten = true
            touched[list.entity] = true
            touched[layout.toMany[list.relationship].target] = true
            batches?.forgetAll()
            if due.concerns(list.entity) { due.note(list.entity, owner, writtenBy: scan?.scope) }
            changed(index)
        }
    }

    func quarantine(_ record: QuarantinedRecord) throws {
        hasWritten = true
        try store.writers.quarantine.write(record)
    }

    func mayHaveQuarantined(_ entity: Int) throws -> Bool {
        try store.writers.quarantine.mayHave(store.model.entities[entity].name)
    }

    func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) throws {
        for entity in entities {
            let name = store.model.entities[entity].name
            if try store.writers.quarantine.release(keys, of: name, from: source) { hasWritten = true }
        }
    }

    func noteUnknownField(_ field: UnknownField) throws {
        if try store.writers.unknownFields.note(store.model.entities[field.entity].name, field.path) {
            hasWritten = true
        }
    }

    func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws {
        for member in members {
            let entity = store.model.entities[member.entity].name
            if try store.writers.members.note(member, of: entity, in: listing) { hasWritten = true }
        }
    }

    func members(ofListing entity: Int) throws -> Set<ListedMember> {
        try store.writers.members.members(ofListing: entity, in: store.model)
    }

    func saveProgress(_ scope: ScanScope, progress: ScanProgress?) throws {
        let writers = try store.writers
        let isLarge = writers.joins.isLarge(scope)
        let saving = try writers.scans.save(scope, progress, rows: seen, isOptional: !hasWritten && !isLarge)
        savedLog = saving != .nothing
        guard let progress else {
            // They are already settled at the end of a scan.
            if isLarge { try saveLists(scope, page: nil) }
            return
        }
        if saving == .place { try saveLists(scope, page: progress.page) }
    }

    private func saveLists(_ scope: ScanScope, page: Int?) throws {
        try store.writers.joins.save(scope, page: page)
        savedLists = true
    }

    func commit() throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        try SQLiteStore.translating("committing a page") {
            try store.writer.writeWithoutTransaction { db in
                for (scan, parents) in due.take() {
                    _ = try store.writers.cursors.forgetStates(ofParents: parents, in: scan)
                }
                for root in try store.writers.abandonedRemover.settle() { touched[root] = true }
                for root in try store.writers.objects.touched { touched[root] = true }
                try store.writers.changes.keepDropped()
                try store.commitTransaction(db)
                store.noteCommit(of: touchedFamilies, by: batches?.memory, db)
                batches?.commit()
                if sweeps { batches?.memory.end() }
                try store.writers.changes.pageCommitted()
                for page in listed {
                    try store.writers.scans.pageCommitted(page.scan.scope, page.rows, isSaved: page.savedLog)
                    if page.savedLists { try store.writers.joins.noteSaved(page.scan.scope) }
                }
                try store.writers.joins.pageCommitted()
                try store.writers.sweep.pageCommitted()
            }
        }
        isOpen = false
    }

    func rollback() {
        guard isOpen else { return }
        isOpen = false
        // If this fails, SQLite rolls back when the connection closes.
        store.writer.writeWithoutTransaction { db in
            store.takeBack(db)
            for page in listed { try? store.writers.sweep.takeBack(page.scan) }
        }
    }
}
