import BridgeConformance
import BridgeHost
import BridgeTestSupport
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// What the kit reports of the shelf bridge (Tests/ShelfBridge), compiled with one defect or none.
///
/// - Parameter remoteGivesKey: Whether the settings leave the key of a new object to the remote.
func shelfReport(
    _ defect: String? = nil, level: ConformanceLevel = .strict, skips: [String: String] = [:],
    remoteGivesKey: Bool = false, timeout: Duration? = nil
) async throws -> ConformanceReport {
    let folder = try await ShelfBridge.folder(defect)
    try folder.write("open sesame\n", to: "password")
    let config = try folder.write(
        """
        version: 1
        database: unused.sqlite
        bridges:
          shelf: {plugin: shelf, options: {password: {file: password}}}
        entities:
          Item:
            bridge: shelf
            key: id
            incremental: token
            attributes: {id: integer, name: text, color: text}
            shelf: {shelf: top}
        """, to: "bmo.yml")
    var create: [String: ConformanceSettings.Scalar] = ["name": .text("lamp"), "color": .text("blue")]
    if !remoteGivesKey { create["id"] = .integer(900) }
    var settings = ConformanceSettings(
        config: config, level: level, skips: skips, wrongOptions: ["password": "wrong"],
        writes: ["Item": ConformanceSettings.Write(key: "id", create: create, update: ["name": .text("lantern")])])
    settings.timeout = timeout
    let run = try await ConformanceRun(
        settings, stores: SQLiteStores(), executable: Products.testHost, searchPaths: [SearchPath(folder.path)])
    return await run.run()
}

/// The shelf bridge, compiled once for each defect.
private enum ShelfBridge {
    private static let built = Mutex<[String: Task<TemporaryFolder, any Error>]>([:])

    static func folder(_ defect: String?) async throws -> TemporaryFolder {
        try await built.withLock { built in
            if let task = built[defect ?? ""] { return task }
            let task = Task { try await compile(defect) }
            built[defect ?? ""] = task
            return task
        }.value
    }

    /// Waits for the compiler without a thread: the other tests' timers run on the same few.
    private static func compile(_ defect: String?) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let arguments = CompiledBridge.arguments(
            PackageFolder.path + "/Tests/ShelfBridge/shelf_bridge.c", to: folder.appending("libshelfBridge.so"),
            defect.map { ["WRONG_\($0)"] } ?? [], options: ["-Wno-unused-function"])
        let cc = try await ProcessRun.run("cc", arguments)
        try #require(cc.exitCode == 0, "\(cc)")
        return folder
    }
}

extension ConformanceReport {
    /// The identifiers of the checks that failed, with their words.
    var failures: [String: String] {
        var failures: [String: String] = [:]
        for result in results {
            if case .failed(let words) = result.outcome { failures[result.check.id] = words }
        }
        return failures
    }
}
