import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What the embedding program says with one request: the variables `{user_info.NAME}`, and parameters.
@Suite struct UserInfoTests {
    private let bridge: RESTBridge

    init() throws {
        let server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/echo", "parameters": ["secret": "s3cret"]])
    }

    /// What the server received, as a record.
    private func received(_ section: Literal, _ info: Literal? = nil, parameters: Literal? = nil) throws -> String {
        var request = FetchRequest(entity: "User", section: section.options)
        request.userInfo = info?.options
        request.parameters = parameters?.options
        return try #require(try Scan(bridge.fetch(request)).records.first)
    }

    @Test func `a header, a path, a query and a body take values of the user info`() throws {
        let info: Literal = ["tenant": "a b", "account": ["id": 7], "empty": ""]
        let section: Literal = [
            "path": "/{user_info.tenant}/users(/{user_info.none})", "headers": ["X-Account": "{user_info.account.id}"],
            "query": ["t": "{user_info.tenant}", "none": "({user_info.none})", "empty": "{user_info.empty}"],
            "body": ["account": "{user_info.account.id}"],
        ]
        let record = try received(section, info)
        #expect(record.contains(#""path":"/echo/a%20b/users?t=a%20b&empty=""#), "\(record)")
        #expect(record.contains(#""x-account":"7""#) && record.contains(#""body":"{\"account\":7}""#), "\(record)")
    }

    private static let lacking: [(section: Literal, message: String)] = [
        (
            ["headers": ["X-Tenant": "{user_info.tenant}"]],
            "headers needs a value for user_info.tenant, and the request has none"
        ),
        (["query": ["t": "{user_info.tenant}"]], "query needs a value for user_info.tenant, and the request has none"),
        (["body": ["t": "{user_info.tenant}"]], "body needs a value for user_info.tenant, and the request has none"),
        (["path": "/{user_info.tenant}"], "path needs a value for user_info.tenant, and the request has none"),
        (["path": "/users{?user_info.tenant}"], "path needs a value for user_info.tenant, and the request has none"),
    ]

    @Test(arguments: lacking)
    func `a value that is missing is an error, and nothing is sent`(section: Literal, message: String) throws {
        for info in [nil, ["other": 1]] as [Literal?] {
            let error = try bridgeError { _ = try received(section, info) }
            #expect(error.code == .configuration && error.message == "User: \(message)")
            #expect(error.remedy?.contains("put it in ( ) if it is optional") == true)
        }
    }

    @Test func `a section with such variables has no fault, also in its writes`() throws {
        var request = FetchRequest(
            entity: "User",
            section: ([
                "path": "/{user_info.tenant}", "headers": ["X-Tenant": "{user_info.tenant}"],
                "write": ["create": ["path": "/users", "query": ["t": "{user_info.tenant}"]]],
            ] as Literal).options)
        request.validates = true
        let faults = try Scan(bridge.fetch(request)).records
        #expect(faults.isEmpty, "\(faults)")
    }

    @Test func `a write has the values, and is not sent without them`() throws {
        let section: Literal = [
            "write": [
                "create": [
                    "path": "/{user_info.tenant}/users", "headers": ["X-Account": "{user_info.account.id}"],
                    "query": ["t": "{user_info.tenant}", "none": "({user_info.none})"],
                    "forced": ["account": "{user_info.account.id}"],
                ]
            ]
        ]
        var request = WriteRequest(
            .create, entity: "User", section: section.options, values: (["a": 1] as Literal).options)
        let lack = try bridgeError { try bridge.write(request, into: RecordBatchWriter()) }
        #expect(lack.code == .configuration && !lack.isRetryable)
        #expect(
            lack.message == "write.create.path needs a value for user_info.tenant, and the edit has none")
        #expect(
            lack.remedy == "save the edit again with a user info that has it (a program that embeds bmo does), "
                + "or put it in ( ) if it is optional")
        request.userInfo = (["tenant": "acme"] as Literal).options
        let header = try bridgeError { try bridge.write(request, into: RecordBatchWriter()) }
        #expect(
            header.message == "write.create.headers needs a value for user_info.account.id, and the edit has none")
        #expect(header.remedy == lack.remedy)
        request.userInfo = (["tenant": "acme", "account": ["id": 7]] as Literal).options
        let writer = RecordBatchWriter()
        try bridge.write(request, into: writer)
        let reply = try writer.finish()
        let text = withExtendedLifetime(reply) { reply[0].json }
        #expect(text.contains(#""path":"/echo/acme/users?t=acme""#) && text.contains(#""x-account":"7""#), "\(text)")
        #expect(text.contains(#"\"account\":7"#) && text.contains(#"\"a\":1"#), "\(text)")
    }

    @Test func `parameters of the request take the place of the section's own`() throws {
        let given: Literal = ["lang": "fr", "depth": 2, "draft": true, "q": "{secret}"]
        let query = try received(["path": "/users?lang=en", "query": ["depth": 1, "sort": "id"]], parameters: given)
        #expect(
            query.contains(#""path":"/echo/users?lang=fr&depth=2&sort=id&draft=true&q=%7Bsecret%7D""#)
                || query.contains(#""path":"/echo/users?sort=id&lang=fr&depth=2&draft=true&q=%7Bsecret%7D""#),
            "\(query)")
        let json = try received(["path": "/users", "body": ["depth": 1, "sort": "id"]], parameters: given)
        #expect(json.contains(#""path":"/echo/users""#))
        #expect(
            json.contains(#"\"depth\":2"#) && json.contains(#"\"draft\":true"#) && json.contains(#"\"sort\":\"id\""#),
            "\(json)")
        #expect(json.contains(#"\"q\":\"{secret}\""#), "a text of the request is not a template: \(json)")
        let form = try received(["body": ["depth": 1, "sort": "id"], "body_format": "form"], parameters: given)
        #expect(form.contains(#""body":"sort=id&lang=fr&depth=2&draft=true&q=%7Bsecret%7D""#), "\(form)")
        let graphql = try received(
            ["graphql": ["query": "{ a }", "variables": ["depth": 1]]], parameters: ["depth": 2])
        #expect(graphql.contains(#"\"variables\":{\"depth\":2}"#), "\(graphql)")
    }

    @Test func `a job that exports needs the values, too, and takes no parameters`() throws {
        let section: Literal = [
            "export": [
                "create": ["path": "/exports", "body": ["tenant": "{user_info.tenant}"], "id": "$.id"],
                "status": ["path": "/exports/{id}", "state": "$.status", "done": ["completed"], "failed": ["failed"]],
                "files": ["urls": "$.files[*].url"],
            ], "format": "csv",
        ]
        let lack = try bridgeError { _ = try received(section) }
        #expect(lack.message == "User: export.create needs a value for user_info.tenant, and the request has none")
        let given = try bridgeError { _ = try received(section, ["tenant": "a"], parameters: ["x": 1]) }
        #expect(given.code == .unsupported && given.message.contains("takes no parameters with a request"))
    }
}
