import BridgeKit
import RESTBridge
import TestSupport
import Testing

/// Bodies in the shapes that APIs want, and rules for their replies.
extension WriteTests {
    private static let resources: Literal.Members = [("preset", "json_api")]

    private func resource(
        _ operation: WriteRequest.Operation, _ values: Literal, key: Literal = [:], write: Literal? = nil,
        references: [[String]] = [["author"], ["tags"]]
    ) throws -> String? {
        try self.write(
            operation, "resources", write ?? ["create": [:], "update": [:]], key: key, values: values,
            more: Self.resources, references: references)
    }

    @Test func `references to a JSON API are identifiers, whose types are known from what is read`() async throws {
        _ = try await ProcessRun.run(
            "/usr/bin/curl",
            [
                "-s", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                #"{"data": {"type": "articles", "relationships": {"author": {"data": {"type": "people", "id": "9"}}, "tags": {"data": [{"type": "labels", "id": "a"}]}}}}"#,
                server.url + "/resources/notes",
            ])
        let record = try resource(.create, ["title": "new", "author": 7, "tags": ["x", "y"]])
        #expect(
            record
                == #"{"type":"articles","title":"new","author":{"type":"people","id":"7"},"tags":[{"type":"labels","id":"x"},{"type":"labels","id":"y"}],"id":"2"}"#,
            "\(record ?? "none")")
        let sent = try #require(try asked("POST").last)
        #expect(
            sent.path.hasSuffix(
                #"{"data":{"type":"articles","attributes":{"title":"new"},"relationships":{"author":{"data":{"type":"people","id":"7"}},"tags":{"data":[{"type":"labels","id":"x"},{"type":"labels","id":"y"}]}}}}"#
            ), "\(sent.path)")
        #expect(sent.headers["content-type"] == "application/vnd.api+json")
        _ = try resource(.update, ["author": .text("8"), "tags": []], key: ["id": "2"])
        #expect(
            try asked("PATCH").last?.path.contains(#""author":{"data":{"type":"people","id":"8"}},"tags":{"data":[]}"#)
                == true)
    }

    @Test func `null needs no type, and a type that nothing shows must be configured`() throws {
        let write: Literal = ["create": [:], "type": "articles"]
        _ = try resource(.create, ["title": "a"], write: write)
        let error = try bridgeError { _ = try resource(.create, ["author": 7], write: write) }
        #expect(error.code == .configuration)
        #expect(error.remedy == "set write.types: {author: TYPE}, such as people")
        _ = try resource(
            .create, ["author": 7], write: ["create": [:], "type": "articles", "types": ["author": "people"]])
        #expect(try asked("POST").last?.path.contains(#""author":{"data":{"type":"people","id":"7"}}"#) == true)
    }

    @Test
    func
        `a relationship whose targets have several types must be configured, and so must a body that is not a resource`()
        throws
    {
        let types: Literal = ["create": [:], "type": "articles", "types": ["author": "people"]]
        _ = try resource(.create, ["author": 1], write: types)
        _ = try resource(
            .create, ["author": ["id": "2"]],
            write: ["create": [:], "type": "articles", "types": ["author": "teams"]], references: [["author", "id"]])
        let error = try bridgeError { _ = try resource(.create, ["author": 3]) }
        #expect(error.message.hasSuffix("is not known: objects that were read have people, teams"), "\(error)")
        let whole = try bridgeError {
            _ = try resource(.update, ["title": "a"], key: ["id": "1"], write: ["update": ["method": "PUT"]])
        }
        #expect(whole.remedy == "remove format, and set method to PATCH")
        let delete = try bridgeError {
            _ = try resource(.delete, [:], key: ["id": "1"], write: ["delete": ["method": "PATCH"]])
        }
        #expect(delete.remedy == "set write.delete.forced, such as {deleted: true}, or envelope")
        _ = try resource(
            .delete, [:], key: ["id": "1"], write: ["delete": ["method": "PATCH", "forced": ["gone": true]]])
        #expect(
            try asked("PATCH").last?.path.hasSuffix(
                #"{"data":{"type":"articles","id":"1","attributes":{"gone":true}}}"#) == true)
    }

    @Test func `values may be wrapped in a list of one`() throws {
        let record = try write(
            .create, "plain",
            ["create": ["wrap": "records[0].fields", "envelope": ["records": [["kind": "a"]], "typecast": true]]],
            values: ["text": "inside"])
        #expect(record == #"{"text":"inside"}"#)
        #expect(
            try asked("POST").first?.path.hasSuffix(
                #"{"records":[{"kind":"a","fields":{"text":"inside"}}],"typecast":true}"#) == true)
        let error = try bridgeError {
            _ = try write(.create, "plain", ["create": ["wrap": "records[1]"]], values: ["text": "a"])
        }
        #expect(error.remedy == "write [0]")
    }

    @Test func `objects are created and deleted by PATCH where the section says so`() async throws {
        _ = try write(.create, "client", ["create": ["method": "PATCH"]], key: ["id": "a"], values: ["text": "mine"])
        #expect(try asked("PATCH").first?.path.hasPrefix("/client/notes/a\n") == true)
        _ = try write(
            .delete, "client", ["delete": ["method": "PATCH", "forced": ["gone": true]]], key: ["id": "a"])
        #expect(try await remote("/client/notes/a").contains(#""gone": true"#))
    }

    @Test func `a value of JSON keeps its kind in an envelope`() throws {
        _ = try write(
            .create, "plain",
            ["create": ["wrap": "values", "envelope": ["meta": "{object.meta}", "text": "{object.text}"]]],
            values: ["a": 1], object: ["meta": #"{"a":[1,null]}"#, "text": #"{"a":1}"#], json: ["meta"])
        let sent = try #require(try asked("POST").first?.path)
        #expect(sent.hasSuffix(#"{"meta":{"a":[1,null]},"text":"{\"a\":1}","values":{"a":1}}"#), "\(sent)")
    }

    @Test func `a rule of the section's responses may take errors beside data for a success`() throws {
        let create: Literal = [
            "path": "/mutate/notes", "query": ["reply": "PARTIAL"],
            "graphql": ["query": "mutation($input: NoteInput!) { create(input: $input) { id text } }"],
            "wrap": "variables.input", "records": "$.data.create",
        ]
        let rule: Literal = [
            ["when": ["path": "$.errors[0].extensions.code", "equals": "PARTIAL"], "action": "accept"]
        ]
        let record = try write(
            .create, "mutate", ["create": create], values: ["text": "once"], more: [("responses", rule)])
        #expect(record == #"{"text":"once","id":1}"#)
    }

    @Test(arguments: ["create", "update", "delete"])
    func `errors without data are a refusal, whatever the rules say`(operation: String) throws {
        let rule: Literal = [
            ["when": ["path": "$.errors[0].extensions.code", "equals": "BAD_USER_INPUT"], "action": "accept"]
        ]
        let kinds: [String: WriteRequest.Operation] = ["create": .create, "update": .update, "delete": .delete]
        let error = try bridgeError {
            _ = try write(
                try #require(kinds[operation]), "mutate",
                [
                    operation: [
                        "path": "/mutate/notes", "query": ["reply": "BAD_USER_INPUT"],
                        "graphql": ["query": "mutation($input: NoteInput!) { change(input: $input) { id } }"],
                        "wrap": "variables.input",
                    ]
                ], key: operation == "create" ? [:] : ["id": 1], values: ["text": "x"], more: [("responses", rule)])
        }
        #expect(error.message.contains("BAD_USER_INPUT") || error.remote != nil, "\(error)")
        #expect(error.code != .timeout, "nothing was done")
    }

    @Test func `a rule that retries does not create an object twice`() throws {
        let rule: Literal = [["when": ["path": "$.text", "equals": "busy"], "action": "retry"]]
        let error = try bridgeError {
            _ = try write(.create, "plain", ["create": [:]], values: ["text": "busy"], more: [("responses", rule)])
        }
        #expect(error.code == .timeout && !error.isRetryable, "\(error)")
    }

    @Test func `a rule may call a reply a failure`() throws {
        let rules: Literal = [
            ["when": ["path": "$.text", "equals": "bad"], "action": "fail", "message": "it is no good"],
            ["when": ["path": "$.items", "missing": true], "action": "fail"],
        ]
        let error = try bridgeError {
            _ = try write(.create, "plain", ["create": [:]], values: ["text": "bad"], more: [("responses", rules)])
        }
        #expect(error.code == .remote && error.message == "the create of Note: it is no good")
        #expect(
            try write(.create, "plain", ["create": [:]], values: ["text": "a"], more: [("responses", rules)]) != nil)
    }
}
