import BMO
import BridgeTestSupport
import Foundation
import ImportTestSupport
import Mapping
import StoreContract
import StoreTestSupport
import SystemCalls
import TestSupport
import Testing

/// The transactions of a walk by parent, which several parents' pages share while the store is slow.
@Suite(.overBothStores, .namingTheStore) struct ParentGroupTests {
    private let transactions = TransactionCount()

    /// A workspace of 40 people with two children each, over a slow store.
    private func workspace(
        _ place: LibraryWorkspace<CountingHost>, key: String = "key: id", fault: TransactionFault? = nil
    ) async throws -> Workspace {
        try place.say("count 40", about: "people")
        try place.say("count 2", about: "children")
        try place.folder.write(
            """
            version: 1
            bridges:
              numbers: {plugin: counting}
            entities:
              Child:
                bridge: numbers
                \(key)
                attributes: {id: integer, name: text}
                relationships: {owner: {to: Person}}
                parent: {relationship: owner, concurrency: 8}
                counting: {world: "\(place.folder.appending("children"))", page_size: 10}
              Person:
                bridge: numbers
                key: id
                attributes: {id: integer, name: text}
                counting: {world: "\(place.folder.appending("people"))", page_size: 100}
            """, to: "bmo.yml")
        let (base, transactions) = (place.stores, transactions)
        let stores = WrappedStores(base) { location, model, use in
            SlowStore(try base.open(location, model: model, for: use), transactions, fault)
        }
        return try await Workspace.load(
            path: place.folder.appending("bmo.yml"), host: place.server.host, stores: stores)
    }

    private let all = (0..<40).map { "\($0 * 1000):\($0) \($0 * 1000 + 1):\($0)" }.joined(separator: " ")

    private func children(_ place: LibraryWorkspace<CountingHost>) throws -> String {
        try place.file().value("SELECT group_concat(id || ':' || owner, ' ') FROM (SELECT * FROM Child ORDER BY id)")
    }

    @Test func `pages that wait share a transaction`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place)
        #expect(try await place.sync(workspace).text == "Child finished, 40 pages +80\nPerson finished, 1 pages +40")
        #expect(try children(place) == "'\(all)'")
        // One of the people, one of the first parent, and one at the end.
        #expect(transactions.scans.reduce(0, +) == 41)
        #expect(transactions.scans.count < 25, "\(transactions.scans)")
        let before = try place.stored()
        #expect(try await place.sync(workspace).text == "Child finished, 40 pages =80\nPerson finished, 1 pages =40")
        #expect(try place.stored() == before, "nothing changed, nothing is written")
        try place.say("count 2", (10..<20).map { "gone \($0 * 1000)" }.joined(separator: "\n"), about: "children")
        #expect(
            try await place.sync(workspace).text == "Child finished, 40 pages =70 -10\nPerson finished, 1 pages =40")
    }

    @Test func `a page that fails in a shared transaction concerns its parent only`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, fault: .refuses(20_001))
        let report = try await place.sync(workspace)
        let parents = try #require(report.entities[0].parents)
        #expect(parents.scanned == 39 && parents.failures.map(\.parent) == ["[20]"])
        #expect(report.failure(of: "Child")?.message.hasSuffix("the first is [20]: the row is refused") == true)
        #expect(try children(place) == "'\(all.replacing(" 20000:20 20001:20", with: ""))'")
        #expect(report.entities[0].counts.inserted == 78)
    }

    @Test func `a transaction that may have been committed is not repeated`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, key: "unique: none", fault: .losesCommit)
        let report = try await place.sync(workspace)
        let failed = try #require(report.entities[0].parents?.failed)
        #expect(failed > 1 && failed == transactions.lost, "all parents of the transaction")
        #expect(report.failure(of: "Child")?.message.hasSuffix("the connection was lost") == true)
        #expect(try children(place) == "'\(all)'", "each row is there once")
    }

    @Test func `a store that is gone is not asked for each page`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, fault: .isGone(after: 2))
        let report = try await place.sync(workspace)
        #expect(report.failure(of: "Child")?.message.contains("the disk is gone") == true)
        // Each transaction fails with all its pages, and then the first of these alone; ten in a row end the walk.
        #expect(transactions.attempts < 2 + 3 * 12, "\(transactions.attempts)")
    }

    @Test(.timeLimit(.minutes(2))) func `a walk that is cancelled ends`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await workspace(place, fault: .isSlow)
        let sync = Task { try await place.sync(workspace) }
        // The people, and the first of them alone.
        while transactions.scans.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        sync.cancel()
        let report = try await sync.value
        #expect(report.wasInterrupted && report.text.hasPrefix("Child interrupted"), "\(report.text)")
        #expect(try await place.sync(workspace).text.hasPrefix("Child finished, 40 pages"), "the next one has them all")
        #expect(try children(place) == "'\(all)'")
    }
}

