import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Replies to changes whose verdict stands in a part: FHIR's issues, the parts of a batch, and the facts about a reply.
@Suite struct WritePartTests {
    let server: RemoteServer

    init() throws {
        server = try RemoteServer(blocking: ["python3", PackageFolder.path + "/Tests/Servers/odd-writes.py"])
    }

    /// Sends one change of the note with the key 1; gives the JSON of the answer's record, or nil.
    @discardableResult
    private func write(
        _ operation: WriteRequest.Operation = .update, replying body: String, status: Int = 200,
        attributes: Literal.Members = []
    ) throws -> String? {
        let query = Literal.object([("body", .text(body)), ("status", .text("\(status)"))])
        let section: Literal = [
            "path": "/notes", "write": .object([(operation.rawValue, .object([("query", query)]))]),
        ]
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: (["id": 1] as Literal).options,
            values: (["text": "new"] as Literal).options, object: Literal.object([("id", 1)] + attributes).options)
        request.keyPaths = ["id": ["id"]]
        request.recordMembers = ["id", "text"] + attributes.map(\.key)
        let writer = RecordBatchWriter()
        try RESTBridgeTests.bridge(["url": .text(server.url)]).write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    @Test(arguments: [
        (#""severity": "error", "code": "processing", "diagnostics": "locked""#, 200),
        (#""severity": "fatal", "code": "x", "details": {"text": "locked"}"#, 201),
    ])
    func `an issue of FHIR that is an error is a refusal`(issue: String, status: Int) throws {
        let body = #"{"resourceType": "OperationOutcome", "id": "o", "issue": [{"severity": "warning"}, {\#(issue)}]}"#
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            let error = try bridgeError { try write(operation, replying: body, status: status) }
            #expect(error.code == .remote && !error.isRetryable && error.remote == "locked", "\(error)")
            #expect(error.message.contains("but says $.issue[1].severity is"), "\(error)")
        }
    }

    @Test(arguments: ["information", "warning"])
    func `other issues of FHIR are a success without the object`(severity: String) throws {
        let body =
            #"{"resourceType": "OperationOutcome", "id": 1, "issue": [{"severity": "\#(severity)", "code": "x"}]}"#
        for operation in [WriteRequest.Operation.create, .update, .delete] {
            #expect(try write(operation, replying: body) == nil)
        }
    }

    @Test(arguments: [
        (#"{"responses": [{"id": "1", "status": 409, "body": {"error": {"message": "stale"}}}]}"#, "stale", "conflict"),
        (
            #"{"compositeResponse": [{"body": [{"message": "bad", "errorCode": "E"}], "httpStatusCode": 400}]}"#, "bad",
            "remote"
        ),
        (#"[{"code": 400, "body": "{\"error\": {\"message\": \"bad\"}}"}]"#, "bad", "remote"),
        (#"[{"status": 422, "error": {"message": "bad"}}]"#, "bad", "remote"),
        (#"{"responses": [{"id": "1", "status": 404}]}"#, nil, "not_found"),
        (
            #"{"resourceType": "Bundle", "entry": [{"response": {"status": "412 Precondition Failed", "outcome": {"issue": [{"diagnostics": "stale"}]}}}]}"#,
            "stale", "conflict"
        ),
    ])
    func `the only part of a batch that failed is a refusal`(body: String, words: String?, code: String) throws {
        let error = try bridgeError { try write(replying: body) }
        #expect(error.code.rawValue == code && error.remote == words, "\(error)")
        #expect(error.message.contains("the reply has status 200, but says $"), "\(error)")
    }

    @Test func `one of several parts that failed leaves the outcome open`() throws {
        let body =
            #"{"responses": [{"id": "1", "status": 200}, {"id": "2", "status": 400, "body": {"message": "bad"}}]}"#
        let error = try bridgeError { try write(replying: body) }
        #expect(error.code == .timeout && error.remote == "bad", "\(error)")
    }

    @Test(arguments: [
        #"{"responses": [{"id": "1", "status": 200, "body": {"id": 1}}]}"#, #"{"responses": [{"status": "204"}]}"#,
        #"{"compositeResponse": [{"body": {"id": "1", "success": true, "errors": []}, "httpStatusCode": 201}]}"#,
        #"{"items": [{"id": 1, "text": "new", "status": 404}]}"#, #"{"id": 1, "parts": [{"status": 500}]}"#,
        #"{"took": 1, "errors": false, "items": [{"update": {"_id": "1", "status": 200}}]}"#,
    ])
    func `a list of parts that succeeded, or of objects, is a success`(body: String) throws {
        try write(replying: body)
        try write(.delete, replying: body)
    }

    @Test func `a status that records have is that of a batch only in a list of responses`() throws {
        let attributes: Literal.Members = [("status", 200)]
        try write(replying: #"[{"id": 1, "status": 404}]"#, attributes: attributes)
        let body = #"{"responses": [{"id": "1", "status": 409}]}"#
        #expect(try bridgeError { try write(replying: body, attributes: attributes) }.code == .conflict)
        try write(.delete, replying: #"{"responses": [{"id": "1", "status": 404}]}"#)
    }

    @Test(arguments: [
        #"{"meta": {"status": 400, "msg": "x"}, "response": []}"#,
        #"{"meta": {"success": false, "message": "x"}, "data": {}}"#, #"{"status": {"code": 400, "message": "x"}}"#,
        #"{"header": {"resultCode": -1, "resultMessage": "x", "isSuccessful": false}}"#,
        #"{"ResponseStatus": {"ErrorCode": "X", "Message": "x", "Errors": []}}"#,
        #"{"data": {"id": 1, "text": "new"}, "code": 409, "message": "x"}"#,
        #"{"result": {"code": 400, "message": "x"}}"#,
        #"{"code": "rest_forbidden", "message": "x", "data": {"status": 403}}"#, #"{"data": false}"#,
        #"{"errorCode": "E0000001", "errorSummary": "x", "errorLink": "l", "errorId": "o", "errorCauses": []}"#,
        #"{"messages": [{"type": "info"}, {"type": "error", "text": "x"}]}"#,
        #"{"ocs": {"meta": {"status": "failure", "statuscode": 997, "message": "x"}, "data": []}}"#,
        #"{"meta": {"status": "failure", "message": "x"}, "data": []}"#,
        #"{"result": null, "error_code": "ERR-CONDUIT-CORE", "error_info": "x"}"#,
    ])
    func `a failure in the facts about a reply leaves the outcome open`(body: String) throws {
        #expect(try bridgeError { try write(replying: body) }.code == .timeout)
    }

    @Test(arguments: [
        #"{"d": {"error": "x"}}"#, #"{"@odata.error": {"code": "x", "message": "x"}}"#,
        #"{"items": [{"id": "1", "status": "error", "error": "x"}]}"#, #"{"isSuccessful": false, "message": "x"}"#,
        #"{"type": "about:blank", "title": "Bad", "status": 422, "detail": "x", "instance": "/n"}"#,
        #"{"object": "error", "status": 400, "code": "validation_error", "message": "x"}"#,
        #"{"faultstring": "x", "faultcode": "y"}"#,
    ])
    func `a failure is a refusal in further forms`(body: String) throws {
        let error = try bridgeError { try write(replying: body) }
        #expect(error.code == .remote && error.remote == "x", "\(error)")
    }

    @Test func `a row of an import that failed is a refusal, also with the status 201`() throws {
        let row = #""transform_map": "t", "status": "error", "error_message": "x""#
        for operation in [WriteRequest.Operation.create, .update] {
            let error = try bridgeError { try write(operation, replying: #"{"result": [{\#(row)}]}"#, status: 201) }
            #expect(error.code == .remote && error.remote == "x", "\(error)")
            #expect(error.message.contains("but says $.result[0].error_message is"), "\(error)")
            // A record with such members.
            let attributes: Literal.Members = [("status", "new"), ("error_message", "")]
            try write(operation, replying: #"{"result": [{\#(row)}]}"#, status: 201, attributes: attributes)
            try write(operation, replying: #"{"result": [{"transform_map": "t", "status": "inserted"}]}"#, status: 201)
        }
    }

    @Test(arguments: [
        #"{"meta": {"code": 200, "message": "x"}, "data": {"id": 1}}"#,
        #"{"ocs": {"meta": {"status": "ok", "statuscode": 200, "message": "OK"}, "data": []}}"#,
        #"{"result": {"id": 1}, "error_code": null, "error_info": null}"#,
        #"{"errors": {"count": 0, "message": "No errors found"}}"#,
        #"{"responseHeader": {"status": 0, "QTime": 5}}"#,
        #"{"header": {"resultCode": 0, "resultMessage": "x", "isSuccessful": true}}"#, #"{"ResponseStatus": {}}"#,
        #"{"code": 20000, "message": "x", "data": {"status": "active"}}"#, #"{"data": true}"#,
        #"{"messages": [{"type": "success", "text": "saved"}]}"#, #"{"result": {"id": 1, "code": 404}}"#,
        #"{"id": 1, "text": "new", "status": {"code": 404}}"#, #"{"note": {"id": 1, "text": "new", "errors": []}}"#,
        #"{"ticket": {"id": 1}, "audit": {"events": [{"type": "Error", "message": "x"}]}}"#,
        #"{"error": {"code": 200, "message": "OK"}}"#, #"{"errors": {"code": 200, "message": "OK"}}"#,
    ])
    func `facts about a reply without a failure are a success`(body: String) throws {
        try write(replying: body)
        try write(.delete, replying: body)
    }
}
