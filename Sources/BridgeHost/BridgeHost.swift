internal import Glibc
public import Logging
public import RecordBatch

/// Finds bridges, checks them and connects to them.
///
/// An executable that uses a host calls ``serveIfAsked()`` first thing in its `main`: plugins are inspected, and some
/// run, in processes of that same executable.
///
/// ```swift
/// let host = BridgeHost(logger: logger)
/// let rest = try await host.plugin(named: "rest")
/// let connection = try await host.connect(to: rest, options: options, name: "registry", secrets: [token])
/// ```
///
/// Safe to use from any task. Plugins, once loaded, stay loaded.
public final class BridgeHost: Sendable {
    private let searchPaths: [SearchPath]
    private let executable: String
    private let logger: Logger
    private let limits: BridgeLimits
    private let inspector: PluginInspector
    private let pins: PluginPins?
    private let linked: LinkedBridges
    private let cache: DescriptionCache?

    /// A host that has not looked for anything yet.
    ///
    /// - Parameters:
    ///   - searchPaths: Where to look for plugins; nil for ``SearchPath/standard(executable:pluginPath:)``.
    ///   - executable: What is started as `EXECUTABLE __bridge-serve PLUGIN`; nil for this process's executable.
    ///   - logger: Takes what bridges log and print.
    ///   - limits: Sizes and times.
    ///   - pins: What plugins that did not come with the program must be; nil takes them as they are.
    ///   - linked: Bridges that are part of this program; of two with one name they come before those on the search paths.
    public convenience init(
        searchPaths: [SearchPath]? = nil, executable: String? = nil, logger: Logger,
        limits: BridgeLimits = BridgeLimits(), pins: PluginPins? = nil, linked: [any LinkedBridge] = []
    ) {
        let executable = executable ?? Self.ownExecutable
        self.init(
            searchPaths: searchPaths, executable: executable, logger: logger, limits: limits, pins: pins,
            linked: linked, cache: DescriptionCache(DescriptionCache.standardFolder, executable: executable))
    }

    init(
        searchPaths: [SearchPath]?, executable: String, logger: Logger, limits: BridgeLimits, pins: PluginPins?,
        linked: [any LinkedBridge], cache: DescriptionCache?
    ) {
        self.linked = LinkedBridges(linked)
        self.cache = cache
        self.pins = pins
        self.executable = executable
        self.searchPaths =
            searchPaths
            ?? SearchPath.standard(
                executable: executable, pluginPath: getenv("BMO_PLUGIN_PATH").map { String(cString: $0) })
        self.logger = logger
        self.limits = limits
        inspector = PluginInspector(
            executable: executable, cache: cache, limits: limits,
            log: BridgeLog(logger, bridge: "inspection", redactor: Redactor(secrets: [])))
    }

    private static var ownExecutable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return CommandLine.arguments.first ?? "" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Serves one plugin to the host that started this process; never returns.
    ///
    /// The entry point of the hidden subcommand `__bridge-serve PATH`.
    public static func serve(pluginPath: String) -> Never { BridgeServer.serve(pluginPath) }

    /// Serves a plugin if this process was started for that; else returns at once.
    public static func serveIfAsked() {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == BridgeServer.command { serve(pluginPath: arguments[2]) }
    }

    // MARK: finding

    /// Every file on the search paths that may be a plugin: what it is, or why it is none.
    ///
    /// Of two bridges with one name the first on the search paths wins; the other is refused.
    public func plugins() async -> [PluginListing] {
        var listings = linked.listings
        listings += await look(at: candidates())
        var taken: [String: String] = [:]
        for index in listings.indices where listings[index].refusal == nil {
            if let winner = taken[listings[index].name] {
                listings[index].refusal =
                    "the name `\(listings[index].name)` is taken by \(winner), which comes first in the search"
            } else {
                taken[listings[index].name] = listings[index].path
            }
        }
        return listings
    }

    /// The bridge that a configuration calls `name`.
    ///
    /// A file named `libNAMEBridge.so` is looked at first, whatever its case: so that a start need not inspect all.
    ///
    /// - Throws: ``BridgeFailure`` with the names that there are, or the reason why the plugin was refused.
    public func plugin(named name: String) async throws(BridgeFailure) -> PluginListing {
        if let listing = linked.listings.first(where: { $0.name == name && $0.refusal == nil }) { return listing }
        var refused: PluginListing?
        let wanted = "lib\(name)bridge.so".lowercased()
        for candidate in candidates() where candidate.path.lowercased().hasSuffix("/" + wanted) {
            guard let listing = await look(at: [candidate]).first else { continue }
            if listing.refusal == nil, listing.name == name { return listing }
            if listing.refusal != nil, refused == nil { refused = listing }
        }
        let all = await plugins()
        if let found = all.first(where: { $0.refusal == nil && $0.name == name }) { return found }
        refused = refused ?? all.first { $0.refusal != nil && $0.name == name }
        if let refused, let reason = refused.refusal {
            throw BridgeFailure(
                .configuration, "the plugin `\(name)` can't be used: \(refused.path): \(reason)", bridge: name)
        }
        let names = all.filter { $0.refusal == nil }.map(\.name).nearestFirst(to: name)
        throw BridgeFailure(
            .configuration, "there is no plugin `\(name)`", bridge: name,
            remedy: names.isEmpty
                ? "no plugin was found in \(searchPaths.map(\.folder).joined(separator: ", ")): set BMO_PLUGIN_PATH"
                : "there is: \(names.joined(separator: ", "))")
    }

