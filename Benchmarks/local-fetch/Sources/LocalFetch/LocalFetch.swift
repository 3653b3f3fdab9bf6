import BMO
import SQLiteStore
import BridgeKit
import RecordBatch

/// Measures local fetches of an idle database and of one that a million rows are being imported into.
///
///     swift run -c release LocalFetch [ROWS] [DATABASE]
@main
struct LocalFetch {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let rows = arguments.first.flatMap { Int64($0) } ?? 1_000_000
        let definition = ModelDefinition(
            database: arguments.dropFirst().first ?? "local-fetch.sqlite",
            bridges: ["numbers": .plugin("numbers", options: ["rows": .int(rows)])],
            entities: ["Shown", "Number"].map { name in
                EntityDefinition(
                    name, bridge: "numbers", key: "id",
                    attributes: ["id": .integer, "name": .text, "value": .integer],
                    section: ["small": .bool(name == "Shown")])
            })
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(NumberBridge.self)])
        _ = try await manager.fetch(ObjectRequest("Shown")).remote

        let idle = try await measure(manager, for: .seconds(10)) { false }
        let fetch = try await manager.fetch(ObjectRequest("Number"))
        let start = ContinuousClock.now
        let isOver = Flag()
        let load = Task {
            defer { isOver.set() }
            return try await fetch.remote
        }
        let busy = try await measure(manager, for: .seconds(600)) { isOver.value }
        let result = try await load.value
        print("imported \(result.counts["Number"]?.inserted ?? 0) rows in \(ContinuousClock.now - start)")
        print("idle:   \(idle)")
        print("import: \(busy)")
        print("times idle: p50 \(ratio(busy.p50, idle.p50)), p99 \(ratio(busy.p99, idle.p99))")
        try await manager.close()
    }

    struct Latency: CustomStringConvertible {
        let count: Int
        let p50: Duration
        let p99: Duration
        var description: String { "\(count) fetches, p50 \(p50), p99 \(p99)" }
    }

    /// Fetches the same hundred of a thousand objects again and again, with a pause, as a screen would.
    static func measure(
        _ manager: RequestManager, for duration: Duration, until isOver: @Sendable () -> Bool
    ) async throws -> Latency {
        let request = ObjectRequest("Shown", where: Field("value") > 100, sort: ["-value"], limit: 100, type: .never)
        var times: [Duration] = []
        let start = ContinuousClock.now
        while ContinuousClock.now - start < duration, !isOver() {
            let began = ContinuousClock.now
            _ = try await manager.objects(request)
            times.append(ContinuousClock.now - began)
            try await Task.sleep(for: .milliseconds(2))
        }
        times.sort()
        let last = times.count - 1
        return Latency(count: times.count, p50: times[last / 2], p99: times[last * 99 / 100])
    }

    static func ratio(_ one: Duration, _ other: Duration) -> Double { (one / other * 100).rounded() / 100 }
}

/// Set once, by another task.
final class Flag: @unchecked Sendable {
    // An aligned byte that goes from false to true; a late look costs one fetch more.
    private(set) var value = false
    func set() { value = true }
}

/// Brings numbers: a thousand to a small listing, all to the other.
final class NumberBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "numbers", version: "1.0", summary: "Numbers", optionsSchema: "", entitySchema: "", isConcurrent: true,
        capabilities: [.fetch])
    private let rows: Int64

    init(options: BridgeOptions, context: BridgeContext) { rows = Int64(options.integer("rows") ?? 0) }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        Numbers(request.section.bool("small") == true ? 1000 : rows)
    }
}

/// Pages of a thousand.
private final class Numbers: RecordSource {
    private let rows: Int64
    private var next: Int64 = 0

    init(_ rows: Int64) { self.rows = rows }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let end = min(rows, next + 1000)
        while next < end {
            writer.object {
                writer.key("id")
                writer.int64(next)
                writer.member("name", "number \(next)")
                writer.key("value")
                writer.int64(next % 997)
            }
            next += 1
        }
        return Page(isPageEnd: true, isEnd: next >= rows, isComplete: next >= rows)
    }

    func cancel() {}
}
