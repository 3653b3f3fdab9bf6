import BMO
import BridgeHost
import BridgeTestSupport
import Foundation
import StoreContract
import TestSupport

/// A configuration with counting bridges (Tests/CountingBridge), and a host that runs them.
extension LibraryWorkspace where Remote == CountingHost {
    var log: LogLines { server.lines }

    /// - Parameter definitions: what the bridge is compiled with, such as its isolation.
    static func counting(_ definitions: [String] = []) throws -> LibraryWorkspace {
        try LibraryWorkspace { folder in
            try host(definitions, isMended: false, LogLines(), in: TemporaryFolder("plugins", in: folder))
        }
    }

    private static func host(
        _ definitions: [String], isMended: Bool, _ lines: LogLines, in folder: TemporaryFolder? = nil
    ) throws -> CountingHost {
        try CountingHost(definitions, isMended: isMended, in: folder, lines: lines) { limits in
            limits.retries.base = .milliseconds(5)
            // What it prints is looked for in the log.
            limits.allowsPrinting = true
        }
    }

    /// Writes the configuration and loads it.
    func workspace(_ text: String) async throws -> Workspace {
        try folder.write(text, to: "bmo.yml")
        return try await Workspace.load(path: folder.appending("bmo.yml"), host: server.host, stores: stores)
    }

    /// Loads the configuration as it was written last, with a bridge that does not misbehave: another configuration would
    /// be another request, which does not go on where the one before stopped.
    func mendedWorkspace() async throws -> Workspace {
        let mended = try Self.host(server.definitions, isMended: true, server.lines)
        return try await Workspace.load(path: folder.appending("bmo.yml"), host: mended.host, stores: stores)
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
}

extension CountingHost {
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
