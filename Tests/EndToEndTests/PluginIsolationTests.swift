import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Plugins that do what they must not, in a sync with a good one.
    ///
    /// A hang is a matter of minutes here: the host's own
    /// tests have it, with a shorter limit.
    @Suite struct PluginIsolationTests {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        /// Each is C code that runs in the middle of a fetch.
        @Test(arguments: [
            ("*(volatile int *)8 = 1;", "SIGSEGV"),
            ("abort();", "SIGABRT"),
            (
                "fetch->page_size = 1; rewind(fetch->file);",
                "the last 100 batches had all come before in this walk of Bad"
            ),
            ("_exit(0);", "exit code 0"),
            ("for (;;) memset(malloc(1 << 20), 1, 1 << 20);", "limit: the process of the bridge ended by SIGSEGV"),
            (
                "memset(malloc(900 << 20), 1, 900 << 20);",
                "at its limit of 128 MiB (`memory:`): memory was refused to it just before"
            ),
            (
                #"if (!malloc(900 << 20)) { fprintf(stderr, "fatal: out of memory\n"); exit(1); }"#,
                "ended by exit code 1 at its limit of 128 MiB (`memory:`): its last words: fatal: out of memory"
            ),
            (#"printf("Welcome");"#, "printed to standard output: `Welcome`"),
            ("for (int i = 0; i < 100; i++) close(i);", "exit code 1"),
            (#"system("echo Hi");"#, "or a program that it started, printed to standard output: `Hi`"),
            ("static char zeros[300 << 20]; bmo_write_bytes(&rows, zeros, sizeof zeros);", "limit"),
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
            let rows = try await ProcessRun.run(
                "sqlite3", [folder.appending("bmo.sqlite"), "SELECT count(*) FROM Good"])
            #expect(rows.output == "2\n")
        }

        @Test func `what a plugin prints to standard error reaches the log and nobody's output`() async throws {
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
            let run = try await ProcessRun.run(
                Command.path(), arguments, environment: ["BMO_PLUGIN_PATH": folder.path, "TMPDIR": temporary],
                directory: folder.path)
            #expect(arguments == ["plan"] || run.exitCode == 1, "\(run)")
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary)
            #expect(left.filter { $0.hasPrefix("bmo-bridge-") } == [], "\(run)")
        }

        @Test func `a plugin that cannot be used costs its own entities, and a check tells of it`() async throws {
            try await build("bad", "", replacing: ("BMO_BRIDGE_ABI_MAJOR, BMO_BRIDGE_ABI_MINOR, ", "2, 0, "))
            try await build("good", "")
            try writeConfig()
            let run = try await bmo("sync", "--quiet")
            #expect(run.exitCode == 2, "\(run)")
            #expect(
                run.errorOutput.contains("Bad (bridge bad): configuration: the plugin \"bad\" can't be used: ")
                    && run.errorOutput.contains("built for ABI 2.0; this host speaks ABI 1.1"), "\(run)")
            let rows = try await ProcessRun.run(
                "sqlite3", [folder.appending("bmo.sqlite"), "SELECT count(*) FROM Good"])
            #expect(rows.output == "2\n")
            let check = try await bmo("check")
            #expect(
                check.exitCode == 2 && check.errorOutput.contains("bmo.yml:3:3: error: the plugin \"bad\""), "\(check)")
        }

        /// The example in C, with code of the test's in its `fetch_next`.
        private func build(_ name: String, _ code: String, replacing: (String, String) = ("#include", "#include"))
            async throws
        {
            let source = try String(
                contentsOfFile: PackageFolder.path + "/Examples/OutOfTreeBridgeInC/accounts_bridge.c", encoding: .utf8)
            let place = "    int64_t index = 0;\n"
            try #require(source.contains(place))
            try folder.write(
                "#include <unistd.h>\n"
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

        private func bmo(_ arguments: String...) async throws -> ProcessRun {
            try await ProcessRun.run(
                Command.path(), arguments, environment: ["BMO_PLUGIN_PATH": folder.path], directory: folder.path)
        }
    }
}
