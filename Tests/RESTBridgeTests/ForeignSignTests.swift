import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Replies to changes, all with status 200, that tell of a failure beside the values of the object.
@Suite struct ForeignSignTests {
    let server: RemoteServer

    init() throws {
        server = try RemoteServer(blocking: ["python3", PackageFolder.path + "/Tests/Servers/odd-writes.py"])
    }

    /// Sends one change of the note with the key 1, whose text was "old"; gives the JSON of the answer's record, or nil.
    @discardableResult
    private func write(
        _ operation: WriteRequest.Operation = .update, replying body: String,
        members: [String]? = ["id", "text", "title"], status: Int = 200, rule: Literal.Members = []
    ) throws -> String? {
        let query = Literal.object([("body", .text(body)), ("status", .text("\(status)"))])
        let section: Literal = [
            "path": "/notes", "write": .object([(operation.rawValue, .object([("query", query)] + rule))]),
        ]
        let isNew = operation == .create
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: Literal.object(isNew ? [] : [("id", 1)]).options,
            values: Literal.object(operation == .delete ? [] : [("text", "new")]).options,
            object: Literal.object((isNew ? [] : [("id", 1)]) + [("text", "new")]).options)
        request.keyPaths = ["id": ["id"]]
        request.recordMembers = members
        if operation == .update { request.before = (["text": "old"] as Literal).options }
        let writer = RecordBatchWriter()
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    /// The code of the error; nil for a success.
    private func code(
        _ operation: WriteRequest.Operation = .update, replying body: String,
        members: [String]? = ["id", "text", "title"], status: Int = 200
    ) throws -> BridgeError.Code? {
        do {
            try write(operation, replying: body, members: members, status: status)
            return nil
        } catch let error as BridgeError {
            return error.code
        }
    }

