import BMO
import BridgeHost
import BridgeKit
import Foundation
import Logging
import MemoryStore
import RESTBridge

/// Fetches notes from a server, once for each line of its input, and prints what becomes of it and of the network.
///
/// `NetworkProgram URL`
@main
struct NetworkProgram {
    static func main() async throws {
        let network = try NetlinkWatcher()
        let manager = try await manager(CommandLine.arguments[1], network)
        let following = Task { for await state in network.states() { say("network: \(state)") } }
        for await _ in lines() {
            let fetch = try await manager.fetch(ObjectRequest("Note"))
            let events = Task {
                for await event in fetch.events {
                    if case .waitingForNetwork(_, let error) = event { say("fetch: waits, \(error.code)") }
                }
            }
            do {
                say("fetch: \(try await fetch.remote.inserted.count) new")
            } catch let error as RequestError {
                say("fetch: fails, \(error.code)")
            }
            await events.value
        }
        following.cancel()
        try await manager.close()
    }

    /// The lines of the input, read on a thread that may block.
    private static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    private static func manager(_ url: String, _ network: NetlinkWatcher) async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["server": .plugin("rest", options: ["url": .string(url)])],
            entities: [
                EntityDefinition(
                    "Note", bridge: "server", key: "id", attributes: ["id": .integer],
                    section: ["path": "/notes.json", "records": "$", "paging": "none"])
            ])
        var limits = BridgeLimits()
        limits.retries.tries = 1
        let host = BridgeHost(
            logger: Logger(label: "network"), limits: limits, linked: [BridgeExport(RESTBridge.self)])
        var options = RequestManager.Options()
        var retry = NetworkRetry(network)
        retry.settling = .milliseconds(300)
        retry.jitter = .milliseconds(300)
        options.network = retry
        return try RequestManager(
            try await Workspace.load(definition, host: host, stores: MemoryStores()), options: options)
    }

    /// Prints a line at once: a pipe's reader waits for it.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
