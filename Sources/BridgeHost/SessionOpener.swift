internal import RecordBatch

/// Opens instances of one plugin with one set of options, in this process or in children.
struct SessionOpener: Sendable {
    let plugin: PluginListing
    let options: RecordBatch
    let executable: String
    let isolation: PluginListing.Isolation
    let limits: BridgeLimits
    let log: BridgeLog
    var helpers: HelperPool?
    /// The plugin itself, where it is part of this program.
    var linked: LoadedPlugin?
    /// Where what the plugin said of itself may come from.
    var cache: DescriptionCache?

    /// dlopen blocks and runs the plugin's constructors: not on the cooperative pool.
    private static let loader = Worker()

    /// Loads a library before it is needed, and does not wait for it: what is wrong with it is told when it is needed.
    static func preload(_ path: String) { loader.run { _ = try? LoadedPlugin.load(path) } }

    /// A session whose instance is open.
    func open() async throws(BridgeFailure) -> any BridgeSession {
        switch isolation {
        case .inProcess: try await openHere()
        case .childProcess: try await openChild()
        }
    }

    private func openHere() async throws(BridgeFailure) -> any BridgeSession {
        if let linked {
            let session = LocalSession(plugin: linked, isConcurrent: plugin.isConcurrent, log: log)
            try await finish(session, session.open(options))
            return session
        }
        let loading = Promise<Result<(LoadedPlugin, PluginListing), PluginRefusal>>()
        let path = plugin.path
        Self.loader.run { loading.fulfil(Result { () throws(PluginRefusal) in try Self.load(path) }) }
        let loaded: LoadedPlugin
        let found: PluginListing
        do {
            (loaded, found) = try await loading.value.get()
        } catch {
            throw BridgeFailure(.configuration, "\(path): \(error.reason)", bridge: log.bridge)
        }
        try expect(found)
        let session = LocalSession(plugin: loaded, isConcurrent: plugin.isConcurrent, log: log)
        try await finish(session, session.open(options))
        return session
    }

    private func openChild() async throws(BridgeFailure) -> any BridgeSession {
        let session = try await ChildSession.start(
            executable: executable, pluginPath: plugin.path, limits: limits, log: log, helpers: helpers)
        do throws(BridgeFailure) {
            let hello = await reply(session.hello, within: limits.inspection, session)
            if case .lost(let failure) = hello { throw failure }
            try expect(PluginHello.listing(path: plugin.path, hello))
            try await finish(session, session.open(options, isConcurrent: plugin.isConcurrent))
            return session
        } catch {
            // A host that exits right after this leaves no home folder behind.
            session.kill()
            await session.close(grace: .zero)
            throw error
        }
    }

    /// The plugin in this process, with what it says of itself there.
    private static func load(_ path: String) throws(PluginRefusal) -> (LoadedPlugin, PluginListing) {
        let plugin = try LoadedPlugin.load(path)
        guard let identity = try? PluginHello.batch(plugin.identity) else {
            throw PluginRefusal(reason: "its name or its version is too long")
        }
        let hello: BridgeReply =
            if case .done(let description, _) = plugin.describe() {
                .done(ForeignBytes(identity), description)
            } else {
                .done(ForeignBytes(identity), nil)
            }
        return (plugin, PluginHello.listing(path: path, hello))
    }

    /// The file may have been replaced since it was inspected: by then the host has chosen where the plugin runs, how many
    /// fetches it gets at a time, and what it is asked for.
    private func expect(_ found: PluginListing) throws(BridgeFailure) {
        if let refusal = found.refusal {
            throw BridgeFailure(.configuration, "\(plugin.path): \(refusal)", bridge: log.bridge)
        }
        guard let change = change(to: found) else { return }
        // The next start asks the file itself.
        cache?.forget(plugin.path)
        throw BridgeFailure(
            .configuration, "\(plugin.path) \(change): it was replaced meanwhile", bridge: log.bridge,
            remedy: "start again")
    }

    /// What the plugin was when it was inspected, and what it is now; nil where that is the same.
    private func change(to found: PluginListing) -> String? {
        func words(_ listing: PluginListing) -> [String] {
            [
                "`\(listing.name)` \(listing.version)", "isolation \(listing.isolation.rawValue)",
                listing.isConcurrent ? "concurrent" : "not concurrent",
                "able to \(listing.capabilities.joined(separator: ", "))",
            ]
        }
        return zip(words(plugin), words(found)).first { $0 != $1 }.map { "was \($0) and is now \($1)" }
    }

    private func finish(_ session: any BridgeSession, _ opening: Promise<BridgeReply>) async throws(BridgeFailure) {
        switch await reply(opening, within: limits.call, session) {
        case .done: return
        case .failed(let error):
            session.kill()
            throw .decode(error, doing: "open", log: log, limit: limits.pageSize)
        case .lost(let failure):
            throw failure
        }
    }

    /// Waits for a reply; kills the session when it is late or the task is cancelled.
    private func reply(
        _ promise: Promise<BridgeReply>, within limit: Duration, _ session: any BridgeSession
    ) async -> BridgeReply {
        let late = BridgeFailure(
            .timeout, "the bridge did not start within \(limit.components.seconds) s", bridge: log.bridge)
        let timer = promise.fulfil(after: limit, with: .lost(late)) { session.kill() }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await promise.value
        } onCancel: { [bridge = log.bridge] in
            if promise.fulfil(.lost(.cancelled(bridge))) { session.kill() }
        }
    }
}
