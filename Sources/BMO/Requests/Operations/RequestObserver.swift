internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// Follows the pages of one request: reports its events and collects the changes of each page.
///
/// It is called on the import thread, while its page has exclusive use of the store: changes between two calls belong
/// to the page.
final class RequestObserver: PageObserver {
    private struct State {
        var result = FetchResult()
        var before: Int64 = 0
        var room: Int
        var step = RequestStep.translating
        var failure: (any Error)?
        var related = RelatedList()
        /// The warnings about metadata, each reported once.
        var told: Set<String> = []
    }

    private let state: Mutex<State>
    private let store: any Store
    private let reader: ObjectReader
    private let report: @Sendable (RequestEvent) -> Void
    private let metadata: NestedMetadata.Room

    /// Creates an observer of one request.
    ///
    /// - Parameters:
    ///   - limit: How many objects the result lists individually.
    ///   - metadata: How much the result keeps of what records say about their lists; by default of `limit` lists.
    init(
        store: any Store, reader: ObjectReader, limit: Int, metadata: NestedMetadata.Room? = nil,
        report: @escaping @Sendable (RequestEvent) -> Void
    ) {
        self.store = store
        self.reader = reader
        self.report = report
        self.metadata = metadata ?? NestedMetadata.Room(lists: limit, bytes: RelatedList.maxSize)
        state = Mutex(State(room: limit))
    }

    /// The result of the pages so far.
    var result: FetchResult {
        state.withLock { state in
            var result = state.result
            result.related = state.related.statements
            return result
        }
    }
    /// The request's current step.
    var step: RequestStep { state.withLock { $0.step } }
    /// How many new objects of the next page the result may list individually.
    var roomForInsertions: Int { state.withLock { $0.room } }

    /// How much of what the next page says about lists the result may keep.
    var roomForMetadata: NestedMetadata.Room {
        let (count, size) = state.withLock { ($0.related.statements.count, $0.related.size) }
        return NestedMetadata.Room(lists: max(0, metadata.lists - count), bytes: max(0, metadata.bytes - size))
    }

    /// Changes the result.
    func change(_ body: (inout FetchResult) -> Void) { state.withLock { body(&$0.result) } }

    func translated(_ plan: RemotePlan) {
        state.withLock { $0.step = .translating }
        report(.translated(plan))
    }

    func contacting(_ bridge: String) {
        state.withLock { $0.step = .contacting }
        report(.contacting(bridge: bridge))
    }

    func warn(_ words: String) {
        state.withLock { if $0.result.warnings.count < 100 { $0.result.warnings.append(words) } }
        report(.warning(words))
    }

    func received(page: Int, records: Int) {
        state.withLock { $0.step = .representing }
        report(.received(page: page, records: records))
        state.withLock { $0.step = .importing }
    }

    func pageBegins() {
        let before = (try? store.newestChange()) ?? .max
        state.withLock { $0.before = before }
    }

    /// Records the changes of a committed page.
    func committed(_ page: PageImport, number: Int, _ info: PageInfo) {
        let metadata = PageMetadata(total: info.total, location: info.location, json: info.metadata)
        state.withLock { state in
            state.step = .contacting
            state.result.pageCount += 1
            if metadata.total != nil || metadata.json != nil || metadata.location != nil {
                state.result.metadata = metadata
            }
            state.result.isComplete = info.end && info.complete
            for insertion in page.insertions { state.result.inserted.append(id(insertion.entity, insertion.key)) }
            state.room -= page.insertions.count
        }
        keepCounts(page.counts)
        keep(page.listMetadata)
        collect()
        report(.imported(page: number, metadata: metadata))
    }

    /// Records the changes since the last page began; a scan's end may have made some after the last page.
    func collect() {
        let (before, room) = state.withLock { ($0.before, $0.room) }
        guard before < .max else { return }
        let changes: [RowChange]
        do {
            changes = try store.changes(after: before, limit: room + 1)
        } catch {
            // The page is committed; only the list of its changes is missing.
            state.withLock { $0.result.isTruncated = true }
            return
        }
        pageBegins()
        state.withLock { state in for change in changes { add(change, to: &state) } }
    }

    private func add(_ change: RowChange, to state: inout State) {
        guard let index = reader.model.index(of: change.entity) else { return }
        let object = id(index, change.key)
        // The pages report insertions.
        if [.inserted, .stubbed, .loaded].contains(change.kind) { return }
        guard state.room > 0 else {
            state.result.isTruncated = true
            return
        }
        state.room -= 1
        switch change.kind {
        case .deleted: state.result.deleted.append(object)
        default:
            let layout = reader.model.entities[reader.model.entities[index].root]
            let columns = change.columns.map { column in
                let type = layout.fields.first { $0.name == column.name }?.type ?? .text
                return FetchResult.PropertyChange(
                    name: column.name, old: column.old.map { LocalValue($0, as: type) },
                    new: column.new.map { LocalValue($0, as: type) })
            }
            let links = change.links.map { FetchResult.PropertyChange(name: $0.relationship, old: nil, new: nil) }
            let names = Set(columns.map(\.name))
            let properties = columns + links.filter { !names.contains($0.name) }
            if let known = state.result.updated.firstIndex(where: { $0.id == object }) {
                state.result.updated[known].properties += properties
            } else {
                state.result.updated.append(FetchResult.Update(id: object, properties: properties))
            }
        }
    }

    /// Keeps what records say about their lists.
    private func keep(_ said: NestedMetadata) {
        guard !said.statements.isEmpty || !said.omitted.isEmpty || said.isTruncated else { return }
        var warnings = said.omitted.map {
            "\($0) of the metadata has more than \(MixedPage.ListMetadata.maxSize) bytes, and is left out"
        }
        if said.isTruncated {
            warnings.append(
                "the metadata of some lists is left out: a result has that of as many lists as detailLimit says, and "
                    + "\(RelatedList.maxSize >> 20) MiB of it")
        }
        let news = state.withLock { state in
            for statement in said.statements {
                state.related.add(
                    FetchResult.Related(
                        relationship: statement.path, owner: id(statement.entity, statement.key),
                        metadata: PageMetadata(values: statement.values)))
            }
            if said.isTruncated { state.result.isTruncated = true }
            return warnings.filter { state.told.insert($0).inserted }
        }
        for warning in news { warn(warning) }
    }

    private func keepCounts(_ counts: ImportCounts) {
        state.withLock { state in
            for (index, entity) in reader.model.model.entities.enumerated()
            where counts[index] != ImportCounts.Entity() {
                var sum = ImportCounts(entityCount: 1)
                sum[0] = state.result.counts[entity.name] ?? ImportCounts.Entity()
                var page = ImportCounts(entityCount: 1)
                page[0] = counts[index]
                sum += page
                state.result.counts[entity.name] = sum[0]
            }
            let told = state.result.inserted.count
            let all = state.result.counts.values.reduce(0) { $0 + $1.inserted }
            if all > told { state.result.isTruncated = true }
        }
    }

    private func id(_ entity: Int, _ key: [StoredValue]) -> ObjectID {
        let layout = reader.model.entities[entity]
        let types = layout.key.map { layout.fields[$0].type }
        return ObjectID(
            entity: reader.model.entities[layout.root].name,
            key: key.enumerated().map { LocalValue($1, as: types.indices.contains($0) ? types[$0] : .integer) })
    }
}
