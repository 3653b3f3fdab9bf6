import Model
import Testing

/// The section of a bridge, whose members the sections of its entities and sources have by default.
@Suite struct BridgeSectionTests {
    private static func configuration(_ bridge: String, _ entities: String) throws -> Configuration {
        try ConfigurationFileTests.load(
            """
            version: 1
            bridges:
              api: {plugin: rest, options: {url: "https://api.example.com"}, \(bridge)}
              other: {plugin: rest, options: {url: "https://other.example.com"}}
            \(entities)
            """, plugins: InvalidConfiguration.shippedPlugins(), environment: [:])
    }

    /// The section on one line.
    private static func json(_ section: ConfigValue) -> String {
        section.json.split(separator: "\n").map { $0.trimmingPrefix(while: { $0 == " " }) }.joined()
            .replacing("\": ", with: "\":")
    }

    private static func faults(_ bridge: String, _ entities: String) throws -> [String] {
        do {
            _ = try configuration(bridge, entities)
            return []
        } catch let errors as ConfigurationErrors {
            return errors.diagnostics.map {
                "\($0.location.line): \($0.message)" + ($0.remedy.map { "; \($0)" } ?? "")
            }
        }
    }

    @Test func `an entity's section has the members that only its bridge's has`() throws {
        let model = try Self.configuration(
            "rest: {records: $.items, paging: {style: page}, headers: {X-A: '1'}}",
            """
            defaults: {key: id, attributes: {id: integer}, rest: {records: $.data, conditional: false}}
            entities:
              Post: {bridge: api, rest: {path: /posts, headers: {X-B: '2'}}}
              Tag: {bridge: api}
              User: {bridge: other, rest: {path: /users}}
            """
        ).model
        #expect(
            model.entities.map { Self.json($0.section) } == [
                #"{"conditional":false,"records":"$.items","paging":{"style":"page"},"path":"/posts","headers":{"X-B":"2"}}"#,
                #"{"conditional":false,"records":"$.items","paging":{"style":"page"},"headers":{"X-A":"1"}}"#,
                #"{"records":"$.data","conditional":false,"path":"/users"}"#,
            ])
    }

    @Test func `sources and sub-entities with a listing have it too, others do not`() throws {
        let model = try Self.configuration(
            "rest: {records: $.items}",
            """
            entities:
              Media:
                bridge: other
                key: id
                attributes: {id: integer, title: text}
                sources: {names: {bridge: api, attributes: [title], rest: {path: /names}}}
              Film: {extends: Media, bridge: api, when: {property: kind, equals: film}, rest: {path: /films}}
              Part: {listing: none, key: id, attributes: {id: integer}}
            """
        ).model
        #expect(model.entities[0].sources.map { Self.json($0.section) } == [#"{"records":"$.items","path":"/names"}"#])
        #expect(
            model.entities.map { Self.json($0.section) } == ["{}", #"{"records":"$.items","path":"/films"}"#, "{}"])
    }

    @Test func `a fault in a bridge's section is reported once, at its place`() throws {
        let entities = """
            defaults: {key: id, attributes: {id: integer}, bridge: api}
            entities: {Post: {rest: {path: /posts}}, Tag: {rest: {path: /tags}}}
            """
        let faults = try Self.faults("rest: {recods: $.items}", entities)
        #expect(faults.count == 1)
        #expect(
            faults.first?.hasPrefix(
                #"3: unknown key "recods" in section "rest" of bridge "api"; did you mean "records"?"#) == true,
            "\(faults)")
        #expect(
            try Self.faults("rest: [1]", entities) == [
                #"3: section "rest" of bridge "api" must be a mapping, not a list; write "name: value" lines"#
            ])
        #expect(try Self.faults("soap: {operation: x}", entities).first?.contains(#"unknown key "soap""#) == true)
    }
}
