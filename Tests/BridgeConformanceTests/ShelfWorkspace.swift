import BridgeConformance
import BridgeHost
import Foundation
import Synchronization
import TestSupport
import SQLiteStore
import Testing

/// The shelf bridge (Tests/ShelfBridge), compiled with one defect or none, and settings for it.
struct ShelfWorkspace {
    let folder: TemporaryFolder
    let settings: ConformanceSettings

    private static let built = Mutex<[String: Task<TemporaryFolder, any Error>]>([:])

    /// - Parameter remoteGivesKey: Whether the settings leave the key of a new object to the remote.
    init(
        _ defect: String? = nil, level: ConformanceLevel = .strict, skips: [String: String] = [:],
        remoteGivesKey: Bool = false, timeout: Duration? = nil
    ) async throws {
        folder = try await Self.plugin(defect)
        let work = folder
        try work.write("open sesame\n", to: "password")
        let config = try work.write(
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
            writes: [
                "Item": ConformanceSettings.Write(
                    key: "id", create: create, update: ["name": .text("lantern")])
            ])
        settings.timeout = timeout
        self.settings = settings
    }

    func report() async throws -> ConformanceReport {
        let run = try await ConformanceRun(
            settings, stores: SQLiteStores(), executable: Self.testHost, searchPaths: [SearchPath(folder.path)])
        return await run.run()
    }

    /// Compiled once for each defect.
    private static func plugin(_ defect: String?) async throws -> TemporaryFolder {
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
        let cc = Process()
        cc.executableURL = URL(filePath: "/usr/bin/cc")
        cc.arguments =
            [
                "-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wno-unused-function", "-Werror", "-shared", "-fPIC",
                "-I\(PackageFolder.path)/Sources/CBridge/include", "-o", folder.appending("libshelfBridge.so"),
                PackageFolder.path + "/Tests/ShelfBridge/shelf_bridge.c",
            ] + (defect.map { ["-DWRONG_\($0)"] } ?? [])
        let status = try await withCheckedThrowingContinuation { continuation in
            cc.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try cc.run() } catch { continuation.resume(throwing: error) }
        }
        try #require(status == 0, "cc failed")
        return folder
    }

    /// The executable that serves bridges.
    static var testHost: String { Products.folder + "/TestHost" }
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
