import BridgeConformance
import Foundation
import TestSupport
import Testing

/// The connectors in Connectors/: each is a valid configuration with a case that replays, and the page lists it.
@Suite struct ReadyConnectorTests {
    static let folder = PackageFolder.path + "/Connectors"
    static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.sorted().filter { !$0.contains(".") } ?? []

    @Test func `there are connectors for servers and for services`() { #expect(Self.names.count > 25) }

    @Test(arguments: names)
    func `a connector's case passes in strict mode and says where its replies come from`(name: String) async throws {
        let folder = Self.folder + "/" + name
        let purpose = try FixtureCase(folder: folder).purpose
        #expect(purpose.contains("; recorded from ") != purpose.contains("made from the schemas "), "\(purpose)")
        let result = try await ShippedCases.run(folder)
        #expect(result.passed, "\(result.problems.joined(separator: "\n"))")
        #expect(!result.notes.contains { $0.contains("failed") }, "\(result.notes)")
    }

    @Test(arguments: names)
    func `bmo check accepts a connector, with its bridges' own checks`(name: String) async throws {
        let folder = try TemporaryFolder()
        let text = try String(contentsOfFile: Self.folder + "/\(name)/bmo.yml", encoding: .utf8)
        let variables = text.matches(of: /env: ([A-Z_]+)/).map { match in
            let name = String(match.1)
            return (name, name.hasSuffix("_URL") ? "http://localhost:1/api" : "dummy")
        }
        try folder.write(text, to: "bmo.yml")
        let check = try await ProcessRun.run(
            BuiltCommand.path(), ["check"], environment: Dictionary(variables, uniquingKeysWith: { one, _ in one }),
            directory: folder.path)
        #expect(check.exitCode == 0, "\(check)")
        #expect(!"\(check)".contains("not validated"), "\(check)")
    }

    @Test func `the page lists exactly the connectors that ship`() throws {
        let page = try String(contentsOfFile: PackageFolder.path + "/docs/ready-connectors.md", encoding: .utf8)
        let listed = page.matches(of: /\n\| `([a-z0-9-]+)` \|/).map { String($0.1) }
        #expect(listed.sorted() == Self.names)
    }

    @Test func `the command lists, explains and writes connectors, and the user's own come first`() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/data/bmo/connectors", withIntermediateDirectories: true)
        try folder.write(
            "# Mine: a thing.\nversion: 1\nbridges: {}\nentities: {}\n", to: "data/bmo/connectors/etcd.yml")
        func bmo(_ arguments: String...) async throws -> ProcessRun {
            try await ProcessRun.run(
                BuiltCommand.path(), arguments, environment: ["XDG_DATA_HOME": folder.path + "/data"],
                directory: folder.path)
        }
        let list = try await bmo("connectors")
        for name in Self.names { #expect(list.output.contains("\(name) "), "\(list)") }
        #expect(list.output.contains("(yours) Mine: a thing."))
        let show = try await bmo("connectors", "show", "rabbitmq")
        #expect(show.output.contains("environment: RABBITMQ_URL RABBITMQ_USER RABBITMQ_PASSWORD\n"), "\(show)")
        #expect(show.output.contains("tested: A first sync reads each entity; recorded from RabbitMQ"))
        let unknown = try await bmo("connectors", "show", "rabitmq")
        #expect(unknown.exitCode == 2 && unknown.errorOutput.contains("rabbitmq"), "\(unknown)")

        try folder.write("version: 1\nbridges: [", to: "data/bmo/connectors/broken.yml")
        let broken = try await bmo("connectors", "show", "broken")
        #expect(broken.exitCode == 2 && broken.errorOutput.contains(/broken\.yml:[0-9]+:[0-9]+/), "\(broken)")

        let written = try await bmo("init", "--from", "powerdns", "-o", "dns.yml")
        #expect(
            written.output
                == "wrote dns.yml; set PDNS_URL, PDNS_KEY, then: bmo check -f dns.yml && bmo sync -f dns.yml\n",
            "\(written)")
        let text = try String(contentsOfFile: folder.path + "/dns.yml", encoding: .utf8)
        let shipped = try String(contentsOfFile: Self.folder + "/powerdns/bmo.yml", encoding: .utf8)
        #expect(text == shipped.replacing("version: 1\n", with: "version: 1\ndatabase: dns.sqlite\n"))
        let kept = try await bmo("init", "--from", "powerdns", "-o", "dns.yml")
        #expect(kept.exitCode == 2 && kept.errorOutput.contains("--force"), "\(kept)")
        let printed = try await bmo("init", "--from", Self.folder + "/powerdns", "-o", "-")
        #expect(printed.output == shipped)
    }
}
