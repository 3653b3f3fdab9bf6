import Glibc
import TestSupport
import Testing
@testable import SystemCalls

@Suite struct SpawnTests {
    /// Runs a shell command and returns its exit code and what it printed.
    private func run(
        _ script: String, environment: [String]? = ["A=1"], _ change: (inout Spawn) -> Void = { _ in }
    ) throws -> (code: CInt, output: String, errors: String) {
        let folder = try TemporaryFolder()
        let (output, errors) = ("\(folder.path)/output", "\(folder.path)/errors")
        var spawn = Spawn(
            "/bin/sh", ["sh", "-c", script], environment: environment, input: .empty, output: .file(output),
            errors: .file(errors))
        change(&spawn)
        let pid = try spawn.start()
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        func text(_ path: String) throws -> String {
            String(decoding: try BoundedFile.read(path, limit: 1 << 20), as: UTF8.self)
        }
        return (status >> 8 & 0xFF, try text(output), try text(errors))
    }

    @Test func `streams and environment are as given`() throws {
        let result = try run("read line; echo \"$A-$line\"; echo words >&2; exit 3")
        #expect(result.code == 3)
        #expect(result.output == "1-\n")
        #expect(result.errors == "words\n")
    }

    @Test func `an environment of nil is this process's`() throws {
        setenv("SYSTEM_CALLS_TEST", "here", 1)
        #expect(try run("echo $SYSTEM_CALLS_TEST", environment: nil).output == "here\n")
        #expect(try run("echo $SYSTEM_CALLS_TEST").output == "\n")
    }

    @Test func `the program blocks no signal and ignores none`() throws {
        let status = Monitor("")
        let starter = try #require(
            NativeThread(blocking: .all) {
                let result = try? run("exec grep -E '^Sig(Blk|Ign)' /proc/self/status")
                status.withLock { $0 = result?.output ?? "" }
            })
        starter.join()
        let masks = status.withLock { $0 }.split(separator: "\n").compactMap { line in
            line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
        }
        // The C library keeps signals 32 and 33 for itself.
        #expect(masks.count == 2)
        #expect(masks.nonEmptyAllSatisfy { $0 & 0x7FFF_FFFF == 0 }, "\(masks)")
    }

    @Test func `a program can lead a group of its own`() throws {
        let script = "read -r line </proc/$$/stat; set -- $line; echo $(($5 - $$))"
        #expect(try run(script) { $0.leadsGroup = true }.output == "0\n")
        #expect(try run(script).output != "0\n")
    }

    @Test func `only named descriptors are inherited`() throws {
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let script = "test -e /proc/$$/fd/\(ends[0]) && echo yes || echo no"
        #expect(try run(script).output == "no\n")
        #expect(try run(script) { $0.inherited = [ends[0]] }.output == "yes\n")
    }

    @Test func `a program that does not exist is a failure`() {
        let spawn = Spawn(
            "/nowhere/program", ["program"], environment: [], input: .empty, output: .empty, errors: .empty)
        #expect(throws: Spawn.Failure(number: ENOENT)) { try spawn.start() }
    }
}
