#if PLUGINS
internal import RecordBatch
internal import SystemCalls

/// Opening of plugins from files.
extension SessionOpener {
    /// dlopen blocks and runs the plugin's constructors, so it must not run on the cooperative pool.
    private static let loader = Worker()

    /// Starts to load a library before it is needed.
    ///
    /// Ignores errors; the actual load reports them.
    static func preload(_ path: String) { loader.run { _ = try? LoadedPlugin.load(path) } }

    /// The folder with the links of plugins pinned in this process, which may look for their private libraries at any
    /// time.
    private static let links = Mutex<BridgeHome?>(nil)

    private static func linkFolder() -> String? {
        links.withLock { links in
            links = links ?? BridgeHome.make()
            return links?.path
        }
    }

    /// Removes the links when the program ends.
    static func removeLinks() {
        links.withLock { links in
            links?.remove()
            links = nil
        }
    }

    func openHere() async throws(BridgeFailure) -> any BridgeSession {
        let loading = Promise<Result<(LoadedPlugin, PluginListing), PluginRefusal>>()
        let (path, digest) = (plugin.path, plugin.digest)
        Self.loader.run { loading.fulfil(Result { () throws(PluginRefusal) in try Self.load(path, digest) }) }
        let loaded: LoadedPlugin
        let found: PluginListing
        do {
            (loaded, found) = try await loading.value.get()
        } catch {
            throw BridgeFailure(.configuration, "\(path): \(error.reason)", bridge: log.bridge)
        }
        try expect(found)
        let session = LocalSession(plugin: loaded, isConcurrent: plugin.isConcurrent, log: log, texts: texts)
        try await finish(session, session.open(options))
        return session
    }

    func openChild() async throws(BridgeFailure) -> any BridgeSession {
        let session = try await ChildSession.start(
            executable: executable, pluginPath: plugin.path, digest: plugin.digest, limits: limits, log: log,
            helpers: helpers,
            texts: texts.map { SharedTextService($0, bridge: log.bridge, plugin: plugin.name) })
        do throws(BridgeFailure) {
            let hello = await reply(session.hello, within: limits.inspection, session)
            if case .lost(let failure) = hello { throw failure }
            try expect(PluginHello.listing(path: plugin.path, hello))
            try await finish(session, session.open(options, isConcurrent: plugin.isConcurrent))
            return session
        } catch {
            // Wait for cleanup, so that a host that exits right away leaves no home folder behind.
            session.kill()
            await session.close(grace: .zero)
            throw error
        }
    }

    /// Loads the plugin in this process and returns it with its description.
    private static func load(
        _ path: String, _ digest: String?
    ) throws(PluginRefusal) -> (LoadedPlugin, PluginListing) {
        let plugin = try LoadedPlugin.load(path, digest: digest, links: linkFolder())
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

    /// Checks that the plugin is still as it was inspected.
    ///
    /// The file may have been replaced since. By now the host has chosen the plugin's isolation, its concurrency and
    /// its requests.
    private func expect(_ found: PluginListing) throws(BridgeFailure) {
        if let refusal = found.refusal {
            throw BridgeFailure(.configuration, "\(plugin.path): \(refusal)", bridge: log.bridge)
        }
        guard let change = change(to: found) else { return }
        // Makes the next start inspect the file.
        cache?.forget(plugin.path)
        throw BridgeFailure(
            .configuration, "\(plugin.path) \(change): it was replaced meanwhile", bridge: log.bridge,
            remedy: "start again")
    }

    /// Describes how the plugin differs from its inspection; nil if it does not.
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
}
#endif
