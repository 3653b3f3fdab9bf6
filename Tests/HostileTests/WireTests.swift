import Foundation
import TestSupport
import Testing

/// Servers that break HTTP/2 or TLS, below what the bridge sees of them.
@Suite struct WireTests {
    /// An attack of wire.py, and how the sync that meets it ends.
    struct Attack: CustomTestStringConvertible, Sendable {
        let name: String
        /// What the error or the warning says; nil where the sync goes well.
        let says: String?
        let exitCode: Int32

        var testDescription: String { name }

        /// An attack that fails the sync.
        static func fails(_ name: String, _ says: String) -> Attack {
            Attack(name: name, says: says, exitCode: 1)
        }

        /// An attack that leaves the listing incomplete: no row is deleted, and a warning says why.
        static func warns(_ name: String, _ says: String) -> Attack {
            Attack(name: name, says: says, exitCode: 0)
        }
    }

    static let attacks: [Attack] = [
        .fails("cut_without_end", "the reply broke off"),
        .fails("whole_without_end", "the reply broke off"),
        .warns("reset", "a truncated one would look the same"),
        .fails("shorter_than_said", "the connection broke"),
        .fails("longer_than_said", "the connection broke"),
        .fails("goaway", "the connection broke"),
        .fails("goaway_behind_rows", "the reply broke off"),
        .fails("continuation_flood", "the connection broke"),
        .fails("many_fields", "the reply's header is over 256 KiB or 500 fields"),
        .fails("header_bomb", "the connection broke"),
        .fails("informational_flood", "the connection broke"),
        .fails("settings_flood", "the connection broke"),
        .fails("ping_flood", "the connection broke"),
        .fails("push", "the connection broke"),
        .fails("window_overflow", "the connection broke"),
        .warns("huge_frame", "a truncated one would look the same"),
        .warns("huge_frame_behind_rows", "a truncated one would look the same"),
        .fails("garbage", "the connection broke"),
        .warns("garbage_behind_rows", "a truncated one would look the same"),
        .fails("other_stream", "the connection broke"),
        .warns("tls_truncated", "a truncated one would look the same"),
        .fails("tls_silent", "timeout"),
        .fails("tls_drip", "timeout"),
        .fails("tls_garbage", "tls"),
        .fails("tls_expired", "certificate has expired"),
        .fails("tls_other_name", "self-signed certificate"),
        .fails("tls_old", "tls"),
    ]

