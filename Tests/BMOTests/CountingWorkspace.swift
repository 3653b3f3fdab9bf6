import BMO
import BridgeHost
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Logging
import Model
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

/// A configuration with counting bridges (Tests/CountingBridge), and a host that runs them.
final class CountingWorkspace: Sendable {
    let folder: TemporaryFolder
    /// The store of the suite, or SQLite.
    let kind = StoreKind.current
    let stores: any StoreProvider
    let host: BridgeHost
    /// A host of the same bridge that does what its options say, but misbehave.
    let mendedHost: BridgeHost
    let log: LogLines

    var database: String { folder.appending("bmo.sqlite") }

    /// - Parameter definitions: what the bridge is compiled with, such as its isolation.
    init(_ definitions: [String] = []) throws {
        folder = try TemporaryFolder()
        stores = kind.provider()
        log = LogLines()
        host = try Self.host(definitions, isMended: false, in: folder, log)
        mendedHost = try Self.host(definitions, isMended: true, in: folder, log)
    }

    private static func host(
        _ definitions: [String], isMended: Bool, in folder: TemporaryFolder, _ log: LogLines
    ) throws -> BridgeHost {
        let plugins = folder.appending(isMended ? "mended" : "plugins")
        try FileManager.default.createDirectory(atPath: plugins, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: try CountingLibrary.build(definitions, isMended: isMended),
            toPath: plugins + "/libCountingBridge.so")
        var limits = BridgeLimits()
        limits.retries.base = .milliseconds(5)
        // What it prints is looked for in the log.
        limits.allowsPrinting = true
        return BridgeHost(
            searchPaths: [SearchPath(plugins)], executable: CountingLibrary.testHost, logger: log.logger, limits: limits
        )
    }

    /// Writes the configuration and loads it.
    func workspace(_ text: String) async throws -> Workspace {
        try folder.write(text, to: "bmo.yml")
        return try await Workspace.load(path: folder.appending("bmo.yml"), host: host, stores: stores)
    }

    /// Loads the configuration as it was written last, with a bridge that does not misbehave: another configuration would
    /// be another request, which does not go on where the one before stopped.
    func mendedWorkspace() async throws -> Workspace {
        try await Workspace.load(path: folder.appending("bmo.yml"), host: mendedHost, stores: stores)
    }

    /// A configuration of one bridge and one entity; each argument is what stands between the braces.
    static func numbers(options: String = "", section: String = "") -> String {
        """
        version: 1
        bridges:
          numbers: {plugin: counting, options: {\(options)}}
        entities:
          Number:
            bridge: numbers
            key: id
            attributes:
              id: integer
              name: text
              even: {type: boolean, from: nested.even}
              digits: {type: json, from: nested.digits}
            counting: {\(section)}
        """
    }

    /// Says what the counting bridge's `world` is: a line each.
    func say(_ lines: String..., about world: String = "world") throws {
        try folder.write(lines.map { $0 + "\n" }.joined(), to: world)
    }

    /// What was asked of the counting bridge since the last call: a line for each fetch.
    func takeRequests(about world: String = "world") throws -> [String] {
        let path = folder.appending("\(world).log")
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// A configuration of one entity in the world.
    func world(entity: String = "", section: String = "") -> String {
        """
        version: 1
        bridges:
          numbers: {plugin: counting}
        entities:
          Number:
            bridge: numbers
            key: id
            attributes:
              id: integer
              name: text
              changed: timestamp
            counting: {world: "\(folder.appending("world"))", page_size: 10\(section.isEmpty ? "" : ", " + section)}
        \(entity.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
        """
    }

    /// Opens the database, syncs, and closes it.
    func sync(
        _ workspace: Workspace, _ options: Workspace.SyncOptions = Workspace.SyncOptions(),
        report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> SyncReport {
        let store = try workspace.openStore()
        let result = try await workspace.sync(into: store, options, report: report)
        try store.close()
        return result
    }

    /// The database as another program sees it; of another store than SQLite, a copy of its tables without bookkeeping.
    func file() throws -> SQLiteFile {
        guard kind != .sqlite else { return try SQLiteFile(database) }
        return try SQLiteFile(stores.contents(of: database), at: folder.appending("\(UUID().uuidString).sqlite"))
    }

    /// What is stored, to find out whether a sync wrote anything: the bytes of the file, or all tables as text.
    func stored() throws -> Data {
        guard kind != .sqlite else { return try Data(contentsOf: URL(filePath: database)) }
        return Data("\(try stores.contents(of: database))".utf8)
    }
}

/// Compiles Tests/CountingBridge, as a stranger compiles a bridge.
enum CountingLibrary {
    private static let built = Mutex<[[String]: (path: String, folder: TemporaryFolder)]>([:])

    static func build(_ definitions: [String], isMended: Bool) throws -> String {
        try built.withLock { built in
            let name = definitions + (isMended ? ["mended"] : [])
            if let known = built[name] { return known.path }
            let folder = try TemporaryFolder()
            var source = try String(
                contentsOfFile: PackageFolder.path + "/Tests/CountingBridge/counting_bridge.c", encoding: .utf8)
            if isMended {
                for option in ["crash_at", "fail_at", "block_at"] {
                    source = source.replacing("\"\(option)\"", with: "\"no \(option)\"")
                }
            }
            let file = try folder.write(source, to: "counting_bridge.c")
            let path = folder.appending("libCountingBridge.so")
            let cc = Process()
            cc.executableURL = URL(filePath: "/usr/bin/cc")
            cc.arguments =
                [
                    "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Werror", "-shared", "-fPIC",
                    "-I\(PackageFolder.path)/Sources/CBridge/include", "-o", path,
                    file,
                ] + definitions.map { "-D\($0)" }
            try cc.run()
            cc.waitUntilExit()
            try #require(cc.terminationStatus == 0, "cc failed")
            built[name] = (path, folder)
            return path
        }
    }

    /// The executable that serves bridges.
    static var testHost: String { Products.folder + "/TestHost" }
}

extension SyncReport {
    /// `Number finished 10 pages, +10000`, a line per entity.
    var text: String {
        entities.map { entity in
            let counts = entity.counts
            let parts = [
                ("+", counts.inserted), ("~", counts.updated), ("=", counts.unchanged), ("!", counts.quarantined),
                ("?", counts.stubs), ("@", counts.relinked), ("-", counts.deleted),
            ].filter { $0.1 != 0 }.map { " \($0.0)\($0.1)" }.joined()
            let resumed = entity.resumedAfterPage.map { " after page \($0)" } ?? ""
            return "\(entity.name) \(entity.outcomeWord)\(resumed), \(entity.pages) pages\(parts)"
        }.joined(separator: "\n")
    }

    /// Why an entity's scan failed.
    func failure(of entity: String) -> SyncFailure? {
        for candidate in entities where candidate.name == entity {
            if case .failed(let failure) = candidate.outcome { return failure }
        }
        return nil
    }
}
