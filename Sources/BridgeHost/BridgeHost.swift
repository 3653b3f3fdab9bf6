public import Logging
public import RecordBatch
internal import TextFormats

#if PLUGINS
internal import CBridgeGuard
#endif
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Finds, inspects and connects to bridges.
///
/// An executable that uses a host must call ``serveIfAsked()`` first in its `main`: the host inspects plugins, and runs
/// some, in child processes of the same executable.
///
/// ```swift
/// let host = BridgeHost(logger: logger)
/// let rest = try await host.plugin(named: "rest")
/// let connection = try await host.connect(to: rest, options: options, name: "registry", secrets: [token])
/// ```
///
/// Safe to use from any task. A loaded plugin stays loaded.
public final class BridgeHost: Sendable {
    private let searchPaths: [SearchPath]
    private let executable: String
    private let logger: Logger
    private let limits: BridgeLimits
    #if PLUGINS
    private let inspector: PluginInspector
    #endif
    private let pins: PluginPins?
    private let linked: LinkedBridges
    private let cache: DescriptionCache?

    /// Creates a host; does not search for plugins yet.
    ///
    /// - Parameters:
    ///   - searchPaths: Where to search for plugins; nil for ``SearchPath/standard(executable:pluginPath:)``.
    ///   - executable: The program started as `EXECUTABLE __bridge-serve PLUGIN`; nil for this process's executable.
    ///   - logger: Receives what bridges log and print.
    ///   - limits: Limits on sizes and times.
    ///   - pins: The digests that third-party plugins must match; nil accepts any.
    ///   - linked: Bridges linked into this program; they take precedence over plugins of the same name on the search
    ///     paths.
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
        #if PLUGINS
        BridgeServer.endUnlessServing()
        #endif
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
        #if PLUGINS
        inspector = PluginInspector(
            executable: executable, cache: cache, limits: limits,
            log: BridgeLog(logger, bridge: "inspection", redactor: Redactor(secrets: [])))
        #endif
    }

    private static var ownExecutable: String {
        #if os(Linux)
        guard let path = realpath("/proc/self/exe", nil) else { return CommandLine.arguments.first ?? "" }
        defer { free(path) }
        return String(cString: path)
        #else
        return CommandLine.arguments.first ?? ""
        #endif
    }

    #if PLUGINS
    /// Serves one plugin to the parent process; never returns.
    ///
    /// The entry point of the hidden subcommand `__bridge-serve PATH`.
    public static func serve(pluginPath: String) -> Never { BridgeServer.serve(pluginPath) }
    #endif

    /// Serves a plugin if this process was started for that; otherwise returns at once.
    ///
    /// Call it first in a `main` that is not async. A program whose bridges are all linked in does not need the call.
    public static func serveIfAsked() {
        #if PLUGINS
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == BridgeServer.command { serve(pluginPath: arguments[2]) }
        #endif
    }

    /// Keeps the user's other processes, including bridges, from reading this process's memory and environment.
    ///
    /// Intended for a program that holds no secrets but its own. Call it in `main` right after ``serveIfAsked()``. It
    /// disables core dumps and debuggers unless `BMO_TRACEABLE=1` is set in the environment. If it runs as root, the
    /// process and all its children give up CAP_SYS_PTRACE and CAP_SYS_ADMIN. Bridge processes always do so. Does nothing
    /// without the trait Plugins.
    public static func keepOthersOut() {
        #if PLUGINS
        bmo_keep_others_out()
        #endif
    }

    /// Overwrites an environment variable in place, so that `/proc/PID/environ` no longer shows it either.
    ///
    /// Without the trait Plugins, the variable is only removed: a memory of the process that others read still has it.
    package static func blank(variable name: String) {
        #if PLUGINS
        bmo_blank_variable(name)
        #else
        unsetenv(name)
        #endif
    }

    /// Ends all bridge processes of this program and removes their files.
    ///
    /// For a program that exits without closing its connections. Takes about a second at most.
    package static func endProcesses() async {
        #if PLUGINS
        await ChildSession.endAll()
        SessionOpener.removeLinks()
        #endif
    }

    // MARK: Finding

    /// Lists every file on the search paths that may be a plugin: its description, or the reason for its refusal.
    ///
    /// If two bridges share a name, the first on the search paths wins and the other is refused.
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

    /// Finds the bridge that a configuration calls `name`.
    ///
    /// Inspects a file named `libNAMEBridge.so` (in any case) first, to avoid inspecting all of them.
    ///
    /// - Throws: ``BridgeFailure`` with the available names, or the reason why the plugin was refused.
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
            remedy: names.isEmpty ? Self.absence(in: searchPaths) : "there is: \(names.joined(separator: ", "))")
    }

    /// What to do if there is no bridge at all.
    private static func absence(in searchPaths: [SearchPath]) -> String {
        #if PLUGINS
        "no plugin was found in \(searchPaths.map(\.folder).joined(separator: ", ")): set BMO_PLUGIN_PATH"
        #else
        "this program was built without plugins: link the bridge into it"
        #endif
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

    #if PLUGINS
    /// Inspects the files, without starting those that the lock file refuses.
    private func look(at candidates: [Candidate]) async -> [PluginListing] {
        let refusals = candidates.map { candidate in
            pins?.refusal(
                of: candidate.path, name: PluginPins.name(of: candidate.path), origin: candidate.origin)
        }
        let allowed = candidates.indices.filter { refusals[$0] == nil }
        var inspected = await inspector.inspect(
            allowed.map { index in
                let candidate = candidates[index]
                let name = PluginPins.name(of: candidate.path)
                return .init(
                    path: candidate.path, isKept: candidate.origin != .named,
                    digest: pins?.digest(of: name, origin: candidate.origin))
            })[...]
        return zip(candidates, refusals).compactMap { candidate, refusal in
            var listing =
                refusal.map { PluginListing(path: candidate.path, refusal: $0) } ?? inspected.popFirst()
            listing?.origin = candidate.origin
            if let found = listing, found.refusal == nil {
                // The bridge's name may differ from the file's.
                listing?.refusal = pins?.refusal(of: found.path, name: found.name, origin: candidate.origin)
                listing?.digest = pins?.digest(of: found.name, origin: candidate.origin)
            }
            return listing
        }
    }
    #else
    /// Without plugins, no file is a bridge.
    private func look(at candidates: [Candidate]) async -> [PluginListing] { [] }
    #endif

    /// Inspects the file at `path`, wherever it is, without consulting the lock file.
    public func inspect(path: String) async -> PluginListing {
        #if PLUGINS
        await inspector.inspect(.init(path: path, isKept: false, digest: nil))
        #else
        PluginListing(path: path, refusal: "this program was built without plugins")
        #endif
    }

    // MARK: Connecting

    /// Starts to load a plugin that will run in this process, so that it is ready when a connection is made.
    ///
    /// Returns at once. Does nothing for a third-party plugin or one that asks for its own process.
    public func preload(_ plugin: PluginListing) {
        #if PLUGINS
        guard plugin.refusal == nil, plugin.origin == .shipped, plugin.isolation == .inProcess,
            linked.plugin(of: plugin) == nil
        else { return }
        SessionOpener.preload(plugin.path)
        #endif
    }

    /// Opens an instance of a bridge.
    ///
    /// - Parameters:
    ///   - plugin: From ``plugin(named:)`` or ``plugins()``, not refused.
    ///   - options: A batch of one object: the configuration's `options:` with secrets resolved.
    ///   - name: The bridge's name in the configuration, used in messages.
    ///   - secrets: The values that no error, log or page may show.
    ///   - isolation: Where to run it. Nil lets a plugin that came with the program choose, and selects a child process
    ///     for any other. A plugin that asks for a child process always gets one.
    ///   - memory: The memory limit for a child process's data, in bytes.
    ///   - patience: The time limit for all tries of a step together; nil for that of ``RetryPolicy``.
    ///   - texts: The texts that the bridge can share with other processes; nil if there are none.
    /// - Throws: ``BridgeFailure`` when the bridge rejects its options or cannot be started.
    public func connect(
        to plugin: PluginListing, options: RecordBatch, name: String, secrets: [String] = [],
        isolation: PluginListing.Isolation? = nil, memory: Int? = nil, patience: Duration? = nil,
        texts: (any SharedTexts)? = nil
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
        limits.retries.patience = patience ?? limits.retries.patience
        let log = BridgeLog(logger, bridge: name, redactor: Redactor(secrets: secrets))
        var opener = SessionOpener(
            plugin: plugin, options: options, executable: executable, isolation: isolation, limits: limits, log: log)
        opener.linked = linked
        opener.cache = cache
        opener.texts = texts
        if isolation == .childProcess, !plugin.isConcurrent {
            opener.helpers = HelperPool(limits: limits, log: log) {
                [opener] () async throws(BridgeFailure) -> any BridgeSession in try await opener.open()
            }
        }
        let pool = SessionPool(
            bridge: name, fetchesPerSession: plugin.isConcurrent ? .max : 1,
            most: isolation == .childProcess && !plugin.isConcurrent ? limits.workers : 1
        ) { [opener] () async throws(BridgeFailure) -> any BridgeSession in try await opener.open() }
        // Opening a session now makes invalid options fail here and not in the first fetch.
        _ = try await pool.session()
        return BridgeConnection(
            plugin: plugin, isolation: isolation, pool: pool, opener: opener, limits: limits, log: log)
    }
}

extension [String] {
    /// Sorts by edit distance to `name`, then by name.
    func nearestFirst(to name: String) -> [String] {
        let wanted = [Character](name.prefix(64))
        return map { (editDistance([Character]($0.prefix(64)), wanted), $0) }.sorted { $0 < $1 }.map(\.1)
    }
}
