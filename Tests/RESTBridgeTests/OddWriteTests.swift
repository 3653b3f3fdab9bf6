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
        _ operation: WriteRequest.Operation, _ rule: Literal, reading: Literal? = nil, nested: Bool = false
    ) throws {
        let section = Literal.object([
            ("path", "/notes"), ("write", .object([(operation.rawValue, rule)])),
        ])
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
        "", "null", "OK", "Item 1 was updated.", "Saved, no errors.", "\u{FEFF}{\"id\": 1, \"error\": null}", "true",
        "1", #"{"id": 1, "text": "new", "success": false}"#,
        #"{"code": 200, "message": "done"}"#, #"{"id": 1, "status": "failed", "text": "new"}"#, #"{"status": "ok"}"#,
    ])
    func `a reply that can be a success's is one`(body: String) throws {
        try write(.update, ["query": ["body": .text(body)]])
        #expect(sent() == #"PATCH {"text":"new"}"# + "\n")
    }
}
