import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What the replies of real APIs say of a change, all with status 200.
@Suite struct WriteOutcomeTests {
    let server: RemoteServer

    init() throws {
        server = try RemoteServer(blocking: ["python3", PackageFolder.path + "/Tests/Servers/odd-writes.py"])
    }

    /// Sends one change of the note with the key 1, whose text was "old".
    private func write(
        _ operation: WriteRequest.Operation = .update, replying body: String, rule: Literal.Members = [],
        key: String = "id", attributes: Literal.Members = [], responses: Literal? = nil
    ) throws {
        let rule = Literal.object([("query", ["body": .text(body)])] + rule)
        let section = Literal.object(
            [("path", "/notes"), ("write", .object([(operation.rawValue, rule)]))]
                + (responses.map { [("responses", $0)] } ?? []))
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: Literal.object([(key, 1)]).options,
            values: (["text": "new"] as Literal).options,
            object: Literal.object([(key, 1), ("text", "new")] + attributes).options)
        request.keyPaths = [key: [key]]
        request.before = (["text": "old"] as Literal).options
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: RecordBatchWriter())
    }

    /// The code of the error; nil for a success.
    private func code(
        _ operation: WriteRequest.Operation = .update, replying body: String, key: String = "id"
    ) throws -> BridgeError.Code? {
        do {
            try write(operation, replying: body, key: key)
            return nil
        } catch let error as BridgeError {
            return error.code
        }
    }

    @Test(arguments: [
        #"{"code": 1000, "message": "User updated successfully"}"#, #"{"code": "CREATED", "message": "User 7"}"#,
        #"{"code": 20000, "message": "x", "data": "p1"}"#, #"{"code": 20000, "message": "x", "data": [1]}"#,
        #"{"code": 20000, "data": "p1"}"#, #"{"code": 10000, "msg": "操作成功", "data": null}"#,
        #"{"code": 1000, "message": "The note was updated."}"#, #"{"code": 1000, "message": "Saved, no errors"}"#,
        #"{"code": "E0000", "message": "x"}"#, #"{"code": "00000", "msg": "x"}"#, #"{"errcode": 0, "errmsg": "ok"}"#,
        #"{"code": 0, "msg": "", "data": {"user": {"user_id": "x"}}}"#,
        #"{"RequestId": "r", "Code": "OK", "Message": "OK"}"#, #"{"error": {"code": 0, "message": "ok"}}"#,
        #"{"error": "no error"}"#, #"{"ok": true, "warning": "missing_charset"}"#,
        #"{"jsonrpc": "2.0", "id": 4, "result": true}"#,
        #"{"data": [{"code": "SUCCESS", "details": {"id": "1"}, "message": "updated", "status": "success"}]}"#,
        #"{"success": true, "errors": [], "messages": [], "result": {"id": "a"}}"#,
        #"{"_id": "1", "result": "updated", "_shards": {"total": 2, "successful": 1, "failed": 0}}"#,
    ])
    func `an all-clear is a success`(body: String) throws {
        #expect(try code(replying: body) == nil)
    }

    @Test(arguments: [
        #"{"data": {"id": 1, "status": "failed"}}"#, #"{"data": {"id": 1, "failed": true}}"#,
        #"{"result": {"id": "j1", "status": "error", "error": "disk full"}}"#,
        #"{"data": {"title": "x", "delivery": {"status": "failed"}}}"#,
        #"{"data": {"id": 1, "last_sync": {"success": false, "message": "never"}}}"#,
        #"{"id": 1, "conclusion": "failure"}"#, #"{"id": 1, "status": "failed", "last_error": {"code": "x"}}"#,
        #"{"sid": "SM1", "body": "x", "status": "undelivered", "error_code": 30003, "error_message": "lost"}"#,
    ])
    func `an object may have failed itself`(body: String) throws {
        #expect(try code(replying: body) == nil)
        #expect(try code(.delete, replying: body) == nil)
    }

    @Test func `an object may have an error of its own, by whatever key it is known`() throws {
        let body = #"{"number": 1, "text": "new", "status": "failed", "error_message": "earlier", "code": 7}"#
        #expect(try code(replying: body, key: "number") == nil)
        #expect(try code(replying: #"{"number": 1, "error_message": "locked"}"#, key: "number") == .remote)
        #expect(try code(replying: #"{"number": 2, "text": "x", "error": "locked"}"#, key: "number") == .remote)
    }

    @Test(arguments: [
        #""requestId": "r""#, #""trace_id": 5"#, #""data": null"#, #""Time": 1"#, #""errmsg": "x""#, #""status": "B""#,
    ])
    func `a false flag counts beside the key and members that are not the object's`(member: String) throws {
        let body = #"{"sku": 1, "success": false, "message": "locked", \#(member)}"#
        let error = try bridgeError { try write(replying: body, key: "sku") }
        #expect(error.code == .remote && error.remote == "locked", "\(error)")
    }

    @Test func `a false flag may be the object's own`() throws {
        let body = #"{"sku": 1, "success": false, "title": "A"}"#
        #expect(try code(replying: body, key: "sku") == .remote)
        try write(replying: body, key: "sku", attributes: [("title", "A"), ("success", false)])
    }

    @Test(arguments: [
        #"{"code": 99991672, "msg": "Access denied"}"#, #"[{"id": 1, "status": "error", "message": "locked"}]"#,
        #"{"data": {"title": "Not allowed", "status": "error"}}"#,
    ])
    func `an attribute by the name of a sign is the object's only by its value`(body: String) throws {
        let attributes: Literal.Members = [("code", 7), ("status", "open"), ("title", "A")]
        let error = try bridgeError { try write(replying: body, attributes: attributes) }
        #expect(error.code == .timeout, "\(error)")
    }

    @Test(arguments: [
        #"{"code": 7, "message": "Access denied"}"#, #"{"data": {"title": "A", "status": "failed"}}"#,
        #"[{"id": 1, "status": "error", "message": "disk full"}]"#,
    ])
    func `a value that the object has is its own`(body: String) throws {
        try write(replying: body, attributes: [("code", 7), ("status", "error"), ("title", "A")])
    }

    @Test(arguments: [
        #"{"code": 1005, "message": "The record was changed by another user"}"#,
        #"{"code": 1003, "message": "User was not updated"}"#, #"{"code": 1003, "message": "Update unsuccessful"}"#,
        #"{"code": 1003, "message": "The user has been deleted"}"#, #"{"code": 5001, "msg": "操作失败"}"#,
        #"{"code": 1009, "message": "Only drafts can be updated"}"#, #"{"code": 3, "msg": "busy", "data": false}"#,
        #"{"code": 1001, "msg": "x", "id": null}"#, #"{"Code": "isv.LIMIT_CONTROL", "Message": "x"}"#,
        #"{"log_id": 1, "error_code": 110, "error_msg": "Access token invalid"}"#,
        #"{"results": [{"id": 1, "status": "error", "message": "locked"}]}"#,
        #"{"code": 40901, "msg": "Data has been modified"}"#, #"{"code": 40901, "msg": "The record was changed"}"#,
        #"{"retcode": -1, "msg": ""}"#, #"{"retcode": -1, "msg": "null"}"#,
        #"{"code": 1000, "msg": "Rate limit applied"}"#,
        #"{"code": 1000, "message": "Successfully validated, but the record is locked"}"#,
    ])
    func `a code or a status without a clear meaning leaves the outcome open`(body: String) throws {
        #expect(try code(replying: body) == .timeout)
    }

    @Test(arguments: [
        #"{"Response": {"Error": {"Code": "x", "Message": "no"}, "RequestId": "1"}}"#,
        #"{"data": [{"code": "INVALID_DATA", "details": {}, "message": "bad", "status": "error"}]}"#,
        #"[{"id": "x", "error": "conflict", "reason": "rev"}]"#,
        #"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "x"}}"#,
        #"{"data": {"update": {"success": false}, "__typename": "Mutation"}}"#,
    ])
    func `a failure that the reply names is a refusal`(body: String) throws {
        #expect(try code(replying: body) == .remote)
        #expect(try code(.delete, replying: body) == .remote)
    }

    @Test func `a code in words is judged by whole words`() throws {
        for code in ["NOTIFICATION_QUEUED", "LIMITLESS", "BLOCK_CREATED", "existing"] {
            let body = #"{"code": "\#(code)", "message": "x"}"#
            #expect(try self.code(.create, replying: body) == nil, "\(code)")
        }
        for code in ["NOT_QUEUED", "recordLocked", "quota-limit", "Already.Exists", "NOTFOUND"] {
            let body = #"{"code": "\#(code)", "message": "x"}"#
            #expect(try self.code(.create, replying: body) == .timeout, "\(code)")
        }
    }

    @Test func `a new object in a list may have failed, too`() throws {
        let conflict = #"[{"id": "a", "error": "conflict", "reason": "Document update conflict."}]"#
        let error = try bridgeError { try write(.create, replying: conflict) }
        #expect(error.code == .remote && error.remote == "conflict", "\(error)")
        for body in [#"{"id": "p1", "status": "failed"}"#, #"{"data": {"id": "p1", "status": "failed"}}"#] {
            #expect(try code(.create, replying: body) == nil)
        }
    }

    @Test(arguments: ["$.update", "$.update[0]", "$.update[*]"])
    func `a failure at the object's configured place is a refusal`(place: String) throws {
        let body = #"{"update": [{"id": 1, "error": {"code": "invalid_id", "message": "bad ID"}}]}"#
        let error = try bridgeError { try write(replying: body, rule: [("records", .text(place))]) }
        #expect(error.code == .remote && error.remote == "bad ID", "\(error)")
        #expect(error.message.contains("but says $.update[0].error is an object"), "\(error)")
        try write(replying: #"{"update": [{"id": 1, "text": "new"}]}"#, rule: [("records", .text(place))])
    }

    @Test func `a verb says success only of its own operation`() throws {
        #expect(try code(.delete, replying: #"{"code": 1000, "message": "Note deleted"}"#) == nil)
        // A delete can be sent again.
        #expect(try code(.delete, replying: #"{"code": 1000, "message": "Note created"}"#) == .remote)
        #expect(try code(.create, replying: #"{"code": 1000, "message": "Note created"}"#) == nil)
    }

    @Test(arguments: [
        (#"{"id": 1, "text": "old", "errors": {"text": ["is taken"]}}"#, "$.errors is an object", "text: is taken"),
        (#"{"id": 1, "text": "old", "error": "is taken"}"#, "$.error is a text", "is taken"),
        (#"{"id": 1, "text": "old", "success": false, "message": "is taken"}"#, "$.success is false", "is taken"),
        (#"[{"id": 1, "text": "old", "errors": ["is taken"]}]"#, "$[0].errors is a list", "is taken"),
        (
            #"{"data": {"id": 1, "text": "old"}, "meta": {"errors": ["is taken"]}}"#, "$.meta.errors is a list",
            "is taken"
        ),
        (#"{"result": {"id": 1, "text": "old", "error": "is taken"}}"#, "$.result.error is a text", "is taken"),
    ])
    func `errors beside the unchanged object are a refusal`(body: String, sign: String, words: String) throws {
        let error = try bridgeError { try write(replying: body) }
        #expect(error.code == .remote && !error.isRetryable && error.remote == words, "\(error)")
        #expect(error.message.contains("but says \(sign)"), "\(error)")
        let path = sign.prefix { $0 != " " }
        let rule: Literal = [["when": ["path": .text(String(path))], "action": "accept"]]
        try write(replying: body, responses: rule)
    }

    @Test func `errors of a mutation's payload beside the unchanged object are a refusal`() throws {
        let rule: Literal.Members = [
            ("graphql", ["query": "mutation($input: NoteInput!) { u(input: $input) { item { id text } errors } }"]),
            ("wrap", "variables.input"), ("records", "$.data.u.item"),
        ]
        for errors in [#""errors": ["is taken"]"#, #""userErrors": [{"field": ["text"], "message": "is taken"}]"#] {
            let old = #"{"data": {"u": {"item": {"id": 1, "text": "old"}, \#(errors)}}}"#
            let error = try bridgeError { try write(replying: old, rule: rule) }
            #expect(error.code == .remote && error.remote?.contains("is taken") == true, "\(error)")
            // The payload's members are not the object's: bmo reads the object.
            let new = try bridgeError { try write(replying: old.replacing("old", with: "new"), rule: rule) }
            #expect(new.code == .timeout, "\(new)")
        }
    }

    @Test(arguments: [
        #"{"id": 1, "text": "new", "errors": ["earlier"]}"#, #"{"id": 1, "text": "New", "errors": ["earlier"]}"#,
        #"{"id": 1, "errors": ["earlier"]}"#, #"{"id": 1, "text": "old"}"#, #"{"id": 1, "text": "old", "errors": []}"#,
        #"{"id": 1, "text": "old", "warnings": ["slow"]}"#,
    ])
    func `an object with other values, or without errors, is a success`(body: String) throws {
        #expect(try code(replying: body) == nil)
    }
}
