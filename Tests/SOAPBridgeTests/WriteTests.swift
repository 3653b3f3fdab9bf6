import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Changes that are sent to PHP's SoapServer, and what another client then sees there.
@Suite struct WriteTests {
    private let server: RemoteServer

    init() async throws { server = try await RemoteServer.soapNotes() }

    private static let rules: Literal = [
        "create": ["operation": "AddNote", "values": "note"],
        "update": ["operation": "UpdateNote", "values": "note", "key": "noteId"],
        "delete": ["operation": "DeleteNote", "key": "noteId"],
    ]
    private static let faults: Literal = .array([
        ["detail": "Conflict", "action": "conflict"], ["detail": "NotFound", "action": "not_found"],
    ])

    private func write(
        _ operation: WriteRequest.Operation, port: String = "Notes11", rules: Literal = rules,
        key: Literal = [:],
        values: Literal = [:], object: Literal = [:], before: Literal = [:], options: Literal = [:],
        explains: Bool = false
    ) throws -> String? {
        let section: Literal = [
            "operation": "ListNotes", "records": "ListNotesResponse/notes/note", "faults": Self.faults, "write": rules,
        ]
        let options = (["wsdl": .text(server.url + "/service?wsdl"), "port": .text(port)] as Literal).adding(
            options)
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        let writer = RecordBatchWriter()
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: key.options, values: values.options,
            object: object.options)
        request.before = before.options
        request.keyPaths = ["id": ["id"]]
        request.explains = explains
        try bridge.write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    /// A note as PHP's own client reads it.
    private func remote(_ id: Int) async throws -> String {
        let script = """
            $client = new SoapClient('\(server.url)/service?wsdl', ['cache_wsdl' => WSDL_CACHE_NONE]);
            try { echo json_encode($client->GetNote(['noteId' => \(id)])->note); } catch (SoapFault $fault) { echo $fault->getMessage(); }
            """
        return try await ProcessRun.run("php", ["-r", script]).output
    }

    private func requests() throws -> String {
        try String(contentsOfFile: server.folder.appending("requests.log"), encoding: .utf8)
    }

    @Test(arguments: ["Notes11", "Notes12"])
    func `an object is created, read, updated and deleted`(port: String) async throws {
        let created = try write(
            .create, port: port,
            values: ["tag": .array(["a", "b"]), "text": "first & <last>", "price": "10.10", "due": .null])
        #expect(created == #"{"id":1,"version":1,"text":"first & <last>","price":10.10,"due":null,"tag":["a","b"]}"#)
        #expect(
            try await remote(1)
                == #"{"id":1,"version":1,"text":"first & <last>","price":"10.10","due":null,"tag":["a","b"]}"#)

        let updated = try write(
            .update, port: port, key: ["id": 1], values: ["text": "second"],
            object: ["id": 1, "version": 7, "text": "second", "price": "9", "tag": "not theirs"])
        #expect(
            updated == #"{"id":1,"version":2,"text":"second","price":10.10,"due":null,"tag":["a","b"]}"#,
            "the rest is what the service had, whatever is here")
        #expect(try requests().contains("<n1:noteId>1</n1:noteId>"))

