import Model
import Testing

/// Entities without a listing of their own, and what a listing may put aside.
@Suite struct ListingConfigurationTests {
    private static func configuration(_ entity: String, api: String = "rest") throws -> Configuration {
        try ConfigurationFileTests.load(
            """
            version: 1
            bridges: {api: {plugin: \(api), options: {url: "https://api.example.com"}}}
            entities:
              Post: {bridge: api, key: id, attributes: {id: integer}, relationships: {tags: {many: Tag}}, rest: {path: /p}}
              Tag: {\(entity), attributes: {id: integer}}
            """, plugins: InvalidConfiguration.shippedPlugins(), environment: [:])
    }

    private static func faults(_ entity: String) throws -> [String] {
        do {
            _ = try configuration(entity)
            return []
        } catch let errors as ConfigurationErrors {
            return errors.diagnostics.map { $0.message + ($0.remedy.map { "; \($0)" } ?? "") }
        }
    }

    @Test func `an entity that only comes nested needs no bridge`() throws {
        let configuration = try Self.configuration("listing: none, key: id")
        #expect(configuration.warnings.isEmpty, "\(configuration.warnings)")
        #expect(configuration.model.entities[1].isScanned == false)
    }

    @Test(arguments: [
        ("listing: all", "unknown value \"all\" of \"listing\" of entity \"Tag\""),
        ("listing: none, bridge: api", "entity \"Tag\" has \"listing: none\" and \"bridge\"; remove one"),
        ("listing: none, writable: true", "entity \"Tag\" has \"listing: none\" and \"writable\"; remove one"),
        ("listing: none, sources: {}", "entity \"Tag\" has \"listing: none\" and \"sources\"; remove one"),
        ("listing: none, incremental: token", "\"incremental\" of entity \"Tag\", which has no listing of its own"),
        ("listing: none, rest: {path: /t}", "the section \"rest\" of entity \"Tag\", which has no bridge"),
        ("bridge: api, rest: {path: /t}, quarantine_limit: 0", "\"quarantine_limit\" of entity \"Tag\""),
    ])
    func `what goes with a listing is a fault`(_ entity: String, _ fault: String) throws {
        let faults = try Self.faults("key: id, " + entity)
        #expect(faults.contains { $0.contains(fault) }, "\(faults)")
    }

    @Test func `an entity without a path is warned of`() throws {
        for section in ["", ", rest: {paging: none}"] {
            let warnings = try Self.configuration("bridge: api, key: id\(section)").warnings.map(\.message)
            #expect(
                warnings == [
                    "entity \"Tag\" has no \"path\" in its section \"rest\": it is fetched from the url of bridge \"api\" itself"
                ])
        }
        for section in [#"{path: "/"}"#, "{records: $.items}", "{query: {action: query}}"] {
            #expect(try Self.configuration("bridge: api, key: id, rest: \(section)").warnings.isEmpty, "\(section)")
        }
    }

    @Test func `a source that may bring rows is warned of`() throws {
        func warnings(_ source: String) throws -> [String] {
            try Self.configuration(
                "bridge: api, key: id, rest: {path: /t}, sources: {more: {bridge: api, attributes: {name: text}, \(source)}}"
            ).warnings.map(\.message)
        }
        #expect(
            try warnings("rest: {path: /m}") == [
                "rows that only source \"more\" of entity \"Tag\" provides are never deleted: its listing does not show what was deleted"
            ])
        #expect(try warnings("each: true, rest: {path: \"/m/{parent.id}\"}").isEmpty)
    }

    @Test func `a column of a compound key that clashes is named`() throws {
        let errors = try #require(throws: ConfigurationErrors.self) {
            try ConfigurationFileTests.load(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "https://api.example.com"}}}
                entities:
                  Team: {bridge: api, key: [league, id], attributes: {league: text, id: integer}, rest: {path: /t}}
                  Game: {bridge: api, key: id, attributes: {id: integer, home_id: integer},
                    relationships: {home: {to: Team}}, rest: {path: /g}}
                """, plugins: InvalidConfiguration.shippedPlugins())
        }
        #expect(
            errors.diagnostics.map(\.message) == [
                "attribute \"home_id\" and the column \"home_id\" of relationship \"home\" share the name \"home_id\""
            ])
    }
}
