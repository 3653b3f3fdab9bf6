internal import RecordBatch
internal import BridgeHost
internal import Foundation
internal import Model

/// Checks how a bridge behaves towards its host.
enum ConductChecks {
    static let all = [
        Check("conduct.quiet", "it prints nothing", .basic) { subject in
            for entity in try subject.entities() { _ = try await subject.read(entity) }
            let printed = subject.spy.all.filter { $0.hasPrefix("bridge printed") }
            try require(printed.isEmpty, "it printed: \(printed.prefix(3).joined(separator: "; "))")
        },
        Check("conduct.secrets", "no secret is in a log line, an error or a page", .basic) { subject in
            let secrets = subject.secrets.filter { $0.utf8.count >= 4 }
            guard !secrets.isEmpty else { throw NotApplicable("the config has no secret of four letters or more") }
            var words = subject.spy.all
            for entity in try subject.entities() {
                let scan = try await subject.read(entity)
                words += scan.words
                words += scan.records
            }
            if !subject.settings.wrongOptions.isEmpty {
                do {
                    let connection = try await subject.connect(changing: subject.settings.wrongOptions)
                    _ = try? await connection.check()
                    await connection.close()
                } catch {
                    words.append("\(error)")
                }
            }
            words += subject.spy.all
            for secret in secrets {
                if let leak = words.first(where: { $0.contains(secret) }) {
                    throw Violation("a secret appears in: \(leak.replacing(secret, with: "***").prefix(300))")
                }
            }
        },
        Check("conduct.cancel", "a fetch that is cancelled ends within a second", .basic) { subject in
            let entity = try subject.entities()[0]
            let connection = try await subject.connect()
            try await connection.closing {
                let fastest = try await shortest(within: .seconds(1)) {
                    try await timeToCancel(connection, try subject.request(entity))
                }
                try require(fastest < .seconds(1), "it took \(fastest)")
                let again = try await subject.scan(connection, try subject.request(entity))
                try require(!again.records.isEmpty, "after a cancelled fetch the next one returns nothing")
            }
        },
        Check("conduct.midway", "a fetch that is abandoned leaves no trace", .full) { subject in
            let entity = try subject.entities()[0]
            let whole = try await subject.read(entity)
            let connection = try await subject.connect()
            try await connection.closing {
                for _ in 1...3 {
                    let stream = try await connection.fetch(try subject.request(entity))
                    _ = try await stream.next()
                    await stream.close()
                }
                let after = try await subject.scan(connection, try subject.request(entity))
                try require(
                    after.records.sorted() == whole.records.sorted(),
                    "after three abandoned fetches, \(after.records.count) of \(whole.records.count) records come"
                )
            }
        },
        Check("conduct.memory", "a whole scan fits into 256 MiB", .full) { subject in
            for entity in try subject.entities() {
                let connection = try await subject.connect(memory: 256 << 20)
                try await connection.closing {
                    _ = try await subject.scan(connection, try subject.request(entity))
                }
            }
        },
        Check("conduct.empty", "an entity without a section is an error or a listing, never a crash", .full) {
            subject in
            let connection = try await subject.connect()
            try await connection.closing {
                do {
                    _ = try await subject.scan(connection, FetchRequest(entity: "Nothing"))
                } catch let failure as BridgeFailure {
                    try require(failure.code != .crashed, "it crashes: \(failure.message)")
                    try require(failure.code != .internal, "the failure has the code internal: \(failure.message)")
                }
            }
        },
        Check("conduct.plan", "it shows what it would request, and requests nothing", .full) { subject in
            guard subject.plugin.can("plan") else { throw NotApplicable("it cannot plan") }
            for entity in try subject.entities() {
                let connection = try await subject.connect()
                try await connection.closing {
                    var request = try subject.request(entity)
                    request.explains = true
                    let scan = try await subject.scan(connection, request)
                    try require(!scan.records.isEmpty, "\(entity.name): it names no request")
                    for batch in scan.batches {
                        for index in 0..<batch.count where batch[index]["request"]?.text == nil {
                            throw Violation("\(entity.name): a record of the plan has no `request`")
                        }
                    }
                }
            }
        },
        Check("conduct.watch", "a watch returns no records, and ends at once when it is cancelled", .full) {
            subject in
            guard subject.plugin.can("watch") else { throw NotApplicable("it cannot watch") }
            let connection = try await subject.connect()
            try await connection.closing {
                let fastest = try await shortest(within: grace) {
                    try await timeToEnd(connection, try subject.request(try subject.entities()[0]))
                }
                try require(fastest < grace, "it took \(fastest) or more to end")
            }
        },
    ]

    /// The host abandons or kills a call that continues for 0.3 s after its cancellation.
    private static let grace = Duration.milliseconds(290)

    /// Returns the shortest of up to five measurements, and stops at the first within a limit.
    ///
    /// A busy machine may delay some of them by seconds.
    private static func shortest(
        within limit: Duration, _ measure: () async throws -> Duration
    ) async throws -> Duration {
        var shortest = try await measure()
        for _ in 2...5 where shortest >= limit { shortest = min(shortest, try await measure()) }
        return shortest
    }

    /// Measures how long a fetch takes to end when it is cancelled after its first batch.
    private static func timeToCancel(_ connection: BridgeConnection, _ request: FetchRequest) async throws -> Duration {
        let stream = try await connection.fetch(request)
        _ = try await stream.next()
        let start = ContinuousClock.now
        stream.cancel()
        do {
            while try await stream.next() != nil {}
        } catch {
            try require(error.code == .cancelled, "the failure has the code \(error.code.rawValue)")
        }
        await stream.close()
        return ContinuousClock.now - start
    }

    /// Measures how long a waiting watch takes to end.
    private static func timeToEnd(_ connection: BridgeConnection, _ request: FetchRequest) async throws -> Duration {
        let watch: ChangeWatch
        do {
            watch = try await connection.watch(request)
        } catch  where error.code == .unsupported {
            throw NotApplicable("the remote does not report changes")
        }
        _ = try await watch.change(within: .milliseconds(500))
        let waiting = Task { () async throws(BridgeFailure) -> Bool in
            while try await !watch.change(within: .seconds(60)) {}
            return true
        }
        try await Task.sleep(for: .milliseconds(200))
        let start = ContinuousClock.now
        await watch.close()
        _ = await waiting.result
        return ContinuousClock.now - start
    }
}
