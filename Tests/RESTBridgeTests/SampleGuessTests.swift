import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What discover makes of replies: references, nested objects, times, scans by parent.
@Suite struct SampleGuessTests {
    private let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    private func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    /// The offers as JSON lines.
    private func sampled(_ replies: (path: String, body: String)..., query: String = "") throws -> String {
        let samples = replies.map { Literal.text("\(server.url)\($0.path)?\(query)body=\(encode($0.body))") }
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)", "introspect": ["samples": .array(samples)]])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }.joined(separator: "\n")
    }

    @Test func `relationships of JSON:API go by their types`() throws {
        let articles = #"""
            {"data": [
              {"type": "articles", "id": "1", "attributes": {"title": "a"}, "relationships": {
                "author": {"data": {"type": "people", "id": "9"}},
                "tags": {"data": [{"type": "labels", "id": "5"}]}, "editor": {"data": null}}},
              {"type": "articles", "id": "2", "attributes": {"title": "b"}, "relationships": {
                "author": {"data": {"type": "people", "id": "8"}}, "tags": {"data": []}}}]}
            """#
        let people = #"{"data": [{"type": "people", "id": "9", "attributes": {"name": "x"}}]}"#
        let labels = #"{"data": [{"type": "labels", "id": "5", "attributes": {"word": "y"}}]}"#
        let offers = try sampled(("/say/articles", articles), ("/say/persons", people), ("/say/labels", labels))
        #expect(offers.contains(#"{"name":"author","to":"Person","from":"author""#), "\(offers)")
        #expect(offers.contains(#"{"name":"tags","many":"Label","from":"tags""#), "\(offers)")
    }

    @Test func `an object with the same key and name as one of another sample refers to it`() throws {
        let users = (
            path: "/say/users", body: #"[{"id": 1, "name": "Ann", "age": 3}, {"id": 2, "name": "Bob", "age": 4}]"#
        )
        let issues =
            #"[{"id": 7, "assignee": {"id": 1, "name": "Ann"}}, {"id": 8, "assignee": {"id": 2, "name": "Bob"}}]"#
        let offers = try sampled(users, (path: "/say/issues", body: issues))
        #expect(
            offers.contains(#"{"name":"assignee","to":"User","from":"assignee","confidence":"medium""#), "\(offers)")
        let others = issues.replacing("Ann", with: "Zoe")
        let flat = try sampled(users, (path: "/say/issues", body: others))
        #expect(flat.contains(#""name":"assignee.id""#) && !flat.contains(#""to":"User""#), "\(flat)")
    }

    @Test func `a key under another name is reported as a doubt, not taken for a reference`() throws {
        let users = (path: "/say/users", body: #"[{"id": 41, "name": "Ann"}, {"id": 57, "name": "Bob"}]"#)
        let offers = try sampled(
            users, (path: "/say/posts", body: #"[{"id": 7, "author_id": 41}, {"id": 8, "author_id": 57}]"#))
        #expect(offers.contains(#""name":"author_id","type":"integer""#), "\(offers)")
        #expect(offers.contains("author_id may refer to User"), "\(offers)")
        #expect(offers.contains("relationships: {author: {to: User, from: author_id}}"), "\(offers)")
    }

    @Test func `nested objects become columns at any depth`() throws {
        let offer = try sampled(
            (
                "/say/shops",
                #"[{"id": 1, "place": {"city": "Oslo", "geo": {"point": {"lat": 1.5, "lon": 2.5}}, "tags": ["a"]}}]"#
            ))
        for field in ["place.city", "place.geo.point.lat", "place.geo.point.lon"] {
            #expect(offer.contains(#""name":"\#(field)""#), "\(field): \(offer)")
        }
        #expect(offer.contains(#""name":"place.tags","type":"json""#), "\(offer)")
        let wide = (1...21).map { #""a\#($0)": {"b": 1}"# }.joined(separator: ", ")
        #expect(
            try sampled(("/say/shops", #"[{"id": 1, "all": {\#(wide)}}]"#)).contains(#""name":"all","type":"json""#))
    }

    @Test func `a time without a zone is reported as a doubt`() throws {
        let offer = try sampled(
            (
                "/say/logs",
                #"[{"id": 1, "at": "2026-01-01 10:00:00", "on": "2026-01-01T10:00:00+01:00", "by": "2026-01-01T10:00:00Z"}]"#
            ))
        func field(_ name: String) -> String? {
            offer.firstRange(of: #""name":"\#(name)""#).map { String(offer[$0.upperBound...].prefix { $0 != "}" }) }
        }
        #expect(field("at")?.contains("date-time without a zone in 1 records: read as UTC") == true, "\(offer)")
        #expect(field("at")?.contains(#""type":"timestamp""#) == true)
        for name in ["on", "by"] { #expect(field(name)?.contains("zone") == false, "\(name): \(offer)") }
    }

    @Test func `the reply about one object of another sample is a scan by parent`() throws {
        let zones = (path: "/say/zones", body: #"[{"id": "a", "kind": "Native"}, {"id": "b", "kind": "Slave"}]"#)
        let sets = #"{"id": "a", "kind": "Native", "rrsets": [{"name": "x", "type": "A"}, {"name": "y", "type": "A"}]}"#
        let offers = try sampled(zones, (path: "/say/zones/a", body: sets))
        #expect(offers.contains(#"{"name":"ZoneDetail""#) && offers.contains(#""parent":"zone""#), "\(offers)")
        #expect(offers.contains(#""path":"/zones/{parent.id}""#), "\(offers)")
        let detail = try sampled(zones, (path: "/say/zones/b", body: #"{"id": "b", "kind": "Slave", "serial": 7}"#))
        #expect(
            detail.contains(#"{"name":"ZoneDetail""#) && detail.contains(#""path":"/zones/{parent.id}""#), "\(detail)")
        let stranger = try sampled(zones, (path: "/say/zones/c", body: #"{"id": "c", "kind": "Slave", "serial": 7}"#))
        #expect(!stranger.contains(#""parent":"#), "\(stranger)")
    }

    @Test(arguments: [
        ("start=1767225600&end=1767312000&", #""query":{"start":"1767225600","end":"1767312000""#),
        ("start=2026-01-01&stop=2026-01-02&", #""query":{"start":"2026-01-01","stop":"2026-01-02""#),
        ("after=2026-01-01T00%3A00%3A00Z&", #""query":{"after":"2026-01-01T00:00:00Z""#),
    ])
    func `the parameters of a time window stay in the query`(query: String, words: String) throws {
        let body = #"{"start": 1767225600, "total": 9, "limit": 2, "items": [{"id": 1}, {"id": 2}]}"#
        let offer = try sampled(("/say/points", body), query: query)
        #expect(offer.contains(words) && !offer.contains(#""offset_parameter":"start""#), "\(offer)")
        #expect(!offer.contains("which says where a page begins"), "\(offer)")
    }

    @Test func `a place in the listing does not`() throws {
        let body = #"{"start": 0, "total": 9, "limit": 2, "items": [{"id": 1}, {"id": 2}]}"#
        let offer = try sampled(("/say/points", body), query: "start=0&")
        #expect(offer.contains(#""offset_parameter":"start""#), "\(offer)")
    }

    @Test func `a sample that is asked by POST is written as one`() throws {
        let bridge = try RESTBridgeTests.bridge([
            "url": "\(server.url)",
            "introspect": [
                "samples": [.text("\(server.url)/say/search")],
                "body": #"{"query": {"kind": "a"}, "items": [{"id": 5}]}"#,
            ],
        ])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        let offers = (0..<batch.count).map { batch[$0].json }.joined(separator: "\n")
        #expect(offers.contains(#""method":"POST","body":{"query":{"kind":"a"},"items":[{"id":5}]}"#), "\(offers)")
        #expect(offers.contains(#""records":"$.items""#), "\(offers)")
    }

    @Test func `credentials in the body come from the environment`() throws {
        let bridge = try RESTBridgeTests.bridge([
            "url": "\(server.url)",
            "introspect": [
                "samples": [.text("\(server.url)/say/search?api_key=lit1")],
                "body":
                    #"{"api_key": "lit2", "auth": {"user": "bob", "password": 12345}, "max_tokens": 7, "items": [{"id": 5}]}"#,
            ],
        ])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        let offers = (0..<batch.count).map { batch[$0].json }.joined(separator: "\n")
        #expect(!offers.contains("lit1") && !offers.contains("lit2") && !offers.contains("12345"), "\(offers)")
        #expect(
            offers.contains(
                #""body":{"api_key":"{body_api_key}","auth":{"user":"bob","password":"{auth_password}"},"max_tokens":7,"#
            ), "\(offers)")
        #expect(
            offers.contains(
                #""parameters":{"body_api_key":{"env":"BODY_API_KEY"},"auth_password":{"env":"AUTH_PASSWORD"}}"#),
            "\(offers)")
        #expect(offers.contains("the sample's body contained auth.password"), "\(offers)")
    }

    @Test(arguments: ["hapikey", "X-Plex-Token", "user_token"])
    func `a parameter whose name suggests a credential is not copied`(name: String) throws {
        let offer = try sampled(("/say/things", #"[{"id": 1}]"#), query: "\(name)=lit1&page_token=p&")
        #expect(!offer.contains("lit1") && offer.contains(#""query":"\#(name)""#), "\(offer)")
        #expect(!offer.contains(#"{"env":"PAGE_TOKEN"}"#), "\(offer)")
    }
}
