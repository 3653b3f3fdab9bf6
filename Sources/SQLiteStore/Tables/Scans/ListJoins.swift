internal import StoreContract
internal import StoreRules
internal import Mapping
internal import RecordBatch

/// The parts of lists that scans receive separately, to be joined: tables `bmo_list_owners` and `bmo_waiting_lists`.
///
/// Some remotes split an object's list over two replies (MediaWiki's `continue`). A list that lacks a stored target is
/// not written at once: it waits for the end of its scan, and later parts are added to it. Then the targets that no
/// part has are removed. To distinguish a further part from a list that became shorter, the scan logs the objects whose
/// lists it has seen, in eight bytes each, which are saved with the scan's position.
final class ListJoins {
    /// A list that waits for the end of its scan.
    struct Waiting: Equatable {
        /// The root entity that has the relationship.
        var entity: Int
        var relationship: String
        var owner: [StoredValue]
        /// The number of lists received before it; an earlier list of the same object makes this one a further part.
        var place: Int
        /// The targets received so far, in order.
        var listed: [[StoredValue]]
        /// The stored targets that the list lacks.
        var missing: [[StoredValue]]
        /// The hash that identifies the list in ``Scan``.
        var hash: UInt64
    }

    /// The state of one scan.
    final class Scan {
        let scope: ScanScope
        /// The hashes of lists received and not saved yet.
        fileprivate var owners: [UInt64] = []
        /// The number of hashes saved.
        fileprivate var saved = 0
        /// The waiting lists in memory, which are newer than those saved.
        fileprivate var waiting: [UInt64: Waiting] = [:]
        /// Whether waiting lists are saved.
        fileprivate var hasSavedLists = false
        /// The state at the beginning of the open page.
        fileprivate var before: (owners: Int, waiting: [UInt64: Waiting]) = (0, [:])

        fileprivate init(_ scope: ScanScope) { self.scope = scope }

        /// Notes that an object's list was received; returns the number of lists received before.
        func note(_ hash: UInt64) -> Int {
            owners.append(hash)
            return saved + owners.count - 1
        }

        /// Whether any list is waiting.
        var hasWaiting: Bool { hasSavedLists || !waiting.isEmpty }

        /// Whether the lists in memory should be saved.
        var isLarge: Bool { owners.count > 500_000 || waiting.count > 10_000 }
    }

    private let model: CompiledModel
    private let connection: OpaquePointer?
    private let ownerInsertion: RawStatement
    private let ownerDeletion: RawStatement
    private let ownerSelect: RawStatement
    private let listInsertion: RawStatement
    private let listDeletion: RawStatement
    private let listSelect: RawStatement
    private let listPage: RawStatement
    private let any: RawStatement
    private var scans: [ScanScope: Scan] = [:]
    /// The scan of the open page; nil if it belongs to none.
    private(set) var current: Scan?
    /// The scans that the open transaction has followed.
    private var followed: [Scan] = []

    init(_ model: CompiledModel, on connection: OpaquePointer?) {
        self.model = model
        self.connection = connection
        let scope = "WHERE entity = ? AND source = ? AND parent = ?"
        ownerInsertion = RawStatement(
            "INSERT OR REPLACE INTO bmo_list_owners (entity, source, parent, place, page, owners) "
                + "VALUES (?, ?, ?, ?, ?, ?)", on: connection)
        ownerDeletion = RawStatement("DELETE FROM bmo_list_owners \(scope) AND page > ?", on: connection)
        ownerSelect = RawStatement(
            "SELECT owners FROM bmo_list_owners \(scope) ORDER BY place", on: connection)
        let columns = "hash, root, relationship, owner, place, listed, missing"
        listInsertion = RawStatement(
            "INSERT OR REPLACE INTO bmo_waiting_lists (entity, source, parent, \(columns)) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", on: connection)
        listDeletion = RawStatement("DELETE FROM bmo_waiting_lists \(scope)", on: connection)
        listSelect = RawStatement(
            "SELECT \(columns) FROM bmo_waiting_lists \(scope) AND hash = ?", on: connection)
        listPage = RawStatement(
            "SELECT \(columns) FROM bmo_waiting_lists \(scope) AND hash > ? ORDER BY hash LIMIT \(Self.chunk)",
            on: connection)
        any = RawStatement(
            "SELECT EXISTS (SELECT 1 FROM bmo_waiting_lists \(scope)), "
                + "EXISTS (SELECT 1 FROM bmo_list_owners \(scope))", on: connection)
    }

