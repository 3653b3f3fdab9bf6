internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// An entry of the outbox, or an accepted one, as its table has it.
///
/// `changes` has the new values by name, and `base` those before; a list of links is an array of keys.
struct StoredEntry {
    var entry: OutboxEntry
    /// The entity that has the object's table.
    var root: String
    /// The runs that contributed to it.
    var runs: [Int64] = []

    /// The columns that a statement reads and writes, in order.
    static let columns = """
        id, entity, root, key, operation, changes, base, idempotency_key, state, attempts, not_before, created, failure, \
        depends_on, has_temporary_key, may_have_arrived, runs, user_info
        """

    private static let types: [SQLType] = [
        .bigint, .text, .text, .text, .text, .text, .text, .text, .text, .bigint, .text, .text, .text, .text, .boolean,
        .boolean, .text, .text,
    ]

    /// The parameters of a statement that writes all columns.
    static let parameters = types.enumerated().map { $1.parameter($0 + 1) }.joined(separator: ", ")

    init(entry: OutboxEntry, root: String, runs: [Int64] = []) {
        self.entry = entry
        self.root = root
        self.runs = runs
    }

    init(_ result: QueryResult, _ row: Int, _ model: CompiledModel) throws {
        let entity = result.text(row, 1) ?? ""
        let layout = model.index(of: entity).map { model.entities[$0] }
        let key = result.text(row, 3) ?? ""
        root = result.text(row, 2) ?? ""
        runs = Self.integers(result.text(row, 16))
        entry = OutboxEntry(
            id: result.bigint(row, 0) ?? 0, entity: entity,
            key: layout?.key(from: key) ?? JSONText.parts(of: key) ?? [],
            operation: OutboxEntry.Operation(rawValue: result.text(row, 4) ?? "") ?? .update,
            idempotencyKey: result.text(row, 7) ?? "",
            state: OutboxEntry.State(rawValue: result.text(row, 8) ?? "") ?? .unknown,
            attempts: Int(result.bigint(row, 9) ?? 0), notBefore: result.text(row, 10),
            created: result.text(row, 11) ?? "", failure: try result.text(row, 12).map(OutboxFailure.init(json:)),
            dependsOn: Self.integers(result.text(row, 13)), hasTemporaryKey: result.boolean(row, 14),
            mayHaveArrived: result.boolean(row, 15), userInfo: result.text(row, 17))
        try entry.addEdits(new: result.text(row, 5) ?? "{}", base: result.text(row, 6), layout, model)
    }

    private static func integers(_ json: String?) -> [Int64] {
        (JSONText.parts(of: json ?? "[]") ?? []).compactMap { if case .integer(let id) = $0 { id } else { nil } }
    }

    /// The values of ``columns``.
    var values: [SQLParameter] {
        let (new, base) = EditContent.of(entry)
        func json(_ integers: [Int64]) -> String { JSONText.key(integers.map { StoredValue.integer($0) }).string }
        return [
            .bigint(entry.id), .text(entry.entity), .text(root), .text(JSONText.key(entry.key).string),
            .text(entry.operation.rawValue), .text(new.json), .text(base?.json),
            .text(entry.idempotencyKey), .text(entry.state.rawValue), .bigint(Int64(entry.attempts)),
            .text(entry.notBefore), .text(entry.created), .text(entry.failure?.json),
            .text(json(entry.dependsOn.sorted())), .boolean(entry.hasTemporaryKey), .boolean(entry.mayHaveArrived),
            .text(json(runs)), .text(entry.userInfo),
        ]
    }
}

/// The entries of a table as a transaction sees them: all, or those that it has asked for.
struct KnownEntries {
    private struct Object: Hashable {
        let root: String
        let key: RowKey
    }

    /// Whether an entry that is not known does not exist.
    private(set) var isComplete = false
    private var byID: [Int64: StoredEntry] = [:]
    private var missing: Set<Int64> = []
    /// The IDs of the known entries of each object, in order.
    private var ids: [Object: [Int64]] = [:]
    /// The objects whose entries are all known.
    private var objects: Set<Object> = []
    private var waits = EntryWaits()

    var isEmpty: Bool { byID.isEmpty }

    /// The known entries, in order of creation.
    var all: [StoredEntry] { byID.values.sorted { $0.entry.id < $1.entry.id } }

    /// The ID of the newest known entry; 0 without one.
    var newestID: Int64 { byID.keys.max() ?? 0 }

    subscript(id: Int64) -> StoredEntry? { byID[id] }

    /// Returns whether it is known if an entry exists.
    func knows(_ id: Int64) -> Bool { isComplete || byID[id] != nil || missing.contains(id) }

    /// Returns whether all entries of an object are known.
    func knows(_ root: String, _ key: RowKey) -> Bool {
        isComplete || objects.contains(Object(root: root, key: key))
    }

    /// Returns the known entries of an object, in order of creation.
    func entries(_ root: String, _ key: RowKey) -> [StoredEntry] {
        (ids[Object(root: root, key: key)] ?? []).compactMap { byID[$0] }
    }

    /// Returns the known entries that wait for an entry, in order of creation.
    func entries(waitingFor id: Int64) -> [StoredEntry] {
        waits.entries(waitingFor: id).compactMap { byID[$0] }
    }

    // MARK: - What was read

    /// Notes entries as they were read; those that are known stay as they are.
    mutating func note(_ read: [StoredEntry]) {
        for stored in read where !knows(stored.entry.id) { set(stored) }
    }

    /// Notes that there are no other entries of an object than the known ones.
    mutating func noteAll(of root: String, _ key: RowKey) { objects.insert(Object(root: root, key: key)) }

    /// Notes that there are no other entries than these and the known ones.
    mutating func noteAll(_ read: [StoredEntry]) {
        note(read)
        isComplete = true
    }

    // MARK: - Changes

    /// Adds or replaces an entry.
    mutating func set(_ stored: StoredEntry) {
        let id = stored.entry.id
        let object = Object(root: stored.root, key: stored.entry.key)
        if let old = byID.updateValue(stored, forKey: id) {
            let before = Object(root: old.root, key: old.entry.key)
            if before != object { ids[before]?.removeAll { $0 == id } }
        }
        if ids[object]?.contains(id) != true {
            ids[object, default: []].append(id)
            ids[object]?.sort()
        }
        missing.remove(id)
        waits.note(id, waitsFor: stored.entry.dependsOn)
    }

    /// Removes an entry, or notes that there is none with this ID.
    mutating func remove(_ id: Int64) {
        missing.insert(id)
        waits.note(id, waitsFor: [])
        guard let old = byID.removeValue(forKey: id) else { return }
        ids[Object(root: old.root, key: old.entry.key)]?.removeAll { $0 == id }
    }
}