    /// A file that may be a plugin.
    private struct Candidate {
        let path: String
        let origin: SearchPath.Origin
    }

    private func candidates() -> [Candidate] {
        var seen: Set<String> = []
        return searchPaths.flatMap { folder in
            folder.candidates().map { Candidate(path: $0, origin: folder.origin) }
        }.filter { seen.insert($0.path).inserted }
    }

    /// What the files are; one that is not what the lock file says is not even started.
    private func look(at candidates: [Candidate]) async -> [PluginListing] {
        let refusals = candidates.map { candidate in
            pins?.refusal(
                of: candidate.path, name: PluginPins.name(of: candidate.path), origin: candidate.origin)
        }
        let allowed = candidates.indices.filter { refusals[$0] == nil }
        var inspected = await inspector.inspect(
            allowed.map { .init(path: candidates[$0].path, isKept: candidates[$0].origin != .named) })[...]
        return zip(candidates, refusals).compactMap { candidate, refusal in
            var listing =
                refusal.map { PluginListing(path: candidate.path, refusal: $0) } ?? inspected.popFirst()
            listing?.origin = candidate.origin
            if let found = listing, found.refusal == nil {
                // Its file may bear another name.
                listing?.refusal = pins?.refusal(of: found.path, name: found.name, origin: candidate.origin)
            }
            return listing
        }
    }

    /// What the file at `path` is, wherever it lies; no lock file has a say in it.
    public func inspect(path: String) async -> PluginListing {
        await inspector.inspect(.init(path: path, isKept: false))
    }

    // MARK: connecting

    /// Begins to load a plugin that will run in this process, so that it is there when a connection is made.
    ///
    /// Does not wait, and does nothing for a plugin that did not come with the program or asks for a process of its own.
    public func preload(_ plugin: PluginListing) {
        guard plugin.refusal == nil, plugin.origin == .shipped, plugin.isolation == .inProcess,
            linked.plugin(of: plugin) == nil
        else { return }
        SessionOpener.preload(plugin.path)
    }

    /// Opens an instance of a bridge.
    ///
    /// - Parameters:
    ///   - plugin: From ``plugin(named:)`` or ``plugins()``, not refused.
    ///   - options: A batch of one object: the configuration's `options:`, secrets resolved.
    ///   - name: The bridge's name in the configuration, for messages.
    ///   - secrets: The values that no error, log or page may show.
    ///   - isolation: Where to run it; nil leaves it to the plugin if it came with the program, and is a child process
    ///     for any other. One that asks for a child process gets it always.
    ///   - memory: How much memory a child process of it may have for its data, in bytes.
    /// - Throws: ``BridgeFailure``: what the bridge has against its options, or why it can't be started.
    public func connect(
        to plugin: PluginListing, options: RecordBatch, name: String, secrets: [String] = [],
        isolation: PluginListing.Isolation? = nil, memory: Int? = nil
    ) async throws(BridgeFailure) -> BridgeConnection {
        let linked = linked.plugin(of: plugin)
        if linked != nil, isolation == .childProcess || plugin.isolation == .childProcess {
            throw BridgeFailure(
                .configuration, "the bridge `\(plugin.name)` is part of this program and can't run in another process",
                bridge: name, remedy: "use its plugin, or run it in this process")
        }
        if let refusal = plugin.refusal {
            throw BridgeFailure(.configuration, "\(plugin.path) can't be used: \(refusal)", bridge: name)
        }
        let usual = plugin.origin == .shipped ? plugin.isolation : .childProcess
        let isolation = plugin.isolation == .childProcess ? .childProcess : isolation ?? usual
        var limits = limits
        limits.memory = memory ?? limits.memory
        let log = BridgeLog(logger, bridge: name, redactor: Redactor(secrets: secrets))
        var opener = SessionOpener(
            plugin: plugin, options: options, executable: executable, isolation: isolation, limits: limits, log: log)
        opener.linked = linked
        opener.cache = cache
        if isolation == .childProcess, !plugin.isConcurrent {
            opener.helpers = HelperPool(opener, limits: limits, log: log)
        }
        let pool = SessionPool(
            bridge: name, fetchesPerSession: plugin.isConcurrent ? .max : 1,
            most: isolation == .childProcess && !plugin.isConcurrent ? limits.workers : 1
        ) { [opener] () async throws(BridgeFailure) -> any BridgeSession in try await opener.open() }
        // Wrong options are this call's failure, not that of the first fetch.
        _ = try await pool.session()
        return BridgeConnection(
            plugin: plugin, isolation: isolation, pool: pool, opener: opener, limits: limits, log: log)
    }
}

extension [String] {
    /// Sorted by how many letters must change to make `name`, then by name.
    func nearestFirst(to name: String) -> [String] {
        let wanted = [Character](name.prefix(64))
        return map { (editDistance([Character]($0.prefix(64)), wanted), $0) }.sorted { $0 < $1 }.map(\.1)
    }
}
