internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// The scans of a shard, and the parents for which it does them.
///
/// Each scan by parent is divided by the parents' keys, so all shards scan the parents' entities. An entity whose rows
/// come only from such scans is divided itself: its own objects, where they are parents, are not divided once more. What
/// remains is listings: each belongs to one shard.
struct ShardPlan: Sendable {
    let shard: SyncShard
    private let model: CompiledModel
    /// The roots whose rows come only from scans by parent, so that each shard has some of them.
    private let divided: Set<Int>
    /// The other roots whose rows are parents of scans, so that each shard needs all of them.
    private let needed: Set<Int>

    /// What a shard does of a scan.
    enum Part: Sendable {
        case nothing
        case everything
        /// Only the parents that it owns.
        case ownParents
    }

    /// A scan of an entity, as far as the division depends on it.
    private struct Scan {
        let entity: Int
        let root: Int
        /// The root of the parents; nil for a listing, and for the own objects of a tree.
        var parent: Int?
        /// Whether the parents are the entity's own objects, which the scan only completes.
        var completes = false
    }

    /// Divides the scans of a model.
    ///
    /// - Throws: ``StoreError`` of the code `request` for a model that cannot be divided.
    init(_ shard: SyncShard, _ model: CompiledModel) throws {
        self.shard = shard
        self.model = model
        let scans = model.entities.indices.flatMap { Self.scans(of: $0, model) }
        var listed: Set<Int> = []
        for scan in scans where scan.parent == nil { listed.insert(scan.root) }
        let divided = Set(scans.compactMap { $0.parent != nil && !$0.completes ? $0.root : nil }).subtracting(listed)
        let needed = Set(scans.compactMap(\.parent)).subtracting(divided)
        self.divided = divided
        self.needed = needed
        for root in needed where !scans.contains(where: { $0.root == root }) {
            throw Self.refusal(
                model, root, "its objects come only nested in other records, so not every shard would have them")
        }
        for scan in scans where listed.contains(scan.root) && !scan.completes {
            guard let parent = scan.parent, divided.contains(parent) else { continue }
            let isTree = model.model.isTree(model.model.entities[scan.entity])
            guard isTree || needed.contains(scan.root) else { continue }
            throw Self.refusal(
                model, scan.root,
                "some of its objects are scanned by parents that are divided, so no shard would have all of them")
        }
    }

    private static func refusal(_ model: CompiledModel, _ root: Int, _ reason: String) -> StoreError {
        StoreError(
            .request, "--shard cannot divide the scans by \(model.entities[root].name): \(reason)",
            remedy: "sync without --shard, or use `bmo work` with PostgreSQL")
    }

    private static func scans(of index: Int, _ model: CompiledModel) -> [Scan] {
        let entity = model.model.entities[index]
        guard entity.isScanned else { return [] }
        return ([nil] + entity.sources).map { scan(of: index, $0, model) }
    }

    private static func scan(of index: Int, _ source: EntitySource?, _ model: CompiledModel) -> Scan {
        let entity = model.model.entities[index]
        let layout = model.entities[index]
        var scan = Scan(entity: index, root: layout.root)
        guard let parent = source == nil ? entity.parent : source?.parent else { return scan }
        guard let name = parent.relationship else {
            scan.parent = layout.root
            scan.completes = true
            return scan
        }
        // A tree's parents are its own objects, which are not known in advance.
        let target = layout.toOne.first { $0.name == name }.map { model.entities[$0.target].root }
        if let target, target != layout.root { scan.parent = target }
        return scan
    }

    /// Returns what the shard does of a scan.
    func part(of index: Int, _ source: EntitySource?) -> Part {
        let scan = Self.scan(of: index, source, model)
        let isOwned = needed.contains(scan.root) || shard.owns(model.entities[scan.root].name)
        guard let parent = scan.parent, !isTree(index) || scan.completes else {
            return isOwned ? .everything : .nothing
        }
        // The shard has only some of the parents anyway.
        if divided.contains(parent) { return .everything }
        // All shards need all that the scan brings.
        if !scan.completes, needed.contains(scan.root) { return .everything }
        return .ownParents
    }

    private func isTree(_ index: Int) -> Bool { model.model.isTree(model.model.entities[index]) }

    /// Whether a shard has some of an entity's scans.
    func scans(_ index: Int) -> Bool {
        let entity = model.model.entities[index]
        return ([nil] + entity.sources).contains { part(of: index, $0) != .nothing }
    }
}

extension Workspace {
    /// Checks that a database has the rows of this shard, or none yet.
    ///
    /// The rows of another one are under parents that this one never scans: an object that moved from one to the other
    /// would be deleted.
    ///
    /// - Throws: ``StoreError`` of the code `request`.
    func check(_ shard: SyncShard, in store: any Store) throws {
        let runs = try store.runs(limit: 1000)
        guard let last = runs.lazy.filter({ $0.kind == "sync" }).compactMap(\.summary).first else { return }
        let batch = try? JSONParser.batch(last)
        let earlier = batch.flatMap { batch in
            withExtendedLifetime(batch) { batch.count == 1 ? batch[0]["shard"]?.text : nil }
        }
        guard earlier != shard.description else { return }
        throw StoreError(
            .request,
            "the database has the rows of a sync \(earlier.map { "with --shard \($0)" } ?? "without --shard"), not of "
                + "--shard \(shard)",
            remedy: "give each shard a database of its own; to change their number, begin with empty databases")
    }
}