/// What the pages of ``SlowStore`` do wrong.
private enum TransactionFault: Sendable {
    /// They refuse the row with this ID.
    case refuses(Int64)
    /// The first commit of several scans succeeds, and says that it failed.
    case losesCommit
    /// Their commits take half a second.
    case isSlow
    /// They cannot be committed after a number of them.
    case isGone(after: Int)
}

/// The number of scans of each transaction that was committed.
private final class TransactionCount: Sendable {
    private let state = Mutex((scans: [Int](), lost: 0, attempts: 0))

    /// The number of commits, also of those that failed.
    var attempts: Int { state.withLock { $0.attempts } }

    var scans: [Int] { state.withLock { $0.scans } }
    /// The number of scans whose commit was reported as failed.
    var lost: Int { state.withLock { $0.lost } }

    /// Counts a commit; returns how many there were before.
    func addAttempt() -> Int {
        state.withLock { state in
            defer { state.attempts += 1 }
            return state.attempts
        }
    }

    func add(_ scans: Int) { state.withLock { $0.scans.append(scans) } }

    /// Returns whether the commit of a transaction is the first one of several scans.
    func loses(_ scans: Int) -> Bool {
        state.withLock { state in
            guard scans > 1, state.lost == 0 else { return false }
            state.lost = scans
            return true
        }
    }
}

/// A store whose commits take a while, as over a network.
private final class SlowStore: ForwardingStore, @unchecked Sendable {
    // Constant.
    private let count: TransactionCount
    private let fault: TransactionFault?

    init(_ base: any Store, _ count: TransactionCount, _ fault: TransactionFault?) {
        self.count = count
        self.fault = fault
        super.init(base)
    }

    override func page(_ base: any PageTransaction) -> any PageTransaction { SlowPage(base, count, fault) }
}

private final class SlowPage: ForwardingPage {
    private let count: TransactionCount
    private let fault: TransactionFault?
    private var scans = 0

    init(_ base: any PageTransaction, _ count: TransactionCount, _ fault: TransactionFault?) {
        self.count = count
        self.fault = fault
        super.init(base)
    }

    override func follow(_ scan: ScanTarget) throws {
        scans += 1
        try super.follow(scan)
    }

    override func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        if case .refuses(let id)? = fault, rows.contains(where: { $0.cells[0].value == .integer(id) }) {
            throw StoreError(.internal, "the row is refused")
        }
        try super.merge(rows, outcome: outcome)
    }

    override func commit() throws {
        if case .isSlow? = fault { Thread.sleep(forTimeInterval: 0.5) } else { Thread.sleep(forTimeInterval: 0.03) }
        let before = count.addAttempt()
        if case .isGone(let number)? = fault, before >= number { throw StoreError(.io, "the disk is gone") }
        try super.commit()
        if scans > 0 { count.add(scans) }
        if case .losesCommit? = fault, count.loses(scans) {
            var error = StoreError(.io, "the connection was lost")
            error.mayHaveCommitted = true
            throw error
        }
    }
}
