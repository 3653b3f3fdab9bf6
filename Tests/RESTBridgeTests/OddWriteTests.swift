import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Replies around a change that are not what an API sends: a message in the object's place, a proxy's page, a text cut off.
@Suite struct OddWriteTests {
    let server: RemoteServer

    init() throws {
        server = try RemoteServer(blocking: ["python3", PackageFolder.path + "/Tests/Servers/odd-writes.py"])
    }

    /// Sends one change of note 1.
    private func write(
        _ operation: WriteRequest.Operation, _ rule: Literal, reading: Literal? = nil, nested: Bool = false,
        responses: Literal? = nil
    ) throws {
        let section = Literal.object(
            [("path", "/notes"), ("write", .object([(operation.rawValue, rule)]))]
                + (responses.map { [("responses", $0)] } ?? []))
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: Literal.object([("id", 1)]).options,
            values: (nested ? ["address": ["city": "Paris"]] : ["text": "new"] as Literal).options,
            object: Literal.object([("id", 1)]).options,
            nested: nested ? Literal.object([("address", ["zip": "1"])]).options : nil,
            readOne: reading.map { Literal.object([("path", "/notes/{parent.id}"), ("query", $0)]).options })
        request.keyPaths = ["id": ["id"]]
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: RecordBatchWriter())
    }

    private func sent() -> String {
        (try? String(contentsOfFile: server.folder.appending("sent"), encoding: .utf8)) ?? ""
    }

    @Test(arguments: [
        (#"{"message": "Too many requests"}"#, "the reply's object has no id"),
        (#"{"error": "busy"}"#, "$.error is a text"), (#"{}"#, "the reply's object has no id"),
        (#"{"id": 2, "text": "theirs"}"#, "the reply has another object, by its id"),
        (#"{"data": {"id": 1, "text": "a"}}"#, "the reply's object has no id"),
        (#"{"id": null, "text": "a"}"#, "the reply's object has no id"), ("[]", "the reply holds no object"),
    ])
    func `what is read before a PUT must be the object`(body: String, words: String) throws {
        let reading: Literal = ["body": .text(body)]
        let error = try bridgeError { try write(.update, ["method": "PUT"], reading: reading) }
        #expect(
            error.message.contains(words), "\(error)"
        )
        #expect(error.code == .remote && !error.isRetryable)
        let partial = try bridgeError { try write(.update, [:], reading: reading, nested: true) }
        #expect(partial.message.contains(words), "\(partial)")
        #expect(sent().isEmpty)
    }

    @Test func `an object with the key as a text is the object`() throws {
        try write(.update, ["method": "PUT"], reading: ["body": #"{"id": "1", "text": "a", "kept": true}"#])
        #expect(sent() == #"PUT {"id":"1","text":"new","kept":true}"# + "\n")
    }

    @Test(arguments: [("401", BridgeError.Code.authentication), ("403", .permission), ("404", .notFound)])
    func `a nested object that must not be read is not sent in part`(status: String, code: BridgeError.Code) throws {
        let error = try bridgeError {
            try write(.update, [:], reading: ["status": .text(status), "body": "{}"], nested: true)
        }
        #expect(error.code == code, "\(error)")
        #expect(code == .authentication || error.remedy?.contains("nested: part") == true, "\(error)")
        #expect(sent().isEmpty)
    }

    @Test(arguments: [
        ("<html><body>Please log in</body></html>", "text/html"), ("<xml/>", "text/xml"),
        (#"{"id": 1, "text": "ne"#, "application/json"), ("Access denied", "text/plain"), ("false", "application/json"),
        (#""error: denied""#, "application/json"),
    ])
    func `a reply that is not the API's leaves open whether the change was made`(body: String, type: String) throws {
        let query: Literal = ["query": ["body": .text(body), "type": .text(type)]]
        let error = try bridgeError { try write(.update, query) }
        #expect(error.code == .timeout && !error.isRetryable, "\(error)")
        #expect(error.message.contains("it is unknown whether the remote carried it out"), "\(error)")
        // A delete can be sent again.
        #expect(try bridgeError { try write(.delete, query) }.isRetryable)
        #expect(sent().split(separator: "\n").count == 2)
    }

    @Test func `a reply that is cut off leaves open whether the change was made`() throws {
        let error = try bridgeError { try write(.update, ["query": ["body": "{}", "cut": "1"]]) }
        #expect(error.code == .timeout, "\(error)")
    }

    @Test(arguments: ["408", "444", "460", "499", "502", "504", "520", "522", "524", "598", "599"])
    func `a gateway that got no answer leaves open whether the change was made`(status: String) throws {
        let query: Literal = ["query": ["body": "<html>error</html>", "type": "text/html", "status": .text(status)]]
        for operation in [WriteRequest.Operation.create, .update] {
            let error = try bridgeError { try write(operation, query) }
            #expect(error.code == .timeout && !error.isRetryable, "\(error)")
            #expect(error.message.contains("it is unknown whether the remote carried it out"), "\(error)")
        }
        // A delete can be sent again.
        #expect(try bridgeError { try write(.delete, query) }.isRetryable)
        #expect(sent().split(separator: "\n").count == 3)
    }

    @Test(arguments: ["425", "503", "521", "523", "525", "526", "529", "530"])
    func `a server that did not begin with the change can be asked again`(status: String) throws {
        let error = try bridgeError { try write(.create, ["query": ["status": .text(status)]]) }
        #expect(error.code == .remote && error.isRetryable, "\(error)")
    }

    @Test(arguments: ["400", "422", "500", "501", "505", "507", "508", "511"])
    func `a status that the server gives itself is a refusal`(status: String) throws {
        let error = try bridgeError { try write(.create, ["query": ["status": .text(status)]]) }
        #expect(error.code == .remote && !error.isRetryable, "\(error)")
    }

    @Test(arguments: [
        #"{"code": 401, "message": "Unauthorized"}"#, #"{"statusCode": 403, "message": "Forbidden"}"#,
        #"{"success": 0}"#, #"{"ok": 0}"#, #"{"error_code": 5}"#, #"{"result": "failed"}"#,
        #"{"id": 1, "success": false}"#,
    ])
    func `a reply that consists of a failure is a refusal`(body: String) throws {
        let error = try bridgeError { try write(.update, ["query": ["body": .text(body)]]) }
        #expect(error.code == .remote, "\(error)")
        #expect(error.remedy?.contains("say so under responses") == true)
    }

    @Test(arguments: [
        (#"{"data": {"noteUpdate": {"success": false, "message": "no"}}}"#, "no"),
        (#"{"result": {"success": false, "message": "locked"}}"#, "locked"),
        (#"[{"id": "1", "success": false, "errors": [{"message": "in use"}]}]"#, "in use"),
        (#"{"results": [{"id": 1, "status": "error", "error": "locked"}]}"#, "locked"),
        (#"{"jsonrpc": "2.0", "id": null, "result": false}"#, nil),
    ])
    func `a failure in the object's place is a refusal`(body: String, words: String?) throws {
        for operation in [WriteRequest.Operation.update, .delete] {
            let error = try bridgeError { try write(operation, ["query": ["body": .text(body)]]) }
            #expect(error.code == .remote && error.remote == words, "\(error)")
        }
    }

    @Test(arguments: [
        #"{"code": 1001, "msg": "no permission", "data": null}"#, #"{"retcode": -1, "retmsg": "x"}"#,
        #"{"ResultCode": "E001", "ResultMessage": "failed"}"#,
        #"[{"id": 1, "success": true}, {"id": 2, "success": false}]"#,
    ])
    func `a code that is not a success's leaves open whether the change was made`(body: String) throws {
        let error = try bridgeError { try write(.update, ["query": ["body": .text(body)]]) }
        #expect(error.code == .timeout, "\(error)")
    }

    @Test(arguments: [
        #"{"code": 0, "message": "OK"}"#, #"{"code": 20000, "message": "success", "data": {}}"#, #"{"errcode": 0}"#,
        #"{"data": {"noteUpdate": {"success": true, "errors": []}}}"#, #"{"data": {"id": 1, "status": "open"}}"#,
        #"[{"id": "1", "success": true, "errors": []}]"#, #"{"result": {"success": true, "error": null}}"#,
        #"{"data": {"id": 1, "name": "n", "status": "failed", "success": false}}"#, #"{"code": "FR", "name": "n"}"#,
    ])
    func `a success in the object's place is one`(body: String) throws {
        try write(.update, ["query": ["body": .text(body)]])
        try write(.delete, ["query": ["body": .text(body)]])
    }

    @Test(arguments: [
        (#"{"validation_errors": ["text is too long"]}"#, "$.validation_errors is a list", "text is too long"),
        (#"{"fieldErrors": {"text": ["is too long"]}}"#, "$.fieldErrors is an object", "text: is too long"),
        (#"{"result": {"invalid-params": [{"reason": "no"}]}}"#, "$.result['invalid-params'] is a list", "no"),
        (#"{"id": null, "text": "new", "errors": {"text": "taken"}}"#, "$.errors is an object", "text: taken"),
        (#"{"data": "x", "failed": 1, "message": "no quota"}"#, "$.failed is 1", "no quota"),
    ])
    func `a reply with errors and without the object is a refusal`(body: String, sign: String, words: String) throws {
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            let error = try bridgeError { try write(operation, ["query": ["body": .text(body)]]) }
            #expect(error.code == .remote && !error.isRetryable, "\(error)")
            #expect(error.message.hasSuffix("the reply has status 200, but says \(sign)"), "\(error)")
            #expect(error.remote == words, "\(error)")
        }
    }

    @Test(arguments: [
        (WriteRequest.Operation.update, #"{"updated": 0}"#, "$.updated is 0"),
        (.update, #"{"acknowledged": true, "matchedCount": 0, "modifiedCount": 0}"#, "$.matchedCount is 0"),
        (.update, #"{"result": {"affected_rows": 0}}"#, "$.result.affected_rows is 0"),
        (.update, #"{"rowsAffected": 0, "message": "no such row"}"#, "$.rowsAffected is 0"),
        (.delete, #"{"deleted": 0}"#, "$.deleted is 0"), (.delete, #"{"deleted": false}"#, "$.deleted is false"),
    ])
    func `a count of zero is a conflict, so that the object is read`(
        operation: WriteRequest.Operation, body: String, sign: String
    ) throws {
        let error = try bridgeError { try write(operation, ["query": ["body": .text(body)]]) }
        #expect(error.code == .conflict && !error.isRetryable, "\(error)")
        #expect(error.message.contains("but says \(sign), so nothing was changed"), "\(error)")
        #expect(error.remedy?.contains("equals: \"\(sign.hasSuffix("0") ? "0" : "false")\"") == true, "\(error)")
    }

    @Test func `a create that counts no new object is refused`() throws {
        let query: Literal = ["query": ["body": #"{"created": 0, "updated": 0, "skipped": 1}"#]]
        #expect(try bridgeError { try write(.create, query) }.code == .remote)
    }

    @Test(arguments: [
        (#"[{"id": 1, "status": 422, "message": "too long"}]"#, BridgeError.Code.remote),
        (#"{"responses": [{"status": "HTTP/1.1 409 Conflict"}]}"#, .conflict),
        (#"{"items": [{"update": {"status": 404}}]}"#, .notFound), (#"{"status": 400}"#, .remote),
        (#"[{"status": 200}, {"status": 500}]"#, .timeout), (#"[{"status": 504}]"#, .timeout),
    ])
    func `a part of a reply 207 that failed is a refusal`(body: String, code: BridgeError.Code) throws {
        let error = try bridgeError { try write(.update, ["query": ["body": .text(body), "status": "207"]]) }
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains("the reply has status 207, but says $"), "\(error)")
    }

    @Test func `a reply 207 without a part that failed is a success`() throws {
        for body in [#"[{"id": 1, "status": 200}]"#, #"{"responses": [{"status": "201 Created"}]}"#, "[]", ""] {
            try write(.update, ["query": ["body": .text(body), "status": "207"]])
        }
        try write(.delete, ["query": ["body": #"[{"status": 404}]"#, "status": "207"]])
        #expect(sent().split(separator: "\n").count == 5)
    }

    @Test func `a rule accepts what looks like a failure`() throws {
        let query: Literal = ["query": ["body": #"{"updated": 0}"#]]
        let rules: Literal = [["when": ["path": "$.updated", "equals": "0"], "action": "accept"]]
        try write(.update, query, responses: rules)
        #expect(try bridgeError { try write(.update, query) }.code == .conflict)
    }

    @Test(arguments: [
        #"{"id": 1, "validation_errors": ["earlier"], "updated": 0}"#, #"{"updated": 1}"#,
        #"{"matchedCount": 1, "modifiedCount": 0}"#, #"{"text": "new", "updated": 0}"#, #"{"validation_errors": []}"#,
        #"{"fieldErrors": {"text": []}}"#, #"{"deleted": 0}"#, #"{"failed": 0, "errors": 0}"#,
        #"{"message": "Access denied"}"#, #"{"unchanged": 1, "updated": 0}"#,
    ])
    func `an object, or a count of what was changed, is a success`(body: String) throws {
        try write(.update, ["query": ["body": .text(body)]])
        #expect(sent() == #"PATCH {"text":"new"}"# + "\n")
    }

    @Test(arguments: [
        "", "null", "OK", "Item 1 was updated.", "Saved, no errors.", "\u{FEFF}{\"id\": 1, \"error\": null}", "true",
        "1", #"{"id": 1, "text": "new", "success": false}"#,
        #"{"code": 200, "message": "done"}"#, #"{"id": 1, "status": "failed", "text": "new"}"#, #"{"status": "ok"}"#,
    ])
    func `a reply that can be a success's is one`(body: String) throws {
        try write(.update, ["query": ["body": .text(body)]])
        #expect(sent() == #"PATCH {"text":"new"}"# + "\n")
    }
}
