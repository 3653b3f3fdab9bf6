import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// How a command ends, whatever other threads and libraries do meanwhile.
    @Suite struct CommandEndTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// A library whose destructor, which `exit()` runs, crashes.
        private func crashingLibrary() async throws -> String {
            try folder.write(
                """
                #include <stdlib.h>
                __attribute__((destructor)) static void end(void) { abort(); }
                """, to: "end.c")
            let library = folder.appending("libend.so")
            let built = try await ProcessRun.run(
                "cc", ["-shared", "-fPIC", "-o", library, folder.appending("end.c")])
            try #require(built.exitCode == 0, "\(built)")
            return library
        }

        @Test(arguments: [
            (["--version"], 0), (["--help"], 0), (["schema", "--config"], 0), (["status"], 2), (["nonsense"], 2),
            (["introspect", "rest", "http://127.0.0.1:1/", "--sample", "/users"], 2),
        ])
        func `no command runs the destructors of libraries, and its exit code stays`(arguments: [String], code: Int)
            async throws
        {
            let library = try await crashingLibrary()
            let run = try await ProcessRun.run(
                BuiltCommand.path(), arguments, environment: ["LD_PRELOAD": library], directory: folder.path)
            #expect(run.exitCode == Int32(code), "\(run)")
        }

        @Test(arguments: [["status"], ["status", "--log", "json"]])
        func `diagnostics that cannot be written do not change the exit code`(arguments: [String]) async throws {
            let run = try await ProcessRun.run(
                "sh", ["-c", #""$0" "$@" 2> /dev/full"#, try BuiltCommand.path()] + arguments, directory: folder.path)
            #expect(run.exitCode == 2, "\(run)")
        }

        @Test func `a slow reader of a pipe that does not block gets all that is printed`() async throws {
            try folder.write(
                """
                import fcntl, os, subprocess, sys, time
                read, write = os.pipe()
                fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
                flags = fcntl.fcntl(write, fcntl.F_GETFL)
                fcntl.fcntl(write, fcntl.F_SETFL, flags | os.O_NONBLOCK)
                child = subprocess.Popen(sys.argv[1:], stdout=write)
                os.close(write)
                size = 0
                while chunk := os.read(read, 1500):
                    size += len(chunk)
                    time.sleep(0.001)
                print(child.wait(), size)
                """, to: "slow.py")
            let whole = try await ProcessRun.run(BuiltCommand.path(), ["schema", "--config"], directory: folder.path)
            try #require(whole.output.utf8.count > 40_000)
            let slow = try await ProcessRun.run(
                "python3", [folder.appending("slow.py"), try BuiltCommand.path(), "schema", "--config"],
                directory: folder.path)
            #expect(slow.output == "0 \(whole.output.utf8.count)\n", "\(slow)")
        }
    }
}
