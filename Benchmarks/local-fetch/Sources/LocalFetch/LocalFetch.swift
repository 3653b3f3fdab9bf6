import BMO
import BridgeKit
import Foundation
import GRDB
import SQLiteStore

/// Measures the library as a screen meets it - 100 objects of a million, saves, observed objects - beside GRDB alone on the same file.
///
///     swift run -c release LocalFetch [ROWS] [DATABASE]             makes the database, and measures times
///     swift run -c release LocalFetch ROWS DATABASE memory|grdb    measures the memory of observed objects, or of GRDB's
@main
struct LocalFetch {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let rows = arguments.first.flatMap { Int64($0) } ?? 1_000_000
        let path = arguments.dropFirst().first ?? "local-fetch.sqlite"
        let definition = ModelDefinition(
            database: path, bridges: ["numbers": .plugin("numbers", options: ["rows": .int(rows)])],
            entities: ["Number", "Other"].map { name in
                EntityDefinition(
                    name, bridge: "numbers", key: "id",
                    attributes: ["id": .integer, "name": .text, "value": .integer], section: [:],
                    settings: ["writable": true])
            })
        var options = RequestManager.Options()
        options.sendsEdits = false
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(NumberBridge.self)], options: options)
        let plain = try DatabasePool(path: path)
        switch arguments.dropFirst(2).first {
        case "memory": return try await observed(manager, min(rows, 100_000))
        case "grdb": return try await fetched(plain, min(rows, 100_000))
        default: break
        }
        _ = try await manager.fetch(ObjectRequest("Number")).remote

        report("100 of \(rows) objects, idle", try await first(manager, plain, rows) { false })
        let sync = try await manager.fetch(ObjectRequest("Other"))
        let isOver = Flag()
        let load = Task {
            defer { isOver.set() }
            return try await sync.remote
        }
        report("100 of \(rows) objects, while a sync runs", try await first(manager, plain, rows) { isOver.value })
        _ = try await load.value
        report("a save", try await saves(manager, plain, rows))
        try await manager.close()
    }

    struct Number: Codable, FetchableRecord, Sendable {
        var id: Int64
        var name: String?
        var value: Int64?
    }

    /// Fetches a hundred objects from some place of the table, again and again, in turn with GRDB.
    static func first(
        _ manager: RequestManager, _ plain: DatabasePool, _ rows: Int64, until isOver: @Sendable () -> Bool
    ) async throws -> (Series, Series) {
        var (ours, theirs) = (Series(), Series())
        let start = ContinuousClock.now
        var place: Int64 = 0
        while ContinuousClock.now - start < .seconds(8), !isOver() {
            place = (place + 7919) % max(1, rows - 100)
            let from = place
            try await ours.time {
                let request = ObjectRequest("Number", where: Field("id") >= from, limit: 100, type: .never)
                let objects = try await manager.fetch(request).local
                guard objects.count == 100 else { throw Wrong(count: objects.count) }
            }
            try await theirs.time {
                let numbers = try await plain.read { db in
                    try Number.fetchAll(
                        db, sql: "SELECT id, name, value FROM Number WHERE id >= ? ORDER BY id LIMIT 100",
                        arguments: [from])
                }
                guard numbers.count == 100 else { throw Wrong(count: numbers.count) }
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        return (ours, theirs)
    }

    /// Saves one value of one object, again and again, in turn with GRDB; nothing is sent.
    static func saves(_ manager: RequestManager, _ plain: DatabasePool, _ rows: Int64) async throws -> (Series, Series)
    {
        var (ours, theirs) = (Series(), Series())
        for number in 0..<300 {
            guard let object = try await manager.get("Number", Int64(number)) else { throw Wrong(count: 0) }
            let value = Int64(number) + 1_000_000
            try await ours.time {
                _ = try await manager.save(
                    [.update(object.id, values: ["value": .integer(value)])], workflow: .localOnly)
            }
            try await theirs.time {
                try await plain.write { db in
                    try db.execute(
                        sql: "UPDATE Number SET value = ? WHERE id = ?", arguments: [value, rows - 1 - Int64(number)])
                }
            }
        }
        return (ours, theirs)
    }

    /// Observes many objects, and says what they add to the process's memory.
    static func observed(_ manager: RequestManager, _ count: Int64) async throws {
        let before = resident()
        var iterator = try manager.observe(ObjectRequest("Number", limit: Int(count), type: .never)).makeAsyncIterator()
        let change = try await iterator.next()
        guard let change, change.objects.count == count else { throw Wrong(count: change?.objects.count ?? 0) }
        print("an observed object of 3 attributes takes \((resident() - before) / Int(count)) bytes")
        withExtendedLifetime((change, iterator)) {}
    }

    /// Fetches many structs with GRDB, and says what they add to the process's memory.
    static func fetched(_ plain: DatabasePool, _ count: Int64) async throws {
        let before = resident()
        let numbers = try await plain.read { db in
            try Number.fetchAll(db, sql: "SELECT id, name, value FROM Number ORDER BY id LIMIT ?", arguments: [count])
        }
        guard numbers.count == count else { throw Wrong(count: numbers.count) }
        print("a struct of 3 attributes takes \((resident() - before) / Int(count)) bytes")
        withExtendedLifetime(numbers) {}
    }

    /// The resident memory of this process in bytes (proc(5)).
    static func resident() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * 4096
    }

    static func report(_ what: String, _ series: (ours: Series, theirs: Series)) {
        print("\(what): bmo \(series.ours); GRDB alone \(series.theirs)")
    }
}

/// A measurement found something else than it expects.
struct Wrong: Error { let count: Int }

/// Durations, and their median.
struct Series: CustomStringConvertible {
    private var times: [Duration] = []

    mutating func time(_ body: () async throws -> Void) async throws {
        let began = ContinuousClock.now
        try await body()
        times.append(ContinuousClock.now - began)
    }

    var description: String {
        let sorted = times.sorted()
        guard let last = sorted.indices.last else { return "not measured" }
        func text(_ time: Duration) -> String { "\((time / .microseconds(1) / 10).rounded() / 100) ms" }
        return "median \(text(sorted[last / 2])), p99 \(text(sorted[last * 99 / 100])) of \(sorted.count)"
    }
}

/// Set once, by another task.
final class Flag: @unchecked Sendable {
    // An aligned byte that goes from false to true; a late look costs one fetch more.
    private(set) var value = false
    func set() { value = true }
}
