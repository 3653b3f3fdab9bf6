internal import Synchronization

/// Finds out in child processes what files are, and remembers it for as long as the host lives; what is on a standard path, longer.
final class PluginInspector: Sendable {
    private let executable: String
    private let cache: DescriptionCache?
    private let limits: BridgeLimits
    private let log: BridgeLog
    private let known = Mutex<[String: Task<PluginListing, Never>]>([:])

    init(executable: String, cache: DescriptionCache?, limits: BridgeLimits, log: BridgeLog) {
        self.executable = executable
        self.cache = cache
        self.limits = limits
        self.log = log
    }

    /// A file that may be a plugin.
    struct Candidate {
        let path: String
        /// Whether what it says of itself is worth keeping for the next run.
        let isKept: Bool
    }

    /// What the files are, in their order; two are looked at a time.
    func inspect(_ paths: [Candidate]) async -> [PluginListing] {
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

    /// What the file is.
    func inspect(_ candidate: Candidate) async -> PluginListing {
        let task = known.withLock { known in
            if let task = known[candidate.path] { return task }
            let task = Task { await look(candidate) }
            known[candidate.path] = task
            return task
        }
        return await task.value
    }

    private func look(_ candidate: Candidate) async -> PluginListing {
        let path = candidate.path
        // Spares a process for a file that is plainly something else.
        if let refusal = ELFHeader.refusal(of: path) ?? FileTrust.refusal(of: path) {
            return PluginListing(path: path, refusal: refusal)
        }
        guard candidate.isKept, let cache, let stamp = cache.stamp(of: path) else {
            return PluginHello.listing(path: path, await ask(path))
        }
        if let known = cache.reply(for: stamp, of: path) {
            let listing = PluginHello.listing(path: path, known)
            if listing.refusal == nil { return listing }
        }
        let reply = await ask(path)
        let listing = PluginHello.listing(path: path, reply)
        // It was the same file all the time.
        if listing.refusal == nil, cache.stamp(of: path) == stamp { cache.keep(reply, for: stamp, of: path) }
        return listing
    }

    /// What the file says to a process that loads it.
    private func ask(_ path: String) async -> BridgeReply {
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
            return reply
        } catch {
            var failure = error
            failure.message = "cannot be inspected: \(error.message)"
            return .lost(failure)
        }
    }
}
