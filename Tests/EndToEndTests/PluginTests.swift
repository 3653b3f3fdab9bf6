import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A bridge of one's own, from nothing to a sync, as its author and its users do it.
    @Suite struct PluginTests: TestWorkspace {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        @Test(arguments: [("c", "build/libAcmeBridge.so"), ("swift", ".build/debug/libAcmeBridge.so")])
        func `a new bridge builds, passes its test at the strictest level, and can be installed and used`(
            language: String, library: String
        ) async throws {
            try await expectSuccess("plugins", "new", "acme", "--language", language)
            let package = folder.appending("acme-bridge")
            let tool = language == "c" ? "make" : "swift"
            let built = try await ProcessRun.run(
                tool, language == "c" ? [] : ["build"], directory: package, within: .seconds(600))
            try #require(built.exitCode == 0, "\(built)")

            let report = folder.appending("report.xml")
            let test = try await bmo("plugins", "test", library, "--junit", report, in: package)
            #expect(test.exitCode == 0, "\(test)")
            #expect(test.output.hasPrefix("acme 0.1.0 at level strict: 26 passed, 0 failed, 0 skipped"), "\(test)")
            #expect(try String(contentsOfFile: report, encoding: .utf8).contains("failures=\"0\""))

            let installed = try await bmo("plugins", "install", library, in: package)
            #expect(installed.exitCode == 0, "\(installed)")
            #expect(FileManager.default.fileExists(atPath: package + "/bmo.lock"))
            let sync = try await bmo("sync", in: package)
            #expect(sync.exitCode == 0, "\(sync)")
            let rows = try await ProcessRun.run(
                "sqlite3", [package + "/bmo.sqlite", "SELECT count(*), min(name), max(id) FROM Item"])
            #expect(rows.output == "250|item 1|250\n")

            // A folder opens like a file, and cannot be read: its rows are not gone.
            let items = package + "/fixture/items.tsv"
            try FileManager.default.moveItem(atPath: items, toPath: items + ".kept")
            try FileManager.default.createDirectory(atPath: items, withIntermediateDirectories: false)
            let config = try String(contentsOfFile: package + "/bmo.yml", encoding: .utf8)
            try config.replacing("plugin: acme\n", with: "plugin: acme\n    retry_for: 1s\n")
                .write(toFile: package + "/bmo.yml", atomically: true, encoding: .utf8)
            let unread = try await bmo("sync", in: package)
            #expect(unread.exitCode == 1, "\(unread)")
            #expect(unread.errorOutput.contains("cannot be read: Is a directory"), "\(unread)")
            let kept = try await ProcessRun.run("sqlite3", [package + "/bmo.sqlite", "SELECT count(*) FROM Item"])
            #expect(kept.output == "250\n")

            // Somebody exchanges the library.
            let copy = folder.appending("data/bmo/bridges/libacmeBridge.so")
            let handle = try #require(FileHandle(forWritingAtPath: copy))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("x".utf8))
            try handle.close()
            let refused = try await bmo("sync", in: package)
            #expect(refused.exitCode == 2, "\(refused)")
            #expect(refused.errorOutput.contains("it is not the file that"), "\(refused)")
        }

        @Test func `a new bridge in C takes lines of any length, and one with a NUL goes to quarantine`() async throws {
            try await expectSuccess("plugins", "new", "acme", "--language", "c")
            let package = folder.appending("acme-bridge")
            let built = try await ProcessRun.run("make", [], directory: package)
            try #require(built.exitCode == 0, "\(built)")
            let long = String(repeating: "x", count: 10_000)
            try Data("1\t\(long)\n2\ta\0b\n3\tc\n".utf8).write(to: URL(filePath: package + "/fixture/items.tsv"))
            let sync = try await ProcessRun.run(
                BuiltCommand.path(), ["sync"],
                environment: environment.merging(["BMO_PLUGIN_PATH": package + "/build"]) { $1 }, directory: package)
            #expect(sync.exitCode == 0, "\(sync)")
            let rows = try await ProcessRun.run(
                "sqlite3",
                [
                    package + "/bmo.sqlite",
                    "SELECT id, length(name) FROM Item ORDER BY id; SELECT reason FROM bmo_quarantine",
                ])
            #expect(rows.output == "1|10000\n3|1\na NUL in it\n")
        }

        @Test func `a broken bridge fails its test with the check's name and words`() async throws {
            try await expectSuccess("plugins", "new", "acme", "--language", "c")
            let package = folder.appending("acme-bridge")
            let source = package + "/acme_bridge.c"
            try String(contentsOfFile: source, encoding: .utf8)
                .replacing("flag(&state, \"complete\", letter == EOF)", with: "flag(&state, \"complete\", 0)")
                .write(toFile: source, atomically: true, encoding: .utf8)
            let built = try await ProcessRun.run("make", [], directory: package)
            try #require(built.exitCode == 0, "\(built)")
            let test = try await bmo("plugins", "test", "build/libAcmeBridge.so", "--json", in: package)
            #expect(test.exitCode == 1, "\(test)")
            #expect(test.output.contains(#""id":"read.end","title":"#))
            #expect(test.output.contains("nothing could ever be deleted"))
        }

        @Test(arguments: [
            (["plugins", "new", "Acme!"], "is not a valid name for a plugin"),
            (["plugins", "new", "acme", "--language", "rust"], "--language is swift or c"),
            (["plugins", "new", "acme", "--output", "."], "already exists"),
            (["plugins", "install", "nothing.so"], "is not a bridge: cannot be read"),
            (["plugins", "info", "nothing"], "there is no plugin `nothing`"),
            (["plugins", "test", "nothing.so"], "conformance.yml"),
        ])
        func `what cannot be done is explained`(arguments: [String], words: String) async throws {
            let run = try await bmo(arguments)
            #expect(run.exitCode == 2, "\(run)")
            run.expectMessages(words)
        }

        var environment: [String: String] { ["XDG_DATA_HOME": folder.appending("data")] }

        private func bmo(_ arguments: String..., in directory: String) async throws -> ProcessRun {
            try await ProcessRun.run(BuiltCommand.path(), arguments, environment: environment, directory: directory)
        }
    }
}
