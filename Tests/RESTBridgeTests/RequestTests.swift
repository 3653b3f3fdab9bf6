import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What is asked for: paths, queries, headers and bodies with variables; filters; the plan.
@Suite struct RequestTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/echo", "parameters": ["tenant": 7]])
    }

    private func request(
        _ section: Literal, since: String? = nil, parent: Literal? = nil, filters: [FetchRequest.Filter] = []
    ) -> FetchRequest {
        FetchRequest(
            entity: "User", section: section.options, since: since, parent: parent?.options, filters: filters)
    }

    /// What the server was asked: the path, without its prefix.
    private func path(_ section: Literal, since: String? = nil, parent: Literal? = nil) throws -> String {
        let scan = try Scan(bridge.fetch(request(section, since: since, parent: parent)))
        let record = try #require(scan.records.first)
        let start = try #require(record.firstRange(of: #""path":"/echo"#))
        return String(record[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test(arguments: [
        ("/users(/|parent.name|)", "/users/b%2Fob%20%C3%A9"), ("/users(/{parent.none})", "/users"),
        ("/{tenant}/users", "/7/users"), ("/users/{parent.id}/posts", "/users/42/posts"),
        ("/a(/{parent.id}(/{parent.none}))/b", "/a/42/b"), ("/a(/{parent.none}(/{parent.id}))/b", "/a/b"),
        ("/q{?tenant,parent.id,none}", "/q?tenant=7&id=42"), ("/q?x=1{&tenant}", "/q?x=1&tenant=7"),
        ("/m{;tenant}", "/m;tenant=7"), ("{/tenant,parent.id}", "/7/42"), ("/r/{+parent.path}", "/r/x/y"),
        ("/r/{+parent.odd}/x?a=1", "/r/a%3Fb%23c%25/d%20e/x?a=1"),
        ("/d{.tenant}", "/d.7"), (#"/Users\({parent.id}\)"#, "/Users(42)"), ("/f(x)", "/f(x)"),
        ("/n/{parent.address.city}", "/n/Lyon"), ("/l/{tenant,parent.id}", "/l/7,42"),
        ("/e?a={parent.empty}", "/e?a="), ("/e(/{parent.empty})", "/e"), ("/e(?a={parent.nothing})", "/e"),
        (#"/Users\('{parent.quoted}'\)"#, "/Users('O%27%27Neil')"),
    ])
    func `variables, optional groups and RFC 6570 make the path`(template: String, expected: String) throws {
        let parent: Literal = [
            "id": 42, "name": "b/ob é", "path": "x/y", "empty": "", "address": ["city": "Lyon"], "quoted": "O'Neil",
            "odd": "a?b#c%/d%20e", "nothing": .null,
        ]
        #expect(try path(["path": .text(template)], parent: parent) == expected)
    }

    @Test(arguments: [
        ("/teams/{parent.id}/users", ".."), ("/teams/{parent.id}", "."), ("{/parent.id}", ".."),
        ("/a/{+parent.id}", "x/../y"),
        ("/a/{+parent.id}", "%2e%2E"), ("/a(/{parent.id})/b", ".."), ("/a/.{parent.id}/b", "."),
        ("/a/{parent.id}?x=1", ".."), ("/a/{+parent.id}", "x/..;/y"), ("/a/{+parent.id}", "%2E.;v=1/y"),
        ("/a/{parent.id}", "..;"), ("/a/{+parent.id}", "x/..%3b/y"),
    ])
    func `a value that leads to another path is refused before anything is sent`(template: String, id: String) throws {
        // Where nobody listens, a request would be another failure.
        let bridge = try RESTBridgeTests.bridge(["url": "http://127.0.0.1:1"])
        let parent: Literal = ["id": .text(id)]
        let error = try bridgeError { _ = try Scan(bridge.fetch(request(["path": .text(template)], parent: parent))) }
        #expect(error.message.contains("{parent.id} in the path \(template) is \""))
        #expect(error.message.hasSuffix("which in a URL leads to another path: nothing was sent"))
    }

    @Test(arguments: [
        ("/v{parent.id}/b", ".2", "/v.2/b"), ("/a/{parent.id}", "...", "/a/..."),
        ("/a/{parent.id}.json", ".", "/a/..json"),
        ("/a?x={parent.id}", "..", "/a?x=.."), ("/a/{parent.id}/b", "../c", "/a/..%2Fc/b"),
    ])
    func `dots that lead nowhere are values as others are`(template: String, id: String, expected: String) throws {
        #expect(try path(["path": .text(template)], parent: ["id": .text(id)]) == expected)
    }

    @Test func `a variable without a value outside of groups is an error that names it`() throws {
        let error = try bridgeError { _ = try bridge.fetch(request(["path": "/users/{parent.id}/posts"])) }
        #expect(error.code == .configuration)
        #expect(
            error.message == "User: path \"/users/{parent.id}/posts\" needs a value for parent.id, and there is none")
        #expect(error.remedy == "name the relationship to the parent under the entity's parent")
    }

    @Test(arguments: [
        ("/a{b", "the } of a variable is missing at character 4"), ("/a(b", "the ( is not closed at character 3"),
        ("/a)b", "a ) without its ( at character 4"), ("/a{}", "\"\" names no variable at character 4"),
        ("/a{b c}", "\"b c\" names no variable at character 4"), ("/a\\", "nothing follows the \\ at character 4"),
    ])
    func `a template that is none is refused with its place`(template: String, what: String) throws {
        let error = try bridgeError { _ = try bridge.fetch(request(["path": .text(template)])) }
        #expect(error.message == "User: path: \"\(template)\" is not a template: \(what)")
    }

    @Test func `a query parameter without its value is left out`() throws {
        let section: Literal = ["query": ["since": "{since}", "by": "{parent.id}", "braces": "{x}", "t": "t{tenant}"]]
        #expect(try path(section) == "?braces=%7Bx%7D&t=t7")
        #expect(
            try path(section, since: "2024-01-01T00:00:00Z", parent: ["id": 3])
                == "?since=2024-01-01T00%3A00%3A00Z&by=3&braces=%7Bx%7D&t=t7")
    }

    private static let needing: [(section: Literal, option: String)] = [
        (["query": ["team": "{parent.slug}"]], "query"), (["path": "/users?team={parent.slug}"], "path"),
        (["path": "/teams/{parent.slug}/users"], "path"), (["path": "/users{?parent.slug}"], "path"),
        (["headers": ["X-Team": "{parent.slug}"]], "headers"),
        (["body": ["filter": ["team": "{parent.slug}"]]], "body"),
        (["graphql": ["query": "{a}", "variables": ["team": "{parent.slug}"]]], "graphql"),
    ]

    @Test(arguments: needing)
    func `a parent whose value is null is skipped, and not asked for as if it were all`(
        section: Literal, option: String
    ) throws {
        // Where nobody listens, a request would be a failure.
        let bridge = try RESTBridgeTests.bridge(["url": "http://127.0.0.1:1"])
        let scan = try Scan(bridge.fetch(request(section, parent: ["slug": .null])))
        #expect(scan.records.isEmpty)
        #expect(scan.last?.isEnd == true && scan.last?.isComplete == false)
        #expect(
            scan.warnings == [
                "{parent.slug} of \(option) is null, so this parent is skipped: its objects are neither fetched nor deleted; "
                    + #"if that part is optional put it in ( ), or exclude such parents by "where: slug!=null" of the parent"#
            ])
    }

    @Test func `an empty text of a parent is a value, but in a path, and parentheses make a part optional`() throws {
        let section: Literal = ["query": ["team": "{parent.slug}", "by": "({parent.lead})"]]
        #expect(try path(section, parent: ["slug": "", "lead": .null]) == "?team=")
        #expect(try path(section, parent: ["slug": "a", "lead": 7]) == "?team=a&by=7")
        #expect(try path(["query": ["by": #"\({parent.lead}\)"#]], parent: ["lead": 7]) == "?by=%287%29")
        let scan = try Scan(bridge.fetch(request(["path": "/teams/{parent.slug}/users"], parent: ["slug": ""])))
        #expect(
            scan.warnings.first?.hasPrefix("{parent.slug} of path is an empty text, which a path cannot contain")
                == true)
    }

    @Test func `a name that the parent does not have is refused, also where the host did not ask`() throws {
        let section: Literal = ["query": ["team": "{parent.ident}"]]
        let error = try bridgeError { _ = try bridge.fetch(request(section, parent: ["id": 1, "name": "x"])) }
        #expect(error.code == .configuration)
        #expect(error.message.hasPrefix("User: query: {parent.ident} names no attribute"))
    }

    @Test(arguments: [
        ("name eq '{parent.name}'", "O'Neil", "name eq 'O''Neil'"),
        (#"name:"{parent.name}""#, #"a"b\"#, #"name:"a\"b\\""#),
        ("Ann's {parent.name}", "O'Neil", "Ann's O'Neil"), ("{parent.name}", "O'Neil", "O'Neil"),
        ("(name:'{parent.name}',x:!(1))", "it's!", "(name:'it!'s!!',x:!(1))"),
    ])
    func `a value in quotes does not end them`(template: String, name: String, expected: String) throws {
        let scan = try Scan(
            bridge.fetch(request(["query": ["q": .text(template)]], parent: ["name": .text(name)])))
        let record = try #require(scan.records.first)
        let url = try #require(record.firstMatch(of: /"path":"\/echo\?q=([^"]*)"/)?.1)
        #expect(String(url).removingPercentEncoding == expected)
    }

    @Test func `a scan since a time lists all that moved`() throws {
        let section: Literal = ["query": ["since": "{since}"]]
        #expect(try Scan(bridge.fetch(request(section))).last?.isComplete == true)
        // The host, which asked for it, knows that the rest is not gone.
        #expect(try Scan(bridge.fetch(request(section, since: "2024"))).last?.isComplete == true)
    }

    @Test func `bodies are JSON, forms and texts with values of their kinds`() throws {
        func body(_ section: Literal) throws -> String {
            let scan = try Scan(bridge.fetch(request(section, parent: ["id": 42, "name": "Ann"])))
            return try #require(scan.records.first)
        }
        let json = try body([
            "body": [
                "filter": ["owner": "{parent.id}", "name": "{parent.name}!", "since": "{since}"], "q": "query { a }",
            ]
        ])
        #expect(
            json.contains(
                #""body":"{\"filter\":{\"owner\":42,\"name\":\"Ann!\"},\"q\":\"query { a }\"}""#))
        #expect(json.contains(#""method":"POST""#))
        #expect(json.contains(#""content-type":"application/json""#))
        let form = try body(["body": ["a b": "{parent.name}&", "n": [1, 2]], "body_format": "form"])
        #expect(form.contains(#""body":"a%20b=Ann%26&n=1&n=2""#))
        #expect(form.contains(#""content-type":"application/x-www-form-urlencoded""#))
        #expect(try body(["body": "owner = {parent.id}"]).contains(#""body":"owner = 42""#))
    }

    @Test func `conditions become the parameters that the config maps, and the others stay`() throws {
        let section: Literal = [
            "path": "/users",
            "filters": [
                "name": "q",
                "age": [">=": "min_age", "<": ["parameter": "filter", "value": "age lt {value}", "join": " and "]],
                "city": ["parameter": "filter", "value": "city eq '{value}'", "join": " and "],
            ],
        ]
        let filters = [
            FetchRequest.Filter(attribute: "name", path: "name", comparison: .equal, value: "Ann & co"),
            FetchRequest.Filter(attribute: "name", path: "name", comparison: .less, value: "x"),
            FetchRequest.Filter(attribute: "age", path: "age", comparison: .greaterOrEqual, value: "18"),
            FetchRequest.Filter(attribute: "age", path: "age", comparison: .less, value: "30"),
            FetchRequest.Filter(attribute: "city", path: "address.city", comparison: .equal, value: "Lyon"),
            FetchRequest.Filter(attribute: "score", path: "score", comparison: .equal, value: nil),
        ]
        var asked = request(section, filters: filters)
        let scan = try Scan(bridge.fetch(asked))
        #expect(scan.last?.pushed == [0, 2, 3, 4])
        #expect(scan.last?.isComplete == false)
        let wanted = "/users?q=Ann%20%26%20co&min_age=18&filter=age%20lt%2030%20and%20city%20eq%20%27Lyon%27"
        #expect(scan.records.first?.contains("\"path\":\"/echo\(wanted)\"") == true)
        asked.explains = true
        let plan = try Scan(bridge.fetch(asked))
        #expect(plan.records == ["{\"request\":\"GET \(server.url)/echo\(wanted)\",\"body\":null}"])
        #expect(plan.last?.pushed == [0, 2, 3, 4])
        #expect(plan.last?.isComplete == false)
    }

    @Test func `a condition does not take the parameter of the paging, which is set for each page`() throws {
        func pushed(_ paging: Literal, _ parameter: String) throws -> [Int]? {
            let filters: Literal = ["name": ["parameter": .text(parameter), "value": "(eq:{value})", "join": ","]]
            var asked = request(
                ["path": "/users", "filters": filters, "paging": paging],
                filters: [FetchRequest.Filter(attribute: "name", path: "name", comparison: .equal, value: "Ann")])
            asked.explains = true
            return try Scan(bridge.fetch(asked)).last?.pushed
        }
        let rison: Literal = ["style": "page", "page_parameter": "q", "template": "(page:{value})"]
        #expect(try pushed(rison, "q") == [])
        #expect(try pushed(rison, "filter") == [0])
        #expect(try pushed(["style": "offset", "size": 10], "limit") == [])
        #expect(try pushed(["style": "page", "in": "header", "page_parameter": "q"], "q") == [0])
        #expect(try pushed("none", "page") == [0])
    }

    private static let listings: [(section: Literal, isBounded: Bool)] = [
        (["path": "/users"], false),
        (["query": ["from": "{since}"], "since": ["start": "2024-01-01"]], false),
        (["query": ["from": "{since}"], "since": ["start": "now-30d"]], true),
        (["query": ["a": "{from}", "b": "{to}"], "split": ["end": 9, "step": 3]], false),
        (["query": ["a": "{from}", "b": "{to}"], "split": ["end": 9, "step": 3, "open": false]], true),
    ]

    @Test(arguments: listings)
    func `the plan says whether what the listing lacks may exist`(section: Literal, isBounded: Bool) throws {
        var asked = request(section)
        asked.explains = true
        #expect(try Scan(bridge.fetch(asked)).last?.skipped.isEmpty == !isBounded)
    }

    @Test(arguments: [
        ("name eq '{value}'", "O'Brien", "name eq 'O''Brien'"),
        (#"name = "{value}""#, #"a "b" \c"#, #"name = "a \"b\" \\c""#),
        (
            "(filters:!((col:name,opr:eq,value:'{value}')))", "O'Brien!",
            "(filters:!((col:name,opr:eq,value:'O!'Brien!!')))"
        ),
        ("{value}", "O'Brien", "O'Brien"), ("x eq 'y' and n gt {value}", "5", "x eq 'y' and n gt 5"),
    ])
    func `a value in quotes is written as a literal of the expression`(
        template: String, value: String, expected: String
    ) throws {
        let filters = [FetchRequest.Filter(attribute: "name", path: "name", comparison: .equal, value: value)]
        var asked = request(
            ["path": "/users", "filters": ["name": ["parameter": "filter", "value": .text(template)]]],
            filters: filters)
        asked.explains = true
        let plan = try Scan(bridge.fetch(asked))
        #expect(plan.records.first?.contains("?filter=\(percentEncoded(expected))") == true, "\(plan.records)")
    }

    private func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber
            return isPlain && byte < 0x80 || "-._~".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    @Test(arguments: ["/Users({parent.id})", "/Users('{parent.id}')/posts", "/a/Users(|parent.id|)"])
    func `parentheses around a key alone are a fault, as they would not be sent`(path: String) throws {
        let error = try bridgeError { _ = try self.path(["path": .text(path)], parent: ["id": 42]) }
        #expect(error.code == .configuration)
        #expect(error.message.contains("is an optional part, and is not sent"))
        #expect(error.remedy == #"write \( and \) for parentheses that are sent, as in /Users\({key}\)"#)
    }

    @Test func `a mutation takes the values as its input, and an envelope stands around them`() throws {
        var kind: String?
        var accept: String?
        func body(
            _ operation: WriteRequest.Operation, _ write: Literal, preset: String = "graphql"
        ) throws -> String {
            let writer = RecordBatchWriter()
            try bridge.write(
                WriteRequest(
                    operation, entity: "User",
                    section: (["path": "/graphql", "preset": .text(preset), "write": write] as Literal).options,
                    key: (["id": 7] as Literal).options, values: (["name": "Ann"] as Literal).options,
                    object: (["id": 7, "name": "Ann"] as Literal).options), into: writer)
            let batch = try writer.finish()
            defer { withExtendedLifetime(batch) {} }
            let record = batch[0]
            accept = record["headers"]?["accept"]?.text
            kind = record["headers"]?["content-type"]?.text
            return "\(record["method"]?.text ?? "") \(record["path"]?.text ?? "") \(record["body"]?.text ?? "")"
        }
        let text = "mutation($id: ID!, $input: UserInput!) { update(id: $id, input: $input) { id name } }"
        #expect(
            try body(
                .update,
                [
                    "update": [
                        "graphql": ["query": .text(text), "variables": ["id": "{key}"]], "wrap": "variables.input",
                    ]
                ])
                == #"POST /echo/graphql {"variables":{"id":7,"input":{"name":"Ann"}},"query":"\#(text)"}"#)
        #expect(
            try body(
                .update,
                [
                    "update": [
                        "method": "PUT", "format": "json", "wrap": "data.attributes",
                        "envelope": ["data": ["type": "users", "id": "{key}"]],
                    ]
                ],
                preset: "json_api")
                == #"PUT /echo/graphql/7 {"data":{"type":"users","id":7,"attributes":{"name":"Ann"}}}"#)
        #expect(kind == "application/vnd.api+json")
        #expect(accept?.hasPrefix("application/vnd.api+json") == true)
    }

    @Test func `the plan contacts no server and shows no secret`() throws {
        let offline = try RESTBridgeTests.bridge([
            "url": "http://127.0.0.1:9/", "auth": ["type": "api_key", "query": "api_key", "value": "s3cret"],
        ])
        var asked = request([
            "path": "/graphql", "graphql": ["query": "{ a }"], "query": ["api_key": "s3cret"],
            "paging": ["style": "offset", "size": 5],
        ])
        asked.explains = true
        let plan = try Scan(offline.fetch(asked))
        #expect(
            plan.records == [
                #"{"request":"POST http://127.0.0.1:9/graphql?api_key=***","body":"{\"query\":\"{ a }\",\"variables\":{\"offset\":0,\"limit\":5}}"}"#
            ])
    }

    @Test func `a scan that takes too long is ended by its total time`() throws {
        let hasty = try RESTBridgeTests.bridge(["url": "\(server.url)", "limits": ["total_time": 0.05]])
        let error = try bridgeError {
            _ = try Scan(source(hasty, ["path": "/users/next?delay=0.1", "records": "$.items"]))
        }
        #expect(error.code == .limit)
        // The first request is cut off.
        #expect(error.message.hasPrefix("page 1 of User: the scan takes longer than limits.total_time"))
    }

    @Test func `the total time holds for one long request, and for all slices together`() throws {
        let hasty = try RESTBridgeTests.bridge(["url": "\(server.url)", "limits": ["total_time": 1]])
        let began = ContinuousClock.now
        let error = try bridgeError { _ = try Scan(source(hasty, ["path": "/slow?seconds=30"])) }
        #expect(error.code == .limit && ContinuousClock.now - began < .seconds(20), "\(error)")
        let slices: Literal = [
            "path": "/users/next?delay=0.4", "query": ["kind": "{kind}"], "records": "$.items", "paging": "none",
            "each": ["kind": ["a", "b", "c", "d", "e"]],
        ]
        #expect(try bridgeError { _ = try Scan(source(hasty, slices)) }.code == .limit)
    }
}
