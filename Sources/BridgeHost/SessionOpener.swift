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
        let loading = Promise<Result<LoadedPlugin, PluginRefusal>>()
        let path = plugin.path
        Self.loader.run { loading.fulfil(Result { () throws(PluginRefusal) in try LoadedPlugin.load(path) }) }
        let loaded: LoadedPlugin
        do {
            loaded = try await loading.value.get()
        } catch {
            throw BridgeFailure(.configuration, "\(path): \(error.reason)", bridge: log.bridge)
        }
        try expect(name: loaded.identity.name, version: loaded.identity.version)
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
            let found = PluginHello.listing(path: plugin.path, hello)
            if let refusal = found.refusal {
                throw BridgeFailure(.configuration, "\(plugin.path): \(refusal)", bridge: log.bridge)
            }
            try expect(name: found.name, version: found.version)
            try await finish(session, session.open(options, isConcurrent: plugin.isConcurrent))
            return session
        } catch {
            // A host that exits right after this leaves no home folder behind.
            session.kill()
            await session.close(grace: .zero)
            throw error
        }
    }

    /// The file may have been replaced since it was inspected.
    private func expect(name: String, version: String) throws(BridgeFailure) {
        guard name == plugin.name, version == plugin.version else {
            throw BridgeFailure(
                .configuration,
                "\(plugin.path) was `\(plugin.name)` \(plugin.version) and is now `\(name)` \(version)",
                bridge: log.bridge, remedy: "start again")
        }
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
