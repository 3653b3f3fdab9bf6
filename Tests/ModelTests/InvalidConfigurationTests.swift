import Foundation
import Model
import Testing

@Suite struct InvalidConfigurationTests {
    @Test func `there are cases`() {
        #expect(InvalidConfiguration.all.count > 20)
    }

    @Test(arguments: InvalidConfiguration.all)
    func `every fault is reported with its place`(_ fixture: InvalidConfiguration) throws {
        let text = try fixture.text
        let plugins = try fixture.plugins
        let errors = #expect(throws: ConfigurationErrors.self) {
            try ConfigurationFile.load(text: text, path: "bmo.yml", plugins: plugins)
        }
        let actual = (errors?.description ?? "") + "\n"
        // Run with BMO_RECORD=1 to write the diagnostics down, then read what changed.
        if ProcessInfo.processInfo.environment["BMO_RECORD"] == "1" {
            try actual.write(to: fixture.expected, atomically: true, encoding: .utf8)
        }
        #expect(actual == (try String(contentsOf: fixture.expected, encoding: .utf8)))
    }

    @Test(arguments: InvalidConfiguration.all)
    func `no message shows a secret`(_ fixture: InvalidConfiguration) throws {
        let expected = try String(contentsOf: fixture.expected, encoding: .utf8)
        #expect(!expected.contains("hunter2") && !expected.contains("007"))
    }
}