    @Test(arguments: attacks)
    func `no row is lost, and time and memory stay bounded`(attack: Attack) async throws {
        let place = try await RemoteWorkspace.wire(attack.name)
        try await place.syncCalmly(expecting: 61)
        let run = try await place.sync()
        #expect(run.process.exitCode == attack.exitCode, "\(run.process)")
        if let says = attack.says { #expect(run.process.errorOutput.contains(says), "\(run.process)") }
        #expect(try await place.rows() == 61, "what the remote still has is not deleted")
        #expect(run.memory <= 400, "MiB")
        #expect(run.processorTime <= 15, "seconds")
        #expect(!run.process.allOutput.contains(wireToken))
    }

    /// libcurl 7.88 reads on while bytes come that are no data, and looks at no limit meanwhile.
    @Test func `a flood of empty frames is ended by a limit that libcurl does not look at`() async throws {
        let place = try await RemoteWorkspace.wire("empty_data_flood")
        try await place.syncCalmly(expecting: 61)
        let run = try await place.sync()
        #expect(run.process.exitCode == 1, "\(run.process)")
        // On a busy machine the flood may pause long enough for libcurl to return, or begin too late: other limits end it then.
        let limits = [
            "kept the connection busy for 2 s", "slower than 1024 bytes a second", "the reply did not begin within 2 s",
        ]
        #expect(limits.contains { run.process.errorOutput.contains($0) }, "\(run.process)")
        #expect(run.process.errorOutput.contains("or raise "), "\(run.process)")
        #expect(try await place.rows() == 61)
        #expect(run.memory <= 400, "MiB")
        // Four tries, of two seconds each.
        #expect(run.processorTime <= 15, "seconds")
        #expect(run.seconds <= 40, "seconds; the flood itself lasts 20 on each of the four connections")
    }

    /// What shows that the rows of the other test would be deleted if an attack were taken for a listing.
    @Test func `a listing that is whole deletes what it lacks`() async throws {
        let place = try await RemoteWorkspace.wire("short")
        try await place.syncCalmly(expecting: 61)
        let run = try await place.sync()
        #expect(run.process.exitCode == 0, "\(run.process)")
        #expect(try await place.rows() == 55)
    }

    @Test func `a redirect from https to http takes no credential along`() async throws {
        let place = try await RemoteWorkspace.wire("tls_downgrade")
        try await place.syncCalmly(expecting: 61)
        let run = try await place.sync()
        let clear = try String(contentsOfFile: place.folder.appending("clear"), encoding: .utf8)
        #expect(clear.hasPrefix("GET /rows"), "the redirect was followed")
        #expect(!clear.contains(wireToken) && !clear.lowercased().contains("authorization"), "\(clear)")
        #expect(try await place.rows() == 61, "\(run.process)")
    }
}

private let wireToken = "canary-of-the-wire-tests"

/// A sync against wire.py, and what it took.
private struct WireRun {
    let process: ProcessRun
    /// The most that a process held, in MiB.
    let memory: Int
    /// User and system, in seconds.
    let processorTime: Double
    /// On a clock, in seconds.
    let seconds: Double
}

/// A workspace whose remote is wire.py, which breaks HTTP and TLS.
extension RemoteWorkspace where Remote == RemoteServer {
    fileprivate static func wire(_ attack: String) async throws -> RemoteWorkspace<RemoteServer> {
        let folder = try TemporaryFolder()
        let server = try await RemoteServer(
            ["python3", "-u", "-B", file("wire.py"), folder.path, attack], in: folder, marker: "")
        let place = try RemoteWorkspace(of: server, in: folder, environment: ["WIRE_TOKEN": wireToken])
        try place.folder.write(
            """
            version: 1
            bridges:
              site:
                plugin: rest
                options:
                  url: https://127.0.0.1:\(place.server.port)
                  auth: {type: bearer, token: {env: WIRE_TOKEN}}
                  tls: {ca_file: ca.pem}
                  connect_timeout: 1
                  first_byte_timeout: 2
                  minimum_speed_time: 2
            entities:
              Row:
                bridge: site
                key: id
                attributes: {id: integer, name: text}
                rest: {path: /rows, format: ndjson}

            """, to: "bmo.yml")
        return place
    }

    /// Syncs once while the server behaves, and requires so many rows.
    fileprivate func syncCalmly(expecting count: Int) async throws {
        try folder.write("", to: "calm")
        let run = try await sync().process
        try #require(run.exitCode == 0, "\(run)")
        try #require(try await rows() == count)
        try FileManager.default.removeItem(atPath: folder.appending("calm"))
    }

    fileprivate func sync() async throws -> WireRun {
        let start = ContinuousClock.now
        let process = try await ProcessRun.run(
            "python3", [Self.file("measure.py"), "usage", Products.path(of: "bmo"), "sync"],
            environment: environment, directory: folder.path, within: .seconds(90))
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let usage = try String(contentsOfFile: folder.appending("usage"), encoding: .utf8).split(separator: " ")
        let memory = try #require(Int(usage[0]))
        let time = try #require(Double(usage[1].dropLast()))
        return WireRun(process: process, memory: memory, processorTime: time, seconds: seconds)
    }

    fileprivate func rows() async throws -> Int? {
        Int(try await query("SELECT count(*) FROM Row"))
    }

    private static func file(_ name: String) -> String { PackageFolder.path + "/Tests/HostileTests/" + name }
}