    /// The number of lists settled at a time.
    private static let chunk = 10_000

    /// Returns the hash that identifies an object's list.
    static func hash(_ relationship: UInt64, _ owner: [StoredValue]) -> UInt64 {
        var hash = relationship
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        for value in owner {
            switch value.form {
            case .null: add(0)
            case .integer(let value): add(UInt64(bitPattern: value))
            case .real(let value): add(value.bitPattern)
            case .text(let value): for byte in value.utf8 { add(UInt64(byte)) }
            case .bytes(let value): for byte in value { add(UInt64(byte)) }
            }
            // A separator between values, greater than any byte.
            add(0x100)
        }
        return hash
    }

    // MARK: - Scans

    /// Begins a scan, or resumes it after a page.
    func begin(_ scope: ScanScope, afterPage page: Int?) throws {
        let scan = Scan(scope)
        let (hasLists, hasOwners) = try isSaved(scope)
        if hasLists || hasOwners {
            if page == nil, hasLists { try delete(listDeletion, scope) }
            if hasOwners {
                ownerDeletion.bind(Int64(page ?? -1), at: 4)
                try delete(ownerDeletion, scope)
                scan.saved = try savedOwners(scope) { _ in }
            }
            scan.hasSavedLists = page != nil && hasLists
        }
        scans[scope] = scan
    }

    func end(_ scope: ScanScope) {
        if current?.scope == scope { current = nil }
        followed.removeAll { $0.scope == scope }
        scans[scope] = nil
    }

    /// Begins a page of a scan; a page whose scan has not begun joins nothing.
    func beginPage(_ scope: ScanScope?) {
        current = scope.flatMap { scans[$0] }
        if let current {
            current.before = (current.owners.count, current.waiting)
            followed.append(current)
        }
    }

    func pageCommitted() { (current, followed) = (nil, []) }

    func pageRolledBack() {
        for scan in followed {
            scan.owners.removeLast(max(0, scan.owners.count - scan.before.owners))
            scan.waiting = scan.before.waiting
        }
        (current, followed) = (nil, [])
    }

    private func isSaved(_ scope: ScanScope) throws -> (lists: Bool, owners: Bool) {
        for (offset, text) in [scope.entity, scope.source, scope.parent].enumerated() {
            any.bind(text, at: Int32(offset + 1))
            any.bind(text, at: Int32(offset + 4))
        }
        _ = try any.step()
        defer { any.reset() }
        return (any.int64(0) != 0, any.int64(1) != 0)
    }

    private func delete(_ statement: RawStatement, _ scope: ScanScope) throws {
        statement.bind(scope)
        try statement.run()
    }

    // MARK: - Lists

    /// Returns the waiting list of an object; nil if there is none.
    func waiting(_ hash: UInt64, _ scan: Scan) throws -> Waiting? {
        if let known = scan.waiting[hash] { return known }
        guard scan.hasSavedLists else { return nil }
        listSelect.bind(scan.scope)
        listSelect.bind(Int64(bitPattern: hash), at: 4)
        defer { listSelect.reset() }
        return try listSelect.step() ? list(listSelect) : nil
    }

    func keep(_ list: Waiting, _ scan: Scan) { scan.waiting[list.hash] = list }

    /// Saves the state in memory, either with the scan's position or because it is large.
    ///
    /// - Parameter page: The page after which the scan may resume; nil if it cannot.
    func save(_ scope: ScanScope, page: Int?) throws {
        guard let scan = scans[scope] else { return }
        if !scan.owners.isEmpty {
            let bytes = scan.owners.withUnsafeBytes { Array($0) }
            ownerInsertion.bind(scope)
            ownerInsertion.bind(Int64(scan.saved), at: 4)
            ownerInsertion.bind(Int64(page ?? .max), at: 5)
            ownerInsertion.bind(StoredValue.bytes(bytes), at: 6)
            try ownerInsertion.run()
        }
        for list in scan.waiting.values { try write(list, scope) }
    }

    /// Marks the state written by ``save(_:page:)`` as saved; call it after the commit.
    func noteSaved(_ scope: ScanScope) {
        guard let scan = scans[scope] else { return }
        scan.saved += scan.owners.count
        scan.owners = []
        scan.hasSavedLists = scan.hasSavedLists || !scan.waiting.isEmpty
        scan.waiting = [:]
    }

    /// Returns whether a scan's state in memory is large enough to be saved.
    func isLarge(_ scope: ScanScope) -> Bool { scans[scope]?.isLarge == true }

