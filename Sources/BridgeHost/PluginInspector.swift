internal import Synchronization

/// Finds out in child processes what files are, and remembers it for as long as the host lives.
final class PluginInspector: Sendable {
    private let executable: String
    private let limits: BridgeLimits
    private let log: BridgeLog
    private let known = Mutex<[String: Task<PluginListing, Never>]>([:])

    init(executable: String, limits: BridgeLimits, log: BridgeLog) {
        self.executable = executable
        self.limits = limits
        self.log = log
    }

    /// What the files are, in their order; two are looked at a time.
    func inspect(_ paths: [String]) async -> [PluginListing] {
        await withTaskGroup(of: (Int, PluginListing).self) { group in
            var listings = [PluginListing?](repeating: nil, count: paths.count)
            var next = 0
            while next < min(2, paths.count) {
                group.addTask { [next] in (next, await self.inspect(paths[next])) }
                next += 1
            }
            for await (index, listing) in group {
                listings[index] = listing
                guard next < paths.count else { continue }
                group.addTask { [next] in (next, await self.inspect(paths[next])) }
                next += 1
            }
            return listings.compactMap { $0 }
        }
    }

    /// What the file at `path` is.
    func inspect(_ path: String) async -> PluginListing {
        let task = known.withLock { known in
            if let task = known[path] { return task }
            let task = Task { await look(path) }
            known[path] = task
            return task
        }
        return await task.value
    }

    private func look(_ path: String) async -> PluginListing {
        // Spares a process for a file that is plainly something else.
        if let refusal = ELFHeader.refusal(of: path) ?? FileTrust.refusal(of: path) {
            return PluginListing(path: path, refusal: refusal)
        }
        do {
            let session = try await ChildSession.start(
                executable: executable, pluginPath: path, limits: limits, log: log)
            let late = BridgeFailure(
                .timeout, "did not answer within \(limits.inspection.components.seconds) s", bridge: log.bridge)
            let timer = session.hello.fulfil(after: limits.inspection, with: .lost(late))
            let reply = await session.hello.value
            timer.cancel()
            session.kill()
            // A host that exits right after this leaves no home folder behind.
            await session.ended.value
            return PluginHello.listing(path: path, reply)
        } catch {
            return PluginListing(path: path, refusal: "cannot be inspected: \(error.message)")
        }
    }
}
