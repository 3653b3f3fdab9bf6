import BridgeConformance
import Foundation
import SQLiteStore
import TestSupport
import Testing

/// The cases that ship.
enum ShippedCases {
    static let folder = PackageFolder.path + "/Fixtures/cases"

    /// Replays a case in strict mode.
    static func run(_ folder: String, strict: Bool = true, updates: Bool = false) async throws -> FixtureRun.Result {
        try await FixtureRun(
            FixtureCase(folder: folder), stores: SQLiteStores(), executable: BuiltCommand.path(), strict: strict,
            updates: updates
        ).run()
    }
}

/// Copies of the cases, which a suite may spoil.
extension TestWorkspace {
    /// A copy of a case that a test may change.
    func copy(_ name: String) throws -> String {
        let path = folder.appending(name)
        try FileManager.default.copyItem(atPath: ShippedCases.folder + "/" + name, toPath: path)
        return path
    }

    /// Replaces text in a file, which must be there.
    func edit(_ path: String, _ old: String, _ new: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.contains(old), "\(path) lacks \(old)")
        try text.replacing(old, with: new).write(toFile: path, atomically: true, encoding: .utf8)
    }
}

extension RemoteServer {
    /// Fixtures/remote/api.py, which asks for `secret`.
    static func casesAPI(state: String, secret: String = "s3cr3t") throws -> RemoteServer {
        try RemoteServer(
            blocking: ["python3", PackageFolder.path + "/Fixtures/remote/api.py", "0", state],
            environment: ["FIXTURE_CLIENT_SECRET": secret], marker: "")
    }
}
