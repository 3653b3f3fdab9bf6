internal import BridgeHost
internal import Model

/// The connections to bridges: one per bridge, made on first use.
actor Connections {
    private struct Entry {
        let number: Int
        let task: Task<BridgeConnection, any Error>
        var waiting = 0
        var gaveUp = 0
    }

    private let workspace: Workspace
    private let isShared: Bool
    private let limits: SharedLimits?
    private var entries: [String: Entry] = [:]
    private var lastNumber = 0
    /// The connections that were made.
    private var made: [BridgeConnection] = []
    /// The requests of connections that are closed.
    private var requests: [String: RequestCounts] = [:]

    /// Creates an empty set of connections.
    ///
    /// - Parameter isShared: Whether the connections serve independent requests: the next request retries a failed
    ///   connection. In a sync, it has failed for all.
    /// - Parameter limits: The limits that other processes share.
    init(_ workspace: Workspace, isShared: Bool = false, limits: SharedLimits? = nil) {
        self.workspace = workspace
        self.isShared = isShared
        self.limits = limits
    }

    func connection(for bridge: String) async throws -> BridgeConnection {
        var entry: Entry
        if let known = entries[bridge] {
            entry = known
        } else {
            guard let configuration = workspace.configuration.bridge(named: bridge) else {
                throw BridgeFailure(.configuration, "the config has no bridge `\(bridge)`", bridge: bridge)
            }
            lastNumber += 1
            entry = Entry(
                number: lastNumber,
                task: Task { [workspace, limits] in
                    try await workspace.connect(to: configuration, adding: limits?.options(for: bridge) ?? [])
                })
        }
        entry.waiting += 1
        entries[bridge] = entry
        let number = entry.number
        defer { if entries[bridge]?.number == number { entries[bridge]?.waiting -= 1 } }
        do {
            let connection = try await withTaskCancellationHandler {
                try await entry.task.value
            } onCancel: {
                Task { await self.giveUp(bridge, number) }
            }
            if !made.contains(where: { $0 === connection }) { made.append(connection) }
            return connection
        } catch {
            if isShared, entries[bridge]?.number == number { entries[bridge] = nil }
            throw error
        }
    }

    /// Throws the error of an earlier connection attempt.
    func throwIfFailed(_ bridge: String) async throws {
        if let entry = entries[bridge] { _ = try await entry.task.value }
    }

    /// Cancels a connection attempt when no caller waits for it any more.
    private func giveUp(_ bridge: String, _ number: Int) {
        guard var entry = entries[bridge], entry.number == number else { return }
        entry.gaveUp += 1
        entries[bridge] = entry
        if entry.gaveUp >= entry.waiting { entry.task.cancel() }
    }

    func close() async {
        for entry in entries.values {
            if let connection = try? await entry.task.value { await connection.close() }
        }
        entries = [:]
        collectRequests()
        made = []
    }

    /// Returns the requests since the last call, by bridge; also after ``close()``.
    func takeRequests() -> [String: RequestCounts] {
        collectRequests()
        defer { requests = [:] }
        return requests
    }

    private func collectRequests() {
        for connection in made { requests[connection.name, default: RequestCounts()] += connection.takeRequests() }
    }
}
