import BridgeTestSupport
import Glibc
import TestSupport
import Testing

@testable import BridgeHost

@Suite struct IsolationTests {
    @Test func `a crash costs one error and the next fetch works`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        let stream = try await connection.fetch(try request(["crash_at": 5]))
        #expect(try await stream.next()?.ids == [0, 1, 2, 3])
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .crashed)
        #expect(
            failure.message == "the bridge crashed: SIGABRT (aborted); its last output: about to abort at 5")
        #expect(failure.breaksPage == false)
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test func `a bridges process has other processes work for it`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        #expect(try await ids(connection.fetch(try request(["delegate": 1000]))) == Array(0..<1000))
        let failure = try await failure {
            _ = try await ids(connection.fetch(try request(["delegate": 10, "worker_crash_at": 3])))
        }
        #expect(failure.code == .unreachable)
        #expect(failure.message.contains("the other process gave nothing"))
        #expect(try await ids(connection.fetch(try request(["delegate": 5]))) == Array(0..<5), "another one starts")
        await connection.close()
    }

    @Test func `more threads than the host serves wait for their turn`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        let threads = Int64(3 * Frame.maxWork)
        let stream = try await connection.fetch(
            try request(["delegate": 5, "delegate_threads": .integer(threads)]))
        #expect(try await ids(stream) == Array(0..<5), "each of them had an answer")
        await connection.close()
    }

    @Test func `a process that floods the host with work is ended`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        let failure = try await failure {
            _ = try await ids(connection.fetch(try request(["delegate": 5, "flood": 100_000])))
        }
        #expect(failure.code == .malformed && !failure.isRetryable)
        #expect(
            failure.message == "the bridge's process answered with more than 64 requests to other processes at a time")
        #expect(try await ids(connection.fetch(try request(["delegate": 5]))) == Array(0..<5), "another one starts")
        await connection.close()
    }

    @Test func `a bridge in the hosts process has no others`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        let failure = try await failure { _ = try await ids(connection.fetch(try request(["delegate": 5]))) }
        #expect(failure.code == .unsupported)
        await connection.close()
    }

    @Test func `a crash leaves other connections alone`() async throws {
        let host = try CountingHost()
        let healthy = try await host.connect(.childProcess)
        let stream = try await healthy.fetch(try request())
        #expect(try await stream.next()?.ids.count == 4)
        let sick = try await host.connect(.childProcess, options: ["crash_at": 0])
        _ = try await failure { _ = try await ids(sick.fetch(try request())) }
        #expect(try await ids(stream) == [4, 5, 6, 7, 8, 9])
        await healthy.close()
        await sick.close()
    }

    @Test func `a print to standard output is an error and the next fetch works`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        let stream = try await connection.fetch(try request(["print_at": 5]))
        #expect(try await stream.next()?.ids == [0, 1, 2, 3])
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .malformed && !failure.isRetryable)
        #expect(
            failure.message == "the bridge, or a program that it started, printed to standard output: "
                + #"`{"noise": "on standard output"}`"#)
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test func `what a plugin prints reaches the log where it is allowed`() async throws {
        let host = try CountingHost { $0.allowsPrinting = true }
        let connection = try await host.connect(.childProcess)
        #expect(try await ids(connection.fetch(try request(["print_at": 2]))) == Array(0..<10))
        try await eventually("both lines are in the log") {
            host.lines.all.contains(#"debug bridge printed line={"noise": "on standard output"}"#)
                && host.lines.all.contains("debug bridge printed line=noise on standard error")
        }
        await connection.close()
    }

    @Test func `a child sees no secrets of the environment and no open files`() async throws {
        setenv("BMO_TEST_TOKEN", "do-not-inherit", 1)
        let inherited = open("/etc/hostname", O_RDONLY)
        defer { close(inherited) }
        #expect(fcntl(inherited, F_GETFD) == 0, "the descriptor is to be inheritable")
        let connection = try await CountingHost().connect(.childProcess, options: ["reveal": 1])
        let message = try #require(try await connection.check())
        #expect(!message.contains("do-not-inherit"))
        #expect(!message.contains("hostname"))
        #expect(message.contains("0:/dev/null,"))
        let names = message.split(separator: "|").dropFirst().compactMap { $0.split(separator: "=").first }.sorted()
        let allowed = [
            "BMO_BRIDGE_SERVE", "HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "SWIFT_BACKTRACE", "TMPDIR", "TZ",
        ]
        #expect(names.nonEmptyAllSatisfy { allowed.contains(String($0)) }, "\(names)")
        #expect(names.contains("HOME"))
        await connection.close()
    }

    @Test func `a closed connection leaves no process and no home folder`() async throws {
        let connection = try await CountingHost().connect(.childProcess, options: ["reveal": 1])
        let message = try #require(try await connection.check())
        let pid = try #require(pid_t(message.split(separator: " ")[0].dropFirst("pid=".count)))
        let home = try #require(
            message.split(separator: "|").first { $0.hasPrefix("HOME=") }.map { String($0.dropFirst(5)) })
        #expect(kill(pid, 0) == 0)
        #expect(access(home, F_OK) == 0)
        await connection.close()
        // ESRCH, not a zombie: a process that was not waited for would still be there.
        try await eventually("the process ends") { kill(pid, 0) != 0 && errno == ESRCH }
        try await eventually("its home folder goes") { access(home, F_OK) != 0 }
    }

    @Test func `a process that left its group and hangs is ended too`() async throws {
        let host = try CountingHost { $0.call = .seconds(8) }
        let connection = try await host.connect(.childProcess, options: ["reveal": 1])
        let message = try #require(try await connection.check())
        let pid = try #require(pid_t(message.split(separator: " ")[0].dropFirst("pid=".count)))
        let stream = try await connection.fetch(try request(["block_at": 0, "leave_group": 1, "stubborn": 1]))
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .timeout)
        try await eventually("the process ends") { kill(pid, 0) != 0 && errno == ESRCH }
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test func `an unclosed connection ends its process`() async throws {
        var connection: BridgeConnection? = try await CountingHost().connect(.childProcess, options: ["reveal": 1])
        let message = try #require(try await connection?.check())
        let pid = try #require(pid_t(message.split(separator: " ")[0].dropFirst("pid=".count)))
        connection = nil
        try await eventually("the process ends") { kill(pid, 0) != 0 && errno == ESRCH }
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a cancelled fetch stops soon when the bridge reacts`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        try await expectCancelledSoon(try await connection.fetch(try request(["block_at": 0])))
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a cancelled fetch stops soon even when the bridge does not react`(isolation: PluginListing.Isolation)
        async throws
    {
        let connection = try await CountingHost().connect(isolation)
        try await expectCancelledSoon(try await connection.fetch(try request(["block_at": 0, "stubborn": 1])))
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    private func expectCancelledSoon(
        _ stream: RecordStream, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let task = Task { try await stream.next() }
        // The call runs: the read-ahead began with the fetch.
        let start = ContinuousClock.now
        task.cancel()
        let failure = try await failure(sourceLocation: sourceLocation) { _ = try await task.value }
        let took = ContinuousClock.now - start
        #expect(failure.code == .cancelled, sourceLocation: sourceLocation)
        #expect(took < .seconds(20), sourceLocation: sourceLocation)
        await stream.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a call that takes too long is a timeout`(isolation: PluginListing.Isolation) async throws {
        // Long enough for a busy machine to start the next process in.
        let patience: Duration = isolation == .inProcess ? .seconds(2) : .seconds(8)
        let connection = try await CountingHost { $0.call = patience }.connect(isolation)
        let stream = try await connection.fetch(try request(["block_at": 0, "stubborn": 1]))
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .timeout)
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test func `a hanging fetch does not take along the others of its process`() async throws {
        let connection = try await CountingHost(["COUNTING_CONCURRENT=1"]).connect(.childProcess)
        let other = try await connection.fetch(try request())
        #expect(try await other.next()?.ids == [0, 1, 2, 3])
        let hanging = try await connection.fetch(try request(["block_at": 0, "stubborn": 1]))
        await hanging.close()
        #expect(try await ids(other) == [4, 5, 6, 7, 8, 9])
        await connection.close()
    }
}