    private func write(_ list: Waiting, _ scope: ScanScope) throws {
        func text(_ keys: [[StoredValue]]) -> String {
            "[" + keys.map { JSONText.key($0).string }.joined(separator: ",") + "]"
        }
        listInsertion.bind(scope)
        listInsertion.bind(Int64(bitPattern: list.hash), at: 4)
        listInsertion.bind(model.entities[list.entity].name, at: 5)
        listInsertion.bind(list.relationship, at: 6)
        listInsertion.bind(JSONText.key(list.owner).string, at: 7)
        listInsertion.bind(Int64(list.place), at: 8)
        listInsertion.bind(text(list.listed), at: 9)
        listInsertion.bind(text(list.missing), at: 10)
        try listInsertion.run()
    }

    /// Returns the list in the current row; nil if the model no longer has the relationship.
    private func list(_ select: RawStatement) throws -> Waiting? {
        guard let entity = select.text(1).flatMap(model.index(of:)), let name = select.text(2),
            let owner = select.text(3).flatMap(model.entities[entity].key(from:)),
            let toMany = model.entities[entity].toMany.first(where: { $0.name == name })
        else { return nil }
        let target = model.entities[model.entities[toMany.target].root]
        func keys(_ text: String?) throws -> [[StoredValue]] {
            let batch = try JSONParser.batch(text ?? "[]")
            return withExtendedLifetime(batch) {
                batch[0].elements.map { target.key($0.elements.map(StoredValue.init(stored:))) }
            }
        }
        return Waiting(
            entity: entity, relationship: name, owner: owner, place: Int(select.int64(4)),
            listed: try keys(select.text(5)), missing: try keys(select.text(6)),
            hash: UInt64(bitPattern: select.int64(0)))
    }

    // MARK: - The end of a scan

    /// Passes each waiting list to `body`, with whether the scan listed an earlier part of it, and deletes them all.
    func settle(_ scope: ScanScope, _ body: (Waiting, _ isFurtherPart: Bool) throws -> Void) throws {
        guard let scan = scans[scope] else { return }
        if scan.hasWaiting {
            var lists = scan.waiting.values.sorted { $0.place < $1.place }
            while !lists.isEmpty {
                let chunk = Array(lists.prefix(Self.chunk))
                lists.removeFirst(chunk.count)
                try settle(chunk, scan, body)
            }
            var last = Int64.min
            while scan.hasSavedLists, let (chunk, end) = try savedLists(scan, after: last) {
                last = end
                try settle(chunk.filter { scan.waiting[$0.hash] == nil }, scan, body)
            }
        }
        if scan.hasSavedLists { try delete(listDeletion, scope) }
        if scan.saved > 0 {
            ownerDeletion.bind(Int64(-1), at: 4)
            try delete(ownerDeletion, scope)
        }
    }

    private func savedLists(_ scan: Scan, after last: Int64) throws -> (lists: [Waiting], last: Int64)? {
        listPage.bind(scan.scope)
        listPage.bind(last, at: 4)
        defer { listPage.reset() }
        var lists: [Waiting] = []
        var end: Int64?
        while try listPage.step() {
            end = listPage.int64(0)
            if let list = try list(listPage) { lists.append(list) }
        }
        return end.map { (lists, $0) }
    }

    private func settle(_ lists: [Waiting], _ scan: Scan, _ body: (Waiting, Bool) throws -> Void) throws {
        guard !lists.isEmpty else { return }
        let places = Dictionary(lists.map { ($0.hash, $0.place) }, uniquingKeysWith: min)
        var further: Set<UInt64> = []
        var index = 0
        func look(_ hash: UInt64) {
            if let place = places[hash], index < place { further.insert(hash) }
            index += 1
        }
        if scan.saved > 0 { _ = try savedOwners(scan.scope, look) }
        for hash in scan.owners { look(hash) }
        for list in lists { try body(list, further.contains(list.hash)) }
    }

    /// Passes the saved hashes of lists to `body`; returns their number.
    private func savedOwners(_ scope: ScanScope, _ body: (UInt64) -> Void) throws -> Int {
        ownerSelect.bind(scope)
        defer { ownerSelect.reset() }
        var count = 0
        while try ownerSelect.step() {
            guard case .bytes(let bytes) = ownerSelect.value(0) else { continue }
            bytes.withUnsafeBytes { buffer in
                for offset in stride(from: 0, to: buffer.count - 7, by: 8) {
                    body(buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                }
            }
            count += bytes.count / 8
        }
        return count
    }
}
