import BridgeConformance
import TestSupport
import Testing

@Suite struct ConformanceSettingsTests {
    @Test func `settings are read from a file`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            """
            config: sub/bmo.yml
            bridge: acme
            level: full
            wrong_options: {password: wrong}
            writes:
              Thing: {key: id, create: {id: 900, name: new, on: true}, update: {name: newer}}
            skips: {incremental.second: the API has no cursor}
            """, to: "conformance.yml")
        let settings = try ConformanceSettings(path: path)
        #expect(settings.config == folder.appending("sub/bmo.yml"))
        #expect(settings.bridge == "acme" && settings.level == .full)
        #expect(settings.wrongOptions == ["password": "wrong"])
        #expect(settings.writes["Thing"]?.create == ["id": .integer(900), "name": .text("new"), "on": .bool(true)])
        #expect(settings.skips == ["incremental.second": "the API has no cursor"])
    }

    @Test(arguments: [
        ("levl: full", "unknown key \"levl\"; valid: bridge, config, level, skips, writes, wrong_options"),
        ("skips: {read.all: no}", "there is no check \"read.all\"; `bmo plugins test --list` lists them"),
        ("skips: {read.end: \"  \"}", "the skip of read.end has no reason"),
        ("level: [", "conformance.yml"),
    ])
    func `a faulty setting is named`(text: String, words: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(text, to: "conformance.yml")
        #expect {
            _ = try ConformanceSettings(path: path)
        } throws: {
            "\($0)".contains(words)
        }
    }
}
