import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Plugins that do what they must not, in a sync with a good one.
    ///
    /// A hang is a matter of minutes here: the host's own
    /// tests have it, with a shorter limit.
    @Suite struct PluginIsolationTests: TestWorkspace {
        let folder: TemporaryFolder
        var environment: [String: String] { ["BMO_PLUGIN_PATH": folder.path] }

        init() throws {
            folder = try TemporaryFolder()
        }

        /// Each is C code that runs in the middle of a fetch.
        @Test(arguments: [
            ("*(volatile int *)8 = 1;", "SIGSEGV"),
            ("abort();", "SIGABRT"),
            (
                "fetch->page_size = 1; rewind(fetch->file);",
                "the last 100 batches had all occurred before in this scan of Bad"
            ),
            ("_exit(0);", "exit code 0"),
            ("for (;;) memset(malloc(1 << 20), 1, 1 << 20);", "limit: the process of the bridge ended by SIGSEGV"),
            (
                "memset(malloc(900 << 20), 1, 900 << 20);",
                "at its limit of 128 MiB (`memory:`): memory was refused to it just before"
            ),
            (
                #"if (!malloc(900 << 20)) { fprintf(stderr, "fatal: out of memory\n"); exit(1); }"#,
                "ended by exit code 1 at its limit of 128 MiB (`memory:`): its last output: fatal: out of memory"
            ),
            (#"printf("Welcome");"#, "printed to standard output: `Welcome`"),
            ("for (int i = 0; i < 100; i++) close(i);", "exit code 1"),
            // The host waits for the exit that follows a closed connection, but not for long.
            (
                "if (fork() == 0) { kill(getppid(), SIGSTOP); for (int i = 0; i < 100; i++) shutdown(i, 2); _exit(0); } for (;;) pause();",
                "it closed its connection to the host without exiting, and was killed"
            ),
            (#"system("echo Hi");"#, "or a program that it started, printed to standard output: `Hi`"),
            (
                "static char zeros[300 << 20]; rows.max_bytes = (size_t)1 << 30; bmo_write_bytes(&rows, zeros, sizeof zeros);",
                "limit"
            ),
            (
                "static char zeros[100 << 20]; bmo_write_bytes(&rows, zeros, sizeof zeros);",
                "more than 67108864 bytes (`max_bytes` of its bmo_writer)"
            ),
            (
                "rows.max_keys = 2; for (char k[2] = \"a\"; *k < 'z'; ++*k) bmo_write_key(&rows, k, 1);",
                "more than 2 different names (`max_keys` of its bmo_writer)"
            ),
            ("bmo_write_array_begin(&rows);", "gave up on the batch"),
            (
                "bmo_writer_free(&rows); bmo_writer_free(&state); *page = (bmo_buffer){malloc(9), 9, NULL}; return BMO_OK;",
                "page"
            ),
        ])
        func `a bad plugin costs one clear error for its entity, and the rest goes on`(code: String, words: String)
            async throws
        {
            try await build("bad", code)
            try await build("good", "")
            let isHog = code.contains("malloc(1 <<") || code.contains("malloc(900")
            try writeConfig(more: isHog ? ", memory: 128 MiB" : "")
            let run = try await bmo("sync", "--quiet")
            #expect(run.exitCode == 1, "\(run)")
            let errors = run.errorOutput.split(separator: "\n").filter { $0.hasPrefix("bmo: error: ") }
            #expect(errors.count == 1 && errors[0].contains("Bad (bridge bad"), "\(run)")
            #expect(errors.first?.contains(words) == true, "\(run)")
            let rows = try await query("SELECT count(*) FROM Good")
            #expect(rows == "2")
        }

        /// Each makes the writer of the records fail in another way.
        @Test(arguments: [
            "static char zeros[100 << 20]; bmo_write_bytes(&rows, zeros, sizeof zeros);",
            "fetch->page_size = 0; rows.max_keys = 0; bmo_write_key(&rows, \"a\", 1);",
            "bmo_write_object_end(&rows);",
        ])
        func `a page that its writer gave up deletes nothing`(code: String) async throws {
            try await build("bad", "")
            try await build("good", "")
            try writeConfig()
            #expect(try await bmo("sync", "--quiet").exitCode == 0)
            // A second scan without any record of the first: a complete listing that says so would delete both.
            try await build("bad", code + " while (fgetc(fetch->file) != EOF) {}")
            let run = try await bmo("sync", "--quiet", "--restart")
            #expect(run.exitCode == 1 && run.errorOutput.contains("the bridge's writer gave up on the batch"), "\(run)")
            let rows = try await query("SELECT count(*) FROM Bad")
            #expect(rows == "2", "\(run)")
        }

        @Test func `what a plugin prints to standard error reaches the log and not the output`() async throws {
            try await build("bad", #"fprintf(stderr, "Welcome to my bridge\n");"#)
            try await build("good", "")
            try writeConfig()
            let run = try await bmo("sync", "--json")
            #expect(run.exitCode == 0 && !run.allOutput.contains("Welcome"), "\(run)")
            let logged = try await bmo("sync", "--verbose")
            #expect(logged.errorOutput.contains("line=Welcome to my bridge"), "\(logged)")
        }

        @Test(arguments: [["check", "--remote"], ["sync", "--quiet"], ["plan"]])
        func `a bridge that fails leaves no folder of its process behind`(arguments: [String]) async throws {
            try await build("bad", "return fail(page, \"remote\", \"asked to fail\", NULL);")
            try await build("good", "")
            try writeConfig()
            try FileManager.default.removeItem(atPath: folder.appending("passwd"))
            let temporary = folder.appending("temporary")
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
            let run = try await bmo(arguments, environment: ["TMPDIR": temporary])
            #expect(arguments == ["plan"] || run.exitCode == 1, "\(run)")
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary)
            #expect(left.filter { $0.hasPrefix("bmo-home-") } == [], "\(run)")
        }

        /// What a bridge finds of a secret that it was not given: a word per way.
        private func attack(environment: [String: String]) async throws -> [String: String] {
            let report = folder.appending("report")
            try await build(
                "bad",
                #"""
                FILE *out = fopen("REPORT", "w");
                static char all[1 << 20];
                char path[64];
                long host = getppid();
                for (int level = 0; level < 2; level++) {
                    /* The guard, or the host itself; then the host. */
                    snprintf(path, sizeof path, "/proc/%ld/environ", host);
                    int file = open(path, O_RDONLY);
                    ssize_t size = file < 0 ? -1 : read(file, all, sizeof all);
                    fprintf(out, "environment%d=%s\n", level, size > 0 && memmem(all, (size_t)size, "c4nary", 6) ? "read" : "closed");
                    snprintf(path, sizeof path, "/proc/%ld/mem", host);
                    fprintf(out, "memory%d=%s\n", level, open(path, O_RDWR) >= 0 ? "open" : "closed");
                    struct iovec here = {all, 1}, there = {all, 1};
                    errno = 0;
                    process_vm_readv((pid_t)host, &here, 1, &there, 1, 0);
                    fprintf(out, "read%d=%s\n", level, errno == EPERM ? "closed" : "open");
                    long handle = syscall(434, host, 0);
                    fprintf(out, "descriptor%d=%s\n", level, syscall(438, handle, 2, 0) >= 0 ? "taken" : "closed");
                    if (!getenv("BMO_TRACEABLE"))
                        fprintf(out, "trace%d=%s\n", level, ptrace(PTRACE_SEIZE, host, 0, 0) == 0 ? "attached" : "closed");
                    snprintf(path, sizeof path, "/proc/%ld/stat", host);
                    FILE *status = fopen(path, "r");
                    if (!status || !fgets(path, sizeof path, status)) break;
                    sscanf(strrchr(path, ')') + 1, " %*c %ld", &host);
                }
                fclose(out);
                """#.replacing("REPORT", with: report),
                headers: """
                    #define _GNU_SOURCE
                    #include <errno.h>
                    #include <fcntl.h>
                    #include <string.h>
                    #include <sys/ptrace.h>
                    #include <sys/syscall.h>
                    #include <sys/uio.h>

                    """)
            try await build("good", "")
            try writeConfig()
            let run = try await bmo(
                "sync", "--quiet", environment: ["OTHER_TOKEN": "c4nary"].merging(environment) { $1 })
            #expect(run.exitCode == 0, "\(run)")
            let lines = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n")
            return Dictionary(
                lines.map { line in
                    let parts = line.split(separator: "=").map(String.init)
                    return (parts[0], parts[1])
                }, uniquingKeysWith: { $1 })
        }

        @Test func `a bridge cannot look into the program that started it`() async throws {
            let found = try await attack(environment: [:])
            #expect(found.count == 10, "\(found)")
            #expect(found.values.nonEmptyAllSatisfy { $0 == "closed" }, "\(found)")
        }

        @Test func `it can where debuggers are let in, which shows that it would find the secret`() async throws {
            let found = try await attack(environment: ["BMO_TRACEABLE": "1"])
            #expect(found["environment1"] == "read" && found["memory1"] == "open", "\(found)")
        }

        /// Code that leaves a process behind that is nobody's child and holds all that the bridge had open.
        private func daemon(_ path: String) -> String {
            #"""
            if (fork() == 0) {
                setsid();
                if (fork() == 0) {
                    FILE *file = fopen("PATH.new", "w");
                    fprintf(file, "%d", (int)getpid());
                    fclose(file);
                    rename("PATH.new", "PATH");
                    for (;;) pause();
                }
                _exit(0);
            }
            while (access("PATH", F_OK)) usleep(1000);
            """#.replacing("PATH", with: path)
        }

        private func pid(in path: String) async throws -> Int32 {
            try await eventually("the daemon runs") {
                (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int32($0) }
            }
        }

        @Test
        func
            `a crash is seen at once though a process that the bridge left behind holds its socket, which ends with it`()
            async throws
        {
            let path = folder.appending("daemon")
            try await build("bad", daemon(path) + "abort();")
            try await build("good", "")
            try writeConfig()
            let start = ContinuousClock.now
            let run = try await bmo("sync", "--quiet")
            #expect(ContinuousClock.now - start < .seconds(30), "\(run)")
            #expect(run.exitCode == 1 && run.errorOutput.contains("SIGABRT"), "\(run)")
            let left = try await pid(in: path)
            _ = try await eventually("it is gone") { kill(left, 0) != 0 ? true : nil }
        }

        @Test func `what a bridge left behind ends with a sync that is killed`() async throws {
            let path = folder.appending("daemon")
            try await build("bad", daemon(path) + "for (;;) pause();")
            try await build("good", "")
            try writeConfig()
            let sync = try start(["sync", "--quiet"])
            let left = try await pid(in: path)
            #expect(kill(left, 0) == 0)
            sync.signal(SIGKILL)
            _ = try await sync.finish()
            _ = try await eventually("it is gone") { kill(left, 0) != 0 ? true : nil }
        }

        @Test func `an unusable plugin costs its own entities, and a check reports it`() async throws {
            try await build("bad", "", replacing: ("BMO_BRIDGE_ABI_MAJOR, BMO_BRIDGE_ABI_MINOR, ", "2, 0, "))
            try await build("good", "")
            try writeConfig()
            let run = try await bmo("sync", "--quiet")
            #expect(run.exitCode == 2, "\(run)")
            #expect(
                run.errorOutput.contains("Bad (bridge bad): configuration: the plugin \"bad\" can't be used: ")
                    && run.errorOutput.contains("built for ABI 2.0; this host speaks ABI 1.2"), "\(run)")
            let rows = try await query("SELECT count(*) FROM Good")
            #expect(rows == "2")
            let check = try await bmo("check")
            #expect(
                check.exitCode == 2 && check.errorOutput.contains("bmo.yml:3:3: error: the plugin \"bad\""), "\(check)")
        }

        /// The example in C, with code of the test's in its `fetch_next`.
        private func build(
            _ name: String, _ code: String, replacing: (String, String) = ("#include", "#include"), headers: String = ""
        )
            async throws
        {
            let source = try String(
                contentsOfFile: PackageFolder.path + "/Examples/OutOfTreeBridgeInC/accounts_bridge.c", encoding: .utf8)
            let place = "    int64_t index = 0;\n"
            try #require(source.contains(place))
            try folder.write(
                headers + "#include <signal.h>\n#include <sys/socket.h>\n#include <unistd.h>\n"
                    + source.replacing(place, with: place + "    \(code)\n").replacing(
                        "\"accounts\"", with: "\"\(name)\""
                    ).replacing(replacing.0, with: replacing.1),
                to: "\(name).c")
            let run = try await ProcessRun.run(
                "cc",
                [
                    "-std=c11", "-D_DEFAULT_SOURCE", "-shared", "-fPIC", "-I",
                    PackageFolder.path + "/Sources/CBridge/include", "-o", "lib\(name)Bridge.so", "\(name).c",
                ], directory: folder.path)
            try #require(run.exitCode == 0, "\(run)")
        }

        private func writeConfig(more: String = "") throws {
            try folder.write("a:x:1:1:A:/:/bin/sh\nb:x:2:1:B:/:/bin/sh\n", to: "passwd")
            func entity(_ name: String, _ bridge: String) -> String {
                "\(name): {bridge: \(bridge), key: name, attributes: {name: text, uid: integer}}"
            }
            try folder.write(
                """
                version: 1
                bridges:
                  bad: {plugin: bad, options: {path: passwd}\(more)}
                  good: {plugin: good, options: {path: passwd}}
                entities:
                  \(entity("Bad", "bad"))
                  \(entity("Good", "good"))
                """, to: "bmo.yml")
        }
    }
}
