import BridgeHTTP
import BridgeJSON
import BridgeKit
import TestSupport
import Testing

@testable import RESTBridge

/// Sections that one connection reads again and again, for one parent after another.
@Suite struct KnownSectionTests {
    private static let section: Literal = [
        "path": "/teams/{parent.id}/users", "query": ["by": "{parent.name}"], "body": ["team": "{parent.id}"],
        "records": "$.teams[?@.name=='{parent.name}'].users", "paging": "none",
    ]

    private func request(
        _ section: Literal = Self.section, of entity: String = "User", parent: Literal = ["id": 1, "name": "Ann"]
    ) -> FetchRequest {
        FetchRequest(entity: entity, section: section.options, parent: parent.options)
    }

    /// The requests that a bridge would send.
    private func asked(_ bridge: RESTBridge, _ request: FetchRequest) throws -> [String] {
        var request = request
        request.explains = true
        return try Scan(bridge.fetch(request)).records
    }

    @Test func `each parent has its own values in one section`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": "http://127.0.0.1:1"])
        let ann = [#"{"request":"POST http://127.0.0.1:1/teams/1/users?by=Ann","body":"{\"team\":1}"}"#]
        #expect(try asked(bridge, request()) == ann)
        #expect(
            try asked(bridge, request(parent: ["id": 2, "name": "Bo & Co"]))
                == [#"{"request":"POST http://127.0.0.1:1/teams/2/users?by=Bo%20%26%20Co","body":"{\"team\":2}"}"#])
        #expect(try asked(bridge, request(parent: ["id": 3, "name": .null])) == [], "this parent is skipped")
        #expect(try asked(bridge, request()) == ann)
    }

    @Test func `a section whose values changed is read anew`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": "http://127.0.0.1:1"])
        for level in ["low", "high", "low"] {
            let section: Literal = ["path": "/users", "query": ["level": .text(level)]]
            #expect(
                try asked(bridge, request(section))
                    == [#"{"request":"GET http://127.0.0.1:1/users?level=\#(level)","body":null}"#])
        }
    }

    @Test func `the parents of an entity share its rules, and its records are those of the parent`() throws {
        let base = try #require(HTTPURL("http://127.0.0.1:1"))
        let known = KnownSections()
        let rules = try known.rules(of: request())
        for name in ["Ann", "Bo"] {
            let request = request(parent: ["id": 1, "name": .text(name)])
            let same = try known.rules(of: request)
            #expect(same === rules)
            let section = try RESTSection(request, base: base, parameters: nil, rules: same)
            #expect(
                section.records?.segments == [.name("teams"), .filter(name: "name", value: name), .name("users")])
        }
    }

    @Test func `another section, entity or page size has rules of its own`() throws {
        let known = KnownSections()
        let rules = try known.rules(of: request())
        #expect(try known.rules(of: request(of: "Member")) !== rules)
        #expect(try known.rules(of: request()) === rules)
        var larger = request()
        larger.pageSize = 50
        #expect(try known.rules(of: larger) !== rules)
        let other = try known.rules(of: request(["path": "/users"]))
        #expect(other.path.description == "/users")
        #expect(try known.rules(of: request()).path.description == "/teams/{parent.id}/users")
    }

    @Test func `a request for one object leaves the section of the walk known`() throws {
        let known = KnownSections()
        let rules = try known.rules(of: request())
        var one = request(["path": "/users/{parent.id}"])
        one.readsOne = true
        #expect(try known.rules(of: one).path.description == "/users/{parent.id}")
        #expect(try known.rules(of: request()) === rules)
    }

    @Test func `another section of a known entity forgets no other entity`() throws {
        let known = KnownSections()
        let entities = (0..<256).map { "Entity\($0)" }
        let rules = try entities.map { try known.rules(of: request(of: $0)) }
        _ = try known.rules(of: request(["path": "/users"], of: entities[0]))
        #expect(try known.rules(of: request(of: entities[1])) === rules[1])
        _ = try known.rules(of: request(of: "Another"))
        #expect(try known.rules(of: request(of: entities[1])) !== rules[1], "so many are kept")
    }

    @Test func `a faulty section is refused each time, and the one before it stays in use`() throws {
        let known = KnownSections()
        let rules = try known.rules(of: request())
        for _ in 0..<2 {
            let error = try bridgeError { _ = try known.rules(of: request(["method": "PUT"])) }
            #expect(error.message == "method is \"PUT\"")
        }
        #expect(try known.rules(of: request()) === rules)
    }
}