        #expect(try write(.delete, port: port, key: ["id": 1]) == nil)
        #expect(try await remote(1) == "no such note")
        // It is gone: that is what was wanted.
        #expect(try write(.delete, port: port, key: ["id": 1]) == nil)
    }

    @Test func `only what changed is sent where the config says so`() throws {
        _ = try write(.create, values: ["text": "one", "price": "5"])
        let rules: Literal = [
            "update": ["operation": "UpdateNote", "values": "note", "key": ["id": "noteId"], "send": "changes"]
        ]
        let updated = try write(.update, rules: rules, key: ["id": 1], values: ["text": "two"], object: ["price": "5"])
        #expect(updated == #"{"id":1,"version":2,"text":"two"}"#)
    }

    @Test func `a typed fault is a conflict`() async throws {
        _ = try write(.create, values: ["text": "one"])
        let rules: Literal = [
            "update": [
                "operation": "UpdateNote", "values": "note", "key": "noteId", "attributes": ["version": "version"],
            ]
        ]
        _ = try write(.update, rules: rules, key: ["id": 1], values: ["text": "theirs"], object: ["version": 1])
        let error = try bridgeError {
            _ = try write(.update, rules: rules, key: ["id": 1], values: ["text": "ours"], object: ["version": 1])
        }
        #expect(error.code == .conflict)
        #expect(!error.isRetryable)
        #expect(error.remote?.contains("it was changed") == true)
        #expect(try await remote(1).contains("theirs"))
    }

    @Test func `what another client changed meanwhile is a conflict, and what it changed beside it stays`()
        async throws
    {
        _ = try write(.create, values: ["text": "one", "price": "2.50"])
        _ = try write(.update, key: ["id": 1], values: ["text": "theirs"], before: ["text": "one"])
        let error = try bridgeError {
            _ = try write(.update, key: ["id": 1], values: ["text": "ours"], before: ["text": "one"])
        }
        #expect(error.code == .conflict && error.message.contains("now has a different text"), "\(error)")
        // In another spelling it is the same.
        let updated = try write(.update, key: ["id": 1], values: ["price": "3"], before: ["price": "2.5"])
        #expect(updated == #"{"id":1,"version":3,"text":"theirs","price":3}"#)
    }

    @Test func `a value is cleared by nil or by leaving it out, and what is required cannot be`() async throws {
        _ = try write(.create, values: ["text": "one", "price": "2.50", "due": "2026-11-21T10:00:00Z"])
        #expect(
            try write(.update, key: ["id": 1], values: ["price": .null, "due": .null])
                == #"{"id":1,"version":2,"text":"one","due":null}"#)
        let error = try bridgeError { _ = try write(.update, key: ["id": 1], values: ["text": .null]) }
        #expect(
            error.code == .configuration && error.message.contains("UpdateNote/note/text cannot be null"), "\(error)")
        let changes: Literal = [
            "update": ["operation": "UpdateNote", "values": "note", "key": "noteId", "send": "changes"]
        ]
        let other = try bridgeError {
            _ = try write(.update, rules: changes, key: ["id": 1], values: ["text": "x", "price": .null])
        }
        #expect(other.message.contains("left out, it would stay as it is"), "\(other)")
    }

    @Test func `a create that lacks what the schema requires is not sent`() throws {
        let error = try bridgeError { _ = try write(.create, values: ["price": "1"]) }
        #expect(
            error.code == .configuration
                && error.message.contains("was not sent: the schema requires AddNote/note/text"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: server.folder.appending("requests.log")))
    }

    @Test func `what would be sent is shown, with the object as the service has it, and is not sent`() async throws {
        _ = try write(.create, values: ["text": "one", "price": "2.50"])
        let told = try #require(try write(.update, key: ["id": 1], values: ["text": "two"], explains: true))
        #expect(
            told.contains("POST \(server.url)/v11") && told.contains("<n1:text>two</n1:text><n1:price>2.50"), "\(told)")
        #expect(try await remote(1).contains(#""version":1,"text":"one""#))
    }

    @Test func `an update of a missing object is reported`() throws {
        let error = try bridgeError { _ = try write(.update, key: ["id": 9], values: ["text": "x"]) }
        #expect(error.code == .notFound)
    }

    @Test func `a fault of the service is a refusal, not to be repeated`() throws {
        let error = try bridgeError { _ = try write(.create, values: ["text": "fail"]) }
        #expect(error.code == .remote && !error.isRetryable)
        #expect(error.remote?.contains("the disk is full") == true)
    }

    @Test(arguments: ["slow", "silent"])
    func `a write whose outcome is unknown is a timeout that must not be repeated`(text: String) async throws {
        let error = try bridgeError {
            _ = try write(.create, values: ["text": .text(text)], options: ["timeout": 1])
        }
        #expect(error.code == .timeout, "\(error)")
        #expect(!error.isRetryable)
        #expect(error.message.contains("the request was sent"))
        #expect(try await remote(1).contains(text))
    }

    @Test func `the new key may be all that the reply has`() throws {
        let rules: Literal = [
            "create": [
                "operation": "AddNoteFast", "values": "note", "reply_key": "AddNoteFastResponse/noteId",
                "key_field": "id",
            ]
        ]
        #expect(try write(.create, rules: rules, values: ["text": "quick"]) == #"{"id":"1"}"#)
    }

    @Test func `constants and attributes find their elements`() throws {
        let rules: Literal = [
            "create": [
                "operation": "AddNote", "values": "note", "input": ["note": ["text": "by {object.author}"]],
                "attributes": ["authorId": "author"],
            ]
        ]
        let created = try write(.create, rules: rules, object: ["author": 7])
        #expect(created == #"{"id":1,"version":1,"text":"by 7","authorId":7}"#)
    }

    @Test func `what the config does not name is not done`() throws {
        let error = try bridgeError {
            _ = try write(.delete, rules: ["create": ["operation": "AddNote"]], key: ["id": 1])
        }
        #expect(error.code == .unsupported)
        let unknown = try bridgeError {
            _ = try write(.delete, rules: ["delete": ["operation": "DropNote"]], key: ["id": 1])
        }
        #expect(unknown.remedy?.contains("DeleteNote") == true)
    }
}