    @Test(arguments: [
        (#"{"id": 1, "text": "new", "success": false}"#, "$.success is false"),
        (#"{"id": 1, "text": "new", "error": "locked"}"#, "$.error is a text"),
        (#"{"id": 1, "title": "A", "validation_errors": ["locked"]}"#, "$.validation_errors is a list"),
        (#"{"data": {"id": 1, "text": "new", "errors": {"text": "locked"}}}"#, "$.data.errors is an object"),
        (#"{"note": {"id": 1, "text": "new", "error": "locked"}}"#, "$.note.error is a text"),
        (#"{"id": 1, "status": "error", "message": "locked"}"#, #"$.status is "error""#),
        (#"{"id": 1, "code": "LOCKED", "message": "locked"}"#, #"$.code is "LOCKED""#),
        (#"{"id": "job 7", "error": "locked"}"#, "$.error is a text"),
    ])
    func `a failure beside values of the object leaves open whether it was changed`(body: String, sign: String) throws {
        let error = try bridgeError { try write(replying: body) }
        #expect(error.code == .timeout && !error.isRetryable, "\(error)")
        #expect(error.message.contains("the reply has status 200, but says \(sign);"), "\(error)")
    }

    @Test(arguments: [
        (#"{"id": 1, "error": "locked"}"#, "locked"), (#"{"id": 1, "errors": ["locked"]}"#, "locked"),
        (#"{"id": 1, "error": true, "message": "locked"}"#, "locked"), (#"{"id": 1, "hasErrors": true}"#, nil),
        (#"{"data": {"id": 1, "error": "locked"}}"#, "locked"), (#"{"id": 1, "success": "false"}"#, nil),
        (#"{"note": {"id": 1, "errors": {"text": ["is taken"]}}}"#, "text: is taken"),
        (#"{"note": {"errors": {"text": ["is taken"]}}}"#, "text: is taken"),
    ])
    func `a failure beside nothing but the key is a refusal`(body: String, words: String?) throws {
        for operation in [WriteRequest.Operation.update, .delete] {
            let error = try bridgeError { try write(operation, replying: body) }
            #expect(error.code == .remote && !error.isRetryable && error.remote == words, "\(error)")
        }
    }

    @Test(arguments: [
        "null", #""""#, "0", "false", "{}", "[]", #""none""#, #""ok""#, #""No errors found""#,
        #"{"count": 0, "message": "No errors found"}"#,
        #"{"code": 0, "message": ""}"#, #"{"code": 200, "message": "OK"}"#, #"{"count": 0, "list": []}"#,
    ])
    func `an error that says nothing is none`(error: String) throws {
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            #expect(try code(operation, replying: #"{"id": 1, "text": "new", "error": \#(error)}"#) == nil)
            #expect(try code(operation, replying: #"{"error": \#(error)}"#) == nil)
        }
    }

    @Test(arguments: [
        #"{"id": 1, "text": "new", "success": false}"#, #"{"id": 1, "error": "locked"}"#,
        #"{"id": 1, "text": "new", "errors": ["earlier"]}"#, #"{"text": "new", "errors": ["earlier"]}"#,
        #"{"text": "new", "success": false}"#, #"{"text": "old", "id": 1, "error": "earlier"}"#,
        #"{"id": 1, "status": "failed", "message": "earlier"}"#, #"{"data": {"id": 1, "error": "earlier"}}"#,
        #"[{"id": 1, "status": 404, "message": "earlier"}]"#,
    ])
    func `a member that records have says nothing about a change`(body: String) throws {
        let members = ["id", "text", "success", "error", "errors", "status", "message"]
        #expect(try code(replying: body, members: members) == nil)
    }

    @Test func `where the members of records are not known, those beside values are not judged`() throws {
        for body in [#"{"id": 1, "text": "new", "success": false}"#, #"{"id": 1, "error": "locked"}"#] {
            #expect(try code(replying: body, members: nil) == nil)
        }
    }

    @Test func `what a new object's reply says beside its key leaves open whether it was made`() throws {
        for body in [#"{"id": 9, "error": "locked"}"#, #"{"id": 9, "text": "new", "success": false}"#] {
            #expect(try code(.create, replying: body) == .timeout)
            #expect(try code(.create, replying: body, status: 201) == nil)
        }
        #expect(try code(.create, replying: #"{"id": 9, "text": "new", "status": "failed"}"#) == nil)
        let unsaved = #"{"note": {"id": null, "text": "new", "errors": {"text": ["is taken"]}}}"#
        #expect(try code(.create, replying: unsaved) == .remote)
    }

    @Test(arguments: ["result", "stat", "state", "status"])
    func `a failed state around no values leaves the outcome open`(name: String) throws {
        let body = #"{"edit": {"\#(name)": "Failure", "captcha": {}}}"#
        for operation in [WriteRequest.Operation.create, .update] {
            #expect(try code(operation, replying: body) == .timeout)
            #expect(try code(operation, replying: body, members: ["id", "text", name]) == nil)
            #expect(try code(operation, replying: body.replacing("Failure", with: "Success")) == nil)
        }
    }

    @Test func `a reply that says that the object is not deleted leaves the outcome open`() throws {
        for rest in [#""object": "note""#, #""message": "Deletion scheduled""#] {
            let error = try bridgeError { try write(.delete, replying: #"{"id": 1, "deleted": false, \#(rest)}"#) }
            // The host reads the object.
            #expect(error.code == .timeout && !error.isRetryable, "\(error)")
        }
        #expect(try code(.delete, replying: #"{"id": 1, "deleted": true}"#) == nil)
        // The object as it was.
        #expect(try code(.delete, replying: #"{"id": 1, "text": "new", "deleted": false}"#) == nil)
        #expect(try code(.delete, replying: #"{"id": 1, "deleted": false}"#, members: ["id", "deleted"]) == nil)
    }

    @Test func `a sign beside values of the object may be accepted by a rule`() throws {
        let body = #"{"id": 1, "text": "new", "error": "earlier"}"#
        #expect(try code(replying: body) == .timeout)
        let section: Literal = [
            "path": "/notes", "write": ["update": ["query": ["body": .text(body)]]],
            "responses": [["when": ["path": "$.error"], "action": "accept"]],
        ]
        var request = WriteRequest(
            .update, entity: "Note", section: section.options, key: (["id": 1] as Literal).options,
            values: (["text": "new"] as Literal).options)
        request.recordMembers = ["id", "text"]
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: RecordBatchWriter())
    }

    // MARK: Mutations

    @Test func `errors of a mutation beside its object leave open whether it was made`() throws {
        let rule: Literal.Members = [
            ("graphql", ["query": "mutation($input: NoteInput!) { u(input: $input) { item { id text } errors } }"]),
            ("wrap", "variables.input"), ("records", "$.data.u.item"),
        ]
        func reply(_ rest: String) -> String { #"{"data": {"u": {"item": {"id": 1, "text": "new"}, \#(rest)}}}"# }
        for operation in [WriteRequest.Operation.create, .update] {
            let error = try bridgeError {
                try write(operation, replying: reply(#""userErrors": [{"message": "is taken"}]"#), rule: rule)
            }
            #expect(error.code == .timeout && error.remote == "is taken", "\(error)")
            #expect(try write(operation, replying: reply(#""userErrors": []"#), rule: rule) != nil)
        }
    }

    @Test func `a false flag of a mutation's payload without an object is a refusal`() throws {
        let rule: Literal.Members = [
            ("graphql", ["query": "mutation($id: ID!) { d(id: $id) { success } }", "variables": ["id": "{key}"]])
        ]
        func reply(_ rest: String) -> String { #"{"data": {"issueDelete": {"lastSyncId": 1, \#(rest)}}}"# }
        let error = try bridgeError { try write(.delete, replying: reply(#""success": false"#), rule: rule) }
        #expect(error.code == .remote && !error.isRetryable, "\(error)")
        #expect(error.message.contains("but says $.data.issueDelete.success is false"), "\(error)")
        try write(.delete, replying: reply(#""success": true"#), rule: rule)
        for (rest, members) in [(#""success": false"#, nil), (#""success": false, "entity": {}"#, ["id", "text"])] {
            let unclear = try bridgeError { try write(.delete, replying: reply(rest), members: members, rule: rule) }
            #expect(unclear.code == .timeout, "\(unclear)")
        }
        try write(.delete, replying: reply(#""success": false"#), members: ["id", "success"], rule: rule)
    }

    @Test func `a result of an error's type is a refusal`() throws {
        let rule: Literal.Members = [
            ("graphql", ["query": "mutation($input: NoteInput!) { u(input: $input) { id text } }"]),
            ("wrap", "variables.input"), ("records", "$.data.u"),
        ]
        let body = #"{"data": {"u": {"__typename": "ValidationError", "message": "is taken", "field": "text"}}}"#
        let error = try bridgeError { try write(replying: body, rule: rule) }
        #expect(error.code == .remote && error.remote == "is taken", "\(error)")
        #expect(error.message.contains(#"but says $.data.u.__typename is "ValidationError""#), "\(error)")
        let note = #"{"data": {"u": {"__typename": "SyncError", "id": 1, "text": "new"}}}"#
        #expect(try write(replying: note, rule: rule) != nil)
        let aws = #"{"__type": "x#ConditionalCheckFailedException", "message": "stale"}"#
        #expect(try code(replying: aws) == .remote)
    }
}
