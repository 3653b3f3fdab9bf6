import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo swap`: another bridge behind an entity, seen before it is used.
    @Suite struct SwapTests {
        @Test func `the rows that the other bridge would change are shown, and nothing is written`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(
                languages: #"[{"code": "de", "name": "German"}, {"code": "fr", "name": "French"}, {"code": "xx"}]"#)
            try await site.expectSuccess("sync", "Language")
            try site.publish(
                countries:
                    #"[{"id": {"code": "de"}, "name": "Deutsch"}, {"id": {"code": "fr"}, "name": "French"}, {"id": {"code": "nl"}}]"#,
                languages: "[]")
            try site.folder.write(
                """
                bridges: {other: {plugin: rest, options: {url: "\(try site.address())"}}}
                rest: {path: /countries.json}
                attributes: {code: {type: text, from: id.code}}
                """, to: "other.yml")
            let before = site.bytes()
            let dry = try await site.expectSuccess(
                "swap", "Language", "--to", "other", "--section", "other.yml", "--dry-run")
            #expect(
                dry.words.filter { $0.hasPrefix("Language ") } == [
                    #"Language de updated name "German" -> "Deutsch""#, #"Language nl inserted -> code: "nl""#,
                    #"Language xx deleted code: "xx" ->"#,
                ], "\(dry)")
            #expect(dry.output.hasSuffix("dry run: nothing was written, and bmo.yml is as it was\n"))
            #expect(site.bytes() == before)

            // What it prints is what the file has to say.
            let told = try await site.expectSuccess("swap", "Language", "--to", "other", "--section", "other.yml")
            #expect(told.output.hasPrefix("# Language comes through site (rest 0.1.0) now. For other (rest 0.1.0)"))
            #expect(
                told.output.contains("    attributes: {code: {type: text, from: id.code}, name: text}\n"), "\(told)")
            let status = try await site.expectSuccess("status")
            #expect(
                status.words.contains { $0.hasPrefix("Language 3 ") && $0.hasSuffix("site (rest 0.1.0)") }, "\(status)")
            site.stop()
        }

        @Test func `what cannot be swapped is explained`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.folder.write("bridges: {files: {plugin: smb, options: {url: 'smb://127.0.0.1/x'}}}\n", to: "a.yml")
            try site.folder.write("rest: {pathh: /x}\n", to: "b.yml")
            try site.folder.write("rest: {path: /x\nattributes: {}\n", to: "d.yml")
            try site.folder.write(
                "bridges:\n  new: {plugin: rest, options: {addr: 1, url: 'http://127.0.0.1/'}}\nrest: {path: /x}\n",
                to: "e.yml")
            for (arguments, words) in [
                (["Tongue", "--to", "site"], "unknown entity \"Tongue\""),
                (["City", "--to", "sight"], "there is no bridge \"sight\"; the bridges: site"),
                (
                    ["City", "--to", "files", "--section", "a.yml"],
                    "write the section \"smb:\" of the entity into a file"
                ),
                (
                    ["City", "--to", "site", "--section", "b.yml"],
                    "b.yml:1:8: unknown key \"pathh\" in section \"rest\""
                ),
                (["City", "--to", "site", "--section", "c.yml"], "c.yml cannot be read"),
                (["City", "--to", "site", "--section", "d.yml"], "d.yml:2:11: not valid YAML"),
                (["Language", "--to", "new", "--section", "e.yml"], "e.yml:2:33: unknown key \"addr\" in options"),
            ] {
                let run = try await site.bmo(["swap"] + arguments)
                #expect(run.exitCode == 2, "\(run)")
                run.expectMessages(words)
            }
            site.stop()
        }
    }
}

extension RemoteWorkspace where Remote == RemoteServer {
    /// The server's URL, as the config has it.
    fileprivate func address() throws -> String {
        let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
        return try #require(text.firstMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/).map { String($0.output) })
    }
}
