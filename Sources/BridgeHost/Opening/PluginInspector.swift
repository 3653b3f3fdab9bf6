#if PLUGINS
internal import SystemCalls

/// Inspects plugin files in child processes.
///
/// Keeps the results for the host's lifetime, and those for the standard paths in the cache.
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
        /// Whether to cache its description for the next run.
        let isKept: Bool
        /// The pinned SHA-256.
        let digest: String?
    }

    /// The listing of the file at an index.
    private struct Inspected: Sendable {
        let index: Int
        let listing: PluginListing
    }

    /// Inspects the files, two at a time, and returns their listings in order.
    func inspect(_ paths: [Candidate]) async -> [PluginListing] {
        await withTaskGroup(of: Inspected.self) { group in
            var listings = [PluginListing?](repeating: nil, count: paths.count)
            var next = 0
            func start() {
                guard next < paths.count else { return }
                group.addTask { [next] in
                    let listing = await self.inspect(paths[next])
                    return Inspected(index: next, listing: listing)
                }
                next += 1
            }
            for _ in 0..<2 { start() }
            for await inspected in group {
                listings[inspected.index] = inspected.listing
                start()
            }
            return listings.compactMap { $0 }
        }
    }

    /// Inspects a file.
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
        // Avoids starting a process for a file that is obviously something else.
        if let refusal = ELFHeader.refusal(of: path) ?? FileTrust.refusal(of: path) {
            return PluginListing(path: path, refusal: refusal)
        }
        guard candidate.isKept, let cache, let stamp = cache.stamp(of: path) else {
            return PluginHello.listing(path: path, await ask(candidate))
        }
        if let known = cache.reply(for: stamp, of: path) {
            let listing = PluginHello.listing(path: path, known)
            if listing.refusal == nil { return listing }
        }
        let reply = await ask(candidate)
        let listing = PluginHello.listing(path: path, reply)
        // Cache the reply only if the file did not change during the inspection.
        if listing.refusal == nil, cache.stamp(of: path) == stamp { cache.keep(reply, for: stamp, of: path) }
        return listing
    }

    /// Loads the file in a child process and returns its hello.
    private func ask(_ candidate: Candidate) async -> BridgeReply {
        do {
            let session = try await ChildSession.start(
                executable: executable, pluginPath: candidate.path, digest: candidate.digest, limits: limits, log: log)
            let late = BridgeFailure(
                .timeout, "did not answer within \(limits.inspection.components.seconds) s", bridge: log.bridge)
            let timer = session.hello.fulfil(after: limits.inspection, with: .lost(late))
            let reply = await session.hello.value
            timer.cancel()
            session.kill()
            // Wait for cleanup, so that a host that exits right away leaves no home folder behind.
            await session.ended.value
            return reply
        } catch {
            var failure = error
            failure.message = "cannot be inspected: \(error.message)"
            return .lost(failure)
        }
    }
}
#endif
