public import BMO
internal import BridgeHost
internal import Foundation
internal import Logging
internal import MemoryStore
internal import Model
public import RecordBatch
internal import StoreContract

extension RequestManager {
    /// Returns a manager for a test: the app's configuration, a database in memory, and a scripted remote in place of
    /// every bridge.
    ///
    /// A failure is not retried, so that a test need not wait. The database is gone with the manager.
    ///
    /// - Parameters:
    ///   - config: The configuration's file. The secrets that it names need not exist.
    ///   - remote: What its bridges ask.
    ///   - code: The code that the configuration names.
    ///   - clock: The clock of times to live and of the pauses while the remote is unreachable.
    ///   - options: The manager's settings.
    /// - Throws: `ConfigurationErrors` with every fault.
    public static func testing(
        config: String, remote: ScriptedRemote, code: CustomCode = CustomCode(),
        clock: any _Concurrency.Clock<Duration> = ContinuousClock(), options: Options = Options()
    ) async throws -> RequestManager {
        let file = ConfigurationFile(path: config)
        let plugins = Set(try file.configuration().bridges.map(\.plugin))
        let host = testHost(plugins.sorted().map(remote.bridge))
        let workspace = try await Workspace.load(path: config, host: host, stores: MemoryStores(), code: code)
        return try make(workspace, clock, options)
    }

    /// Returns a manager for a test with a definition in code, as ``testing(config:remote:clock:options:)``.
    ///
    /// - Throws: `ConfigurationErrors` with every fault.
    public static func testing(
        _ definition: ModelDefinition, remote: ScriptedRemote,
        clock: any _Concurrency.Clock<Duration> = ContinuousClock(),
        options: Options = Options()
    ) async throws -> RequestManager {
        let host = testHost(definition.plugins.sorted().map(remote.bridge))
        return try make(try await Workspace.load(definition, host: host, stores: MemoryStores()), clock, options)
    }

    /// Returns a manager whose bridges replay the exchanges of a fixture instead of asking their remotes, with a database
    /// in memory.
    ///
    /// `bmo fixtures record` writes the fixture: a folder with `bmo.yml`, `case.yml` and `exchanges/`. A request that
    /// was not recorded fails, and its message names the nearest one that was.
    ///
    /// - Parameters:
    ///   - fixture: The folder.
    ///   - step: The number of the recorded step, from 1, where the fixture has several.
    ///   - bridges: The bridges of the configuration; they have to support replays, as those for REST and SOAP do.
    /// - Throws: `ConfigurationErrors`.
    public static func replaying(
        _ fixture: String, step: Int? = nil, bridges: [any LinkedBridge], options: Options = Options()
    ) async throws -> RequestManager {
        var limits = BridgeLimits()
        limits.retries.passesAtOnce = true
        let host = BridgeHost(logger: Logger(label: "bmo.replay"), limits: limits, linked: bridges)
        let exchanges = fixture + "/exchanges" + (step.map { "/\($0)" } ?? "")
        var session = ExchangeSession(
            mode: .replay, folder: URL(fileURLWithPath: exchanges).path, report: "/dev/null", database: "replay")
        let facts = ConfigurationFile(path: fixture + "/case.yml").value
        var time = facts?["recorded"]
        // A list has a time for each step.
        if let times = time?.array { time = times.prefix(max(1, step ?? 1)).last }
        if let text = time?.string, let date = try? Date(text, strategy: .iso8601) {
            session.recorded = Int64(date.timeIntervalSince1970)
        }
        session.values = (facts?["values"]?.members ?? []).compactMap { member in
            member.value.string.map { (key: member.key, value: $0) }
        }
        let workspace = try await Workspace.load(
            ConfigurationFile(path: fixture + "/bmo.yml"), host: host, stores: MemoryStores(), session: session)
        return try RequestManager(workspace, options: options)
    }

    private static func make(
        _ workspace: Workspace, _ clock: any _Concurrency.Clock<Duration>, _ options: Options
    ) throws -> RequestManager {
        var workspace = workspace
        workspace.needsNoSecrets = true
        var options = options
        options.clock = clock
        return try RequestManager(workspace, options: options)
    }

    private static func testHost(_ bridges: [any LinkedBridge]) -> BridgeHost {
        var limits = BridgeLimits()
        limits.retries.tries = 1
        return BridgeHost(logger: Logger(label: "bmo.test"), limits: limits, linked: bridges)
    }
}
