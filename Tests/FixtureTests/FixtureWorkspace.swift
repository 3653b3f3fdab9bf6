import BridgeConformance
import Foundation
import TestSupport
import SQLiteStore
import Testing

/// The cases that ship, copies of them to spoil, and the built command that replays them.
struct FixtureWorkspace: TestWorkspace {
    static let cases = PackageFolder.path + "/Fixtures/cases"

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A copy of a case that a test may change.
    func copy(_ name: String) throws -> String {
        let path = folder.appending(name)
        try FileManager.default.copyItem(atPath: Self.cases + "/" + name, toPath: path)
        return path
    }

    /// Replays a case in strict mode.
    static func run(_ folder: String, strict: Bool = true, updates: Bool = false) async throws -> FixtureRun.Result {
        try await FixtureRun(
            FixtureCase(folder: folder), stores: SQLiteStores(), executable: BuiltCommand.path(), strict: strict,
            updates: updates
        ).run()
    }

    /// Replaces text in a file, which must be there.
    func edit(_ path: String, _ old: String, _ new: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.contains(old), "\(path) lacks \(old)")
        try text.replacing(old, with: new).write(toFile: path, atomically: true, encoding: .utf8)
    }
}

/// A port of 127.0.0.1 that nobody serves: who connects to it is seen.
final class SilentPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(made >= 0)
        descriptor = made
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                bind(made, plain, size) == 0 && listen(made, 5) == 0 && getsockname(made, plain, &size) == 0
            }
        }
        try #require(status)
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// Whether anybody has connected so far.
    var wasCalled: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }
}

/// Fixtures/remote/api.py on a free port.
struct RemoteAPI {
    let secret = "s3cr3t-\(UInt64.random(in: .min ... .max))"
    private let server: RemoteServer

    var url: String { server.url }

    init(state: String) throws {
        server = try RemoteServer(
            blocking: ["python3", PackageFolder.path + "/Fixtures/remote/api.py", "0", state],
            environment: ["FIXTURE_CLIENT_SECRET": secret], marker: "")
    }
}
