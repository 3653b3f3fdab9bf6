import Model
import Testing

@Suite struct HistoryRetentionTests {
    private func history(_ line: String) throws -> HistoryRetention {
        try ConfigurationFile.load(
            text: "version: 1\n\(line)\nbridges: {}\nentities: {}\n", path: "/srv/bmo.yml", plugins: []
        ).history
    }

    @Test func `it is a time a number of runs or forever`() throws {
        #expect(try history("history: {keep: 90d}") == .seconds(7_776_000))
        #expect(try history("history: {keep: 2w}") == .seconds(1_209_600))
        #expect(try history("history: {keep: 100 runs}") == .runs(100))
        #expect(try history("history: {keep: 1 run}") == .runs(1))
        #expect(try history("history: {keep: forever}") == .forever)
    }

    @Test func `ninety days are kept by default`() throws {
        #expect(try history("") == .seconds(7_776_000))
        #expect(try history("history:") == .usual && history("history: {}") == .usual)
    }

    @Test(arguments: [
        "90", "90 d", "-1 runs", "0d", "0 runs", "runs", "never", "[90d]", "100 runs ago", "99999999999999999999d",
    ])
    func `anything else is a fault`(_ value: String) {
        #expect(throws: ConfigurationErrors.self) { try history("history: {keep: \(value)}") }
    }
}
