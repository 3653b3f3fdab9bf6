#if PLUGINS
internal import SystemCalls

/// Inspects plugin files in child processes.
///
/// Keeps the results for the host's lifetime, and those for the standard paths in the cache. A failure that may pass, such
/// as a timeout, is kept for as long as an inspection may take: then the file is inspected again.
final class PluginInspector: Sendable {
    private let executable: String
    private let cache: DescriptionCache?
    private let limits: BridgeLimits
    private let log: BridgeLog
    private let state = Mutex(State())

    private struct State {
        /// The listings by path.
        var known: [String: Known] = [:]
        /// The inspections that have not ended, by their numbers.
        var running: [Int: Running] = [:]
        var last = 0

        mutating func listing(of path: String) -> PluginListing? {
            guard let known = known[path] else { return nil }
            guard known.until.map({ $0 <= .now }) == true else { return known.listing }
            self.known[path] = nil
            return nil
        }
    }

    private struct Known {
        let listing: PluginListing
        /// When it is forgotten; nil for never.
        let until: ContinuousClock.Instant?
    }

    private struct Running {
        let path: String
        let task: Task<Void, Never>
        var waiting: [Promise<PluginListing>]
        /// Whether all that waited were cancelled; they wait for the end of the process.
        var isGivenUp = false
    }

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

    /// Inspects a file; if the task is cancelled, it is refused as soon as its process has ended.
    func inspect(_ candidate: Candidate) async -> PluginListing {
        let waiter = Promise<PluginListing>()
        let isCancelled = Task.isCancelled
        let known = state.withLock { state -> PluginListing? in
            if let listing = state.listing(of: candidate.path) { return listing }
            if isCancelled { return Self.cancelled(candidate.path) }
            let found = state.running.first { $0.value.path == candidate.path && !$0.value.isGivenUp }
            if let number = found?.key {
                state.running[number]?.waiting.append(waiter)
                return nil
            }
            state.last += 1
            let number = state.last
            let task = Task {
                let (listing, mayPass) = await look(candidate)
                end(number, listing, mayPass: mayPass)
            }
            state.running[number] = Running(path: candidate.path, task: task, waiting: [waiter])
            return nil
        }
        if let known { return known }
        return await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            giveUp(waiter, candidate.path)
        }
    }

    private static func cancelled(_ path: String) -> PluginListing {
        PluginListing(path: path, refusal: "its inspection was cancelled")
    }

    private func end(_ number: Int, _ listing: PluginListing, mayPass: Bool) {
        let ended = state.withLock { state -> Running? in
            guard let running = state.running.removeValue(forKey: number) else { return nil }
            if !running.isGivenUp {
                let until = mayPass ? ContinuousClock.now + limits.inspection : nil
                state.known[running.path] = Known(listing: listing, until: until)
            }
            return running
        }
        guard let ended else { return }
        let told = ended.isGivenUp ? Self.cancelled(ended.path) : listing
        for waiter in ended.waiting { waiter.fulfil(told) }
    }

    /// Ends a wait, and the inspection if it was the last one.
    private func giveUp(_ waiter: Promise<PluginListing>, _ path: String) {
        let task = state.withLock { state -> Task<Void, Never>? in
            let found = state.running.first { $0.value.waiting.contains { $0 === waiter } }
            guard let (number, running) = found else { return nil }
            guard running.waiting.count == 1 else {
                state.running[number]?.waiting.removeAll { $0 === waiter }
                return nil
            }
            // It waits for the cleanup, so that a host that exits right away leaves no home folder behind.
            state.running[number]?.isGivenUp = true
            return running.task
        }
        if let task { task.cancel() } else { waiter.fulfil(Self.cancelled(path)) }
    }

    /// Returns the listing, and whether it may be another the next time though the file is the same.
    private func look(_ candidate: Candidate) async -> (PluginListing, mayPass: Bool) {
        let path = candidate.path
        // Avoids starting a process for a file that is obviously something else.
        if let refusal = ELFHeader.refusal(of: path) ?? FileTrust.refusal(of: path) {
            return (PluginListing(path: path, refusal: refusal), false)
        }
        guard candidate.isKept, let cache, let stamp = cache.stamp(of: path) else {
            let reply = await ask(candidate)
            return (PluginHello.listing(path: path, reply), reply.mayPass)
        }
        if let known = cache.reply(for: stamp, of: path) {
            let listing = PluginHello.listing(path: path, known)
            if listing.refusal == nil { return (listing, false) }
        }
        let reply = await ask(candidate)
        let listing = PluginHello.listing(path: path, reply)
        // Cache the reply only if the file did not change during the inspection.
        if listing.refusal == nil, cache.stamp(of: path) == stamp { cache.keep(reply, for: stamp, of: path) }
        return (listing, reply.mayPass)
    }

    /// Loads the file in a child process and returns its hello.
    private func ask(_ candidate: Candidate) async -> BridgeReply {
        do {
            let session = try await ChildSession.start(
                executable: executable, pluginPath: candidate.path, digest: candidate.digest, limits: limits, log: log)
            let late = BridgeFailure(
                .timeout, "did not answer within \(limits.inspection.components.seconds) s", bridge: log.bridge)
            let timer = session.hello.fulfil(after: limits.inspection, with: .lost(late))
            let reply = await withTaskCancellationHandler {
                await session.hello.value
            } onCancel: { [bridge = log.bridge] in
                session.hello.fulfil(.lost(.cancelled(bridge)))
            }
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

extension BridgeReply {
    /// Whether the next inspection of the same file may have another result: no process could be started, or it was slow.
    fileprivate var mayPass: Bool {
        guard case .lost(let failure) = self else { return false }
        return failure.code != .crashed
    }
}
#endif
