import BMO
import BridgeKit
import Foundation
import ImportTestSupport
import Logging
import RecordBatch
import StoreContract
import StoreTestSupport
import Synchronization
import TestSupport

/// A remote of one test's own, in this process: records by entity, a log of what was asked, and faults.
final class World: Sendable {
    struct State {
        var records: [String: [Literal]] = [:]
        var requests: [String] = []
        /// Thrown by the next fetches, one each.
        var faults: [BridgeError] = []
        /// Whether pages from this one on wait until they are let go.
        var heldFrom: Int?
        var pageSize = 10
        var isComplete = true
        /// Whether a held page has brought its first records when it is held.
        var holdsInside = false
        var metadata: [String: String] = [:]
        /// How many fetches are open now, and were at most.
        var open = 0
        var maxOpen = 0
        /// Fetches that wait.
        var held = 0
    }

    private static let all = Mutex<[String: World]>([:])

    let name = UUID().uuidString
    /// The database, in the store of the suite or SQLite.
    private let place: StorePlace
    private let content = Mutex(State())

    init() throws {
        place = try StorePlace(.current, name: "world.sqlite")
        Self.all.withLock { $0[name] = self }
    }

    static func named(_ name: String) -> World? { all.withLock { $0[name] } }

    func forget() { Self.all.withLock { $0[name] = nil } }

    var state: State { content.withLock { $0 } }
    @discardableResult
    func change<Result>(_ body: (inout sending State) -> sending Result) -> sending Result { content.withLock(body) }

    /// What was asked since the last call.
    func takeRequests() -> [String] {
        content.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    var database: String { place.location }
    var stores: any StoreProvider { place.stores }

    /// Countries with cities in them, and what a value of each type is.
    func definition(plugin: String = "world") -> ModelDefinition {
        ModelDefinition(
            database: database, bridges: ["world": .plugin(plugin, options: ["name": .string(name)])],
            entities: [
                EntityDefinition(
                    "Country", bridge: "world", key: "code",
                    attributes: [
                        "code": .text, "name": .text, "population": .integer, "area": .decimal, "share": .real,
                        "member": .boolean, "founded": .timestamp, "day": .date, "flag": .data, "facts": .json,
                        "site": .url, "number": .uuid,
                    ],
                    relationships: ["cities": .many("City", inverse: "country"), "capital": .one("City")]),
                EntityDefinition(
                    "City", bridge: "world", key: "id", attributes: ["id": .integer, "name": .text],
                    relationships: ["country": .one("Country")]),
            ])
    }

    /// A manager over the world's database.
    func manager(_ options: RequestManager.Options = RequestManager.Options()) async throws -> RequestManager {
        try await RequestManager(
            definition(), stores: stores, bridges: [BridgeExport(WorldBridge.self)], options: options)
    }

    static func country(_ code: String, _ name: String, _ population: Int64, _ more: (String, Literal)...)
        -> Literal
    {
        .object(
            [("code", .text(code)), ("name", .text(name)), ("population", .integer(population))]
                + more.map { (key: $0.0, value: $0.1) })
    }

    /// So many countries: `C001`, ...
    static func countries(_ count: Int) -> [Literal] {
        (1...count).map { number in
            let digits = String(number)
            let code = "C" + String(repeating: "0", count: 3 - digits.count) + digits
            return country(code, "Country \(number)", Int64(number))
        }
    }
}

/// Brings what a ``World`` has.
final class WorldBridge: Bridge {
    class var descriptor: BridgeDescriptor {
        BridgeDescriptor(
            name: "world", version: "1.0", summary: "Brings what a test says", optionsSchema: "", entitySchema: "",
            isConcurrent: true, capabilities: [.fetch, .resume, .filter, .plan])
    }

    private let world: World

    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let world = options.string("name").flatMap(World.named) else {
            throw BridgeError(.configuration, "there is no such world")
        }
        self.world = world
    }

    func fetch(_ request: BridgeKit.FetchRequest) throws -> any RecordSource {
        if request.explains { return WorldPlan(request) }
        let filters = request.filters.map { "\($0.attribute)\($0.comparison.rawValue)\($0.value ?? "null")" }
        let fault = world.change { state -> BridgeError? in
            let words = [request.entity] + filters + [request.cursor.map { "from \($0)" } ?? ""]
            state.requests.append(words.filter { !$0.isEmpty }.joined(separator: " "))
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        if let fault { throw fault }
        return try WorldSource(request, world)
    }
}

/// Says what would be asked: the world sorts out by equality alone.
private final class WorldPlan: RecordSource {
    private let pushed: [Int]

    init(_ request: BridgeKit.FetchRequest) {
        pushed = request.filters.indices.filter { request.filters[$0].comparison == .equal }
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        var page = Page(isPageEnd: true, isEnd: true)
        page.pushed = pushed
        return page
    }

    func cancel() {}
}

private final class WorldSource: RecordSource {
    private let world: World
    private let records: [Literal]
    private var offset: Int
    private let pageSize: Int
    private let pushed: [Int]
    private let isCancelled = Mutex(false)
    private var isInside = false

    init(_ request: BridgeKit.FetchRequest, _ world: World) throws {
        self.world = world
        offset = request.cursor.flatMap { Int($0) } ?? 0
        let state = world.state
        pageSize = request.pageSize ?? state.pageSize
        pushed = request.filters.indices.filter { request.filters[$0].comparison == .equal }
        let wanted = pushed.map { request.filters[$0] }
        records = (state.records[request.entity] ?? []).filter { record in
            guard case .object(let members) = record else { return true }
            return wanted.allSatisfy { filter in
                members.contains { $0.key == filter.path && $0.value.plainText == filter.value }
            }
        }
        world.change { state in
            state.open += 1
            state.maxOpen = max(state.maxOpen, state.open)
        }
    }

    deinit { world.change { $0.open -= 1 } }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let page = offset / max(1, pageSize)
        if let held = world.state.heldFrom, page >= held {
            if world.state.holdsInside, !isInside {
                isInside = true
                let batch = try Literal.batch([records[offset]])
                writer.copy(batch[0])
                withExtendedLifetime(batch) {}
                offset += 1
                return Page(isPageEnd: false, isEnd: false)
            }
            world.change { $0.held += 1 }
            defer { world.change { $0.held -= 1 } }
            while world.state.heldFrom.map({ page >= $0 }) == true {
                if isCancelled.withLock({ $0 }) { throw BridgeError(.cancelled, "cancelled") }
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
        let end = min(records.count, offset + pageSize)
        if offset < end {
            let batch = try Literal.batch(Array(records[offset..<end]))
            for index in 0..<batch.count { writer.copy(batch[index]) }
            withExtendedLifetime(batch) {}
        }
        offset = end
        let isEnd = end >= records.count
        var answer = Page(
            cursor: isEnd ? nil : String(end), isPageEnd: true, isEnd: isEnd,
            isComplete: isEnd && world.state.isComplete, total: Int64(records.count), location: "world:/\(page)",
            metadata: world.state.metadata)
        answer.pushed = pushed
        return answer
    }

    func cancel() { isCancelled.withLock { $0 = true } }
}

extension Literal {
    fileprivate var plainText: String? {
        switch self {
        case .text(let text), .decimal(let text): text
        case .integer(let value): String(value)
        case .bool(let value): String(value)
        default: nil
        }
    }
}
