internal import RecordBatch

/// Opens instances of one plugin with one set of options, in this process or in child processes.
struct SessionOpener: Sendable {
    let plugin: PluginListing
    let options: RecordBatch
    let executable: String
    let isolation: PluginListing.Isolation
    let limits: BridgeLimits
    let log: BridgeLog
    var helpers: HelperPool?
    /// The texts that the bridge can share with other processes.
    var texts: (any SharedTexts)?
    /// The plugin itself, if it is linked into this program.
    var linked: LoadedPlugin?
    /// The cache that the plugin's description may come from.
    var cache: DescriptionCache?

    /// Opens a session and its instance.
    func open() async throws(BridgeFailure) -> any BridgeSession {
        if let linked {
            let session = LocalSession(plugin: linked, isConcurrent: plugin.isConcurrent, log: log, texts: texts)
            try await finish(session, session.open(options))
            return session
        }
        #if PLUGINS
        return
            switch isolation
        {
        case .inProcess: try await openHere()
        case .childProcess: try await openChild()
        }
        #else
        throw BridgeFailure(
            .unsupported, "\(plugin.path): this program was built without plugins", bridge: log.bridge,
            remedy: "link the bridge into the program")
        #endif
    }

    func finish(_ session: any BridgeSession, _ opening: Promise<BridgeReply>) async throws(BridgeFailure) {
        switch await reply(opening, within: limits.call, session) {
        case .done: return
        case .failed(let error):
            session.kill()
            throw .decode(error, doing: "open", log: log, limit: limits.pageSize)
        case .lost(let failure):
            throw failure
        }
    }

    /// Waits for a reply; kills the session on a timeout or when the task is cancelled.
    func reply(
        _ promise: Promise<BridgeReply>, within limit: Duration, _ session: any BridgeSession
    ) async -> BridgeReply {
        let late = BridgeFailure(
            .timeout, "the bridge did not start within \(limit.components.seconds) s", bridge: log.bridge)
        let timer = promise.fulfil(after: limit, with: .lost(late)) { session.kill() }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await promise.value
        } onCancel: { [bridge = log.bridge] in
            promise.fulfil(.lost(.cancelled(bridge))) { session.kill() }
        }
    }
}
