import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Changes that are sent to a server which keeps them, and what another client then sees there.
struct WriteTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.fixture("objects.py") }

    /// Sends one change, and gives the JSON of the answer's record, or nil.
    func write(
        _ operation: WriteRequest.Operation, _ style: String, _ write: Literal, key: Literal = [:],
        values: Literal = [:],
        object: Literal = [:], options: Literal? = nil, idempotencyKey: String? = nil, changed: [Literal] = [],
        nested: Literal? = nil, readOne: Literal? = nil, more: Literal.Members = [], json: [String] = [],
        references: [[String]] = [], before: Literal? = nil
    ) throws -> String? {
        let section = Literal.object([("path", .text("/\(style)/notes")), ("write", write)] + more)
        let bridge = try bridge(options ?? ["url": .text(server.url)])
        let writer = RecordBatchWriter()
        var request = WriteRequest(
            operation, entity: "Note", section: section.options, key: key.options, values: values.options,
            object: object.options, idempotencyKey: idempotencyKey, changed: changed.map(\.options),
            nested: nested?.options, readOne: readOne?.options)
        request.jsonNames = json
        request.references = references
        if let before { request.before = before.options }
        try bridge.write(request, into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    /// What is there, as curl sees it.
    func remote(_ path: String) async throws -> String {
        try await ProcessRun.run("/usr/bin/curl", ["-s", server.url + path]).output
    }

    func asked(_ method: String) throws -> [RemoteServer.Event] {
        try server.events().filter { $0.event == method }
    }

    @Test func `a created object comes back with the key that the server gave it`() async throws {
        let record = try write(
            .create, "plain", ["create": [:]], values: ["text": "hello", "size": 9_007_199_254_740_993])
        #expect(record == #"{"text":"hello","size":9007199254740993,"id":1}"#)
        #expect(try await remote("/plain/notes/1") == #"{"text": "hello", "size": 9007199254740993, "id": 1}"#)
    }

    @Test func `a reply without a body is followed to its Location`() throws {
        let record = try write(.create, "location", ["create": [:]], values: ["text": "far"])
        #expect(record == #"{"text":"far","id":1}"#)
    }

    @Test func `a Location of another origin is not requested, with or without a credential in it`() throws {
        let log = LogLines()
        let options: Literal = [
            "url": .text(server.url), "auth": ["type": "api_key", "query": "apikey", "value": "s3cret-key"],
        ]
        let bridge = try RESTBridge(
            options: options.options, context: BridgeContext(log: { log.note($1) }))
        let writer = RecordBatchWriter()
        let section: Literal = ["path": "/abroad/notes", "write": ["create": [:]]]
        try bridge.write(
            WriteRequest(
                .create, entity: "Note", section: section.options,
                values: (["text": "far"] as Literal).options), into: writer)
        #expect(writer.recordCount == 0, "so that the host looks for the object")
        #expect(try asked("POST").count == 1)
        #expect(try asked("GET").isEmpty)
        let warning = try #require(log.all.first)
        #expect(warning.contains("the Location of the reply is of another origin than that of url"), "\(log.all)")
        #expect(!warning.contains("s3cret-key"))
    }

    @Test func `the key may be taken from Location without another request`() throws {
        let record = try write(.create, "location", ["create": ["key_field": "id"]], values: ["text": "far"])
        #expect(record == #"{"id":1}"#)
        #expect(try asked("GET").isEmpty)
    }

    @Test func `the key may stand in the reply by another name than in the records`() throws {
        let record = try write(
            .create, "keyed", ["create": ["reply_key": "$.noteID", "key_field": "id"]], values: ["text": "far"])
        #expect(record == #"{"id":1}"#)
        let error = try bridgeError {
            _ = try write(.create, "keyed", ["create": ["reply_key": "$.noteID"]], values: ["text": "far"])
        }
        #expect(error.remedy == "set key_field to the record's member that the key is read from")
    }

    @Test func `the key alone is a variable of bodies and queries, and keeps its kind`() throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "a"])
        let record = try write(
            .update, "plain",
            ["update": ["forced": ["ids": "{key}", "words": "note {key}"], "query": ["id": "{key}"]]], key: ["id": 1],
            values: ["text": "b"])
        #expect(record == #"{"text":"b","id":1,"ids":1,"words":"note 1"}"#, "\(record ?? "none")")
        #expect(try asked("PATCH").first?.path.hasPrefix("/plain/notes/1?id=1\n") == true)
    }

    @Test func `a key that was made here is put where it belongs`() throws {
        let record = try write(
            .create, "client", ["create": ["method": "PUT"]], key: ["id": "a/b c"], values: ["text": "mine"])
        #expect(record == nil)
        #expect(try asked("PUT").first?.path.hasPrefix("/client/notes/a%2Fb%20c") == true)
    }

    @Test(arguments: ["", ".", ".."], ["", "/plain/notes/{key}", "/plain/notes(/{key.id})"])
    func `a key that would lead to the listing, or above it, is refused and nothing is sent`(
        key: String, path: String
    ) throws {
        let options: Literal = path.isEmpty ? [:] : ["path": .text(path)]
        for operation in [WriteRequest.Operation.delete, .update] {
            let error = try bridgeError {
                _ = try write(operation, "plain", [(operation.rawValue): options], key: ["id": .text(key)])
            }
            #expect(error.code == .configuration && !error.isRetryable)
            #expect(
                error.message.contains(
                    key.isEmpty
                        ? path.isEmpty ? "its key is empty" : "has no value" : "leads to another path: nothing was sent"
                ),
                "\(error.message)")
        }
        #expect(try server.events().map(\.event).filter { ["DELETE", "PATCH", "GET"].contains($0) } == [])
    }

    @Test func `values are wrapped, and the answer is unwrapped`() throws {
        let rule: Literal = ["create": ["wrap": "note", "forced": ["source.name": "bmo"]]]
        let record = try write(.create, "wrapped", rule, values: ["text": "inside"])
        #expect(record == #"{"text":"inside","source":{"name":"bmo"},"id":1}"#)
    }

    @Test(arguments: ["json", "merge_patch", "json_patch"])
    func `an update sends only what changed`(format: String) throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "old", "kept": true])
        let record = try write(
            .update, "plain", ["update": ["format": .text(format)]], key: ["id": 1], values: ["text": "new"])
        #expect(record == #"{"text":"new","kept":true,"id":1}"#)
        let sent = try #require(try asked("PATCH").first)
        let kinds = [
            "json": "application/json", "merge_patch": "application/merge-patch+json",
            "json_patch": "application/json-patch+json",
        ]
        #expect(sent.headers["content-type"] == kinds[format])
        #expect(!sent.path.contains("kept"))
    }

    @Test func `a PUT keeps what this side does not know`() throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "old", "theirs": ["deep": 1]])
        let record = try write(.update, "plain", ["update": ["method": "PUT"]], key: ["id": 1], values: ["text": "new"])
        #expect(record == #"{"text":"new","theirs":{"deep":1},"id":1}"#)
        // The ETag of what was read guards what is sent.
        #expect(try asked("PUT").first?.headers["if-match"] != nil)
    }

    @Test func `a form has nested values in brackets`() throws {
        let record = try write(
            .create, "plain", ["create": ["format": "form"]], values: ["text": "a&b", "in": ["x": 1], "list": [1, 2]])
        #expect(record?.contains(#""text":"a&b","in[x]":"1""#) == true)
    }

    @Test func `a form has an empty value for what was emptied`() throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "a", "tags": [1]])
        let record = try write(
            .update, "plain", ["update": ["format": "form"]], key: ["id": 1],
            values: ["tags": [], "labels": [:], "in": ["x": [], "y": .null, "z": 1]])
        #expect(record?.contains(#""tags":"""#) == true, "\(record ?? "none")")
        let body = try #require(try asked("PATCH").first?.path.split(separator: "\n").last)
        #expect(
            Set(body.split(separator: "&")) == ["tags=", "labels=", "in%5Bx%5D=", "in%5By%5D=", "in%5Bz%5D=1"],
            "\(body)")
    }

    @Test func `a form leaves out what a new object has empty`() throws {
        _ = try write(
            .create, "plain", ["create": ["format": "form"]],
            values: ["text": "a", "tags": [], "labels": [:], "in": ["x": [], "y": .null]])
        let body = try #require(try asked("POST").first?.path.split(separator: "\n").last)
        #expect(Set(body.split(separator: "&")) == ["text=a", "in%5By%5D="], "\(body)")
    }

    @Test func `an object that another client changed is a conflict`() async throws {
        let rule: Literal = ["create": [:], "update": [:], "if_match": "etag", "etag_field": "@etag"]
        let created = try #require(try write(.create, "plain", rule, values: ["text": "one"]))
        let etag = try #require(created.split(separator: "@etag\":\"").last?.split(separator: "\"}").first)
            .replacing("\\\"", with: "\"")
        _ = try await ProcessRun.run(
            "/usr/bin/curl",
            [
                "-s", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", #"{"text": "theirs"}"#,
                server.url + "/plain/notes/1",
            ])
        let error = try bridgeError {
            _ = try write(
                .update, "plain", rule, key: ["id": 1], values: ["text": "ours"], object: ["etag": .text(String(etag))])
        }
        #expect(error.code == .conflict)
        #expect(!error.isRetryable)
        #expect(error.remote?.contains("changed by somebody else") == true)
        #expect(try await remote("/plain/notes/1").contains("theirs"))
    }

    @Test(arguments: [WriteRequest.Operation.update, .delete])
    func `without an ETag to send, if_match refuses to send at all`(operation: WriteRequest.Operation) throws {
        let error = try bridgeError {
            _ = try write(
                operation, "plain", ["update": [:], "delete": [:], "if_match": "etag"], key: ["id": 1],
                values: ["text": "ours"])
        }
        #expect(error.code == .conflict)
        #expect(error.message.hasSuffix("of Note 1 was not sent: if_match: etag has no value"))
        #expect(try server.events().filter { ["PATCH", "DELETE"].contains($0.event) }.isEmpty)
    }

    @Test func `a key that is taken is a conflict`() throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["id": 5])
        let error = try bridgeError { _ = try write(.create, "plain", ["create": [:]], values: ["id": 5]) }
        #expect(error.code == .conflict)
        #expect(error.remote?.contains("there is a note 5") == true)
    }

    @Test func `deleting twice is not an error`() async throws {
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "gone soon"])
        #expect(try write(.delete, "plain", ["delete": [:]], key: ["id": 1]) == nil)
        #expect(try await remote("/plain/notes") == "[]")
        #expect(try write(.delete, "plain", ["delete": [:]], key: ["id": 1]) == nil)
    }

    @Test func `an update of a missing object is reported`() throws {
        let error = try bridgeError {
            _ = try write(.update, "plain", ["update": [:]], key: ["id": 7], values: ["a": 1])
        }
        #expect(error.code == .notFound)
    }

    @Test func `the same idempotency key creates one object`() async throws {
        for _ in 0..<2 {
            _ = try write(.create, "plain", ["create": [:]], values: ["text": "once"], idempotencyKey: "k1")
        }
        #expect(try await remote("/plain/notes") == #"[{"text": "once", "id": 1}]"#)
    }

    @Test(arguments: ["slow", "drop"])
    func `a write whose outcome is unknown is a timeout that must not be repeated`(style: String) async throws {
        let options: Literal = ["url": .text(server.url), "timeout": 0.5]
        // A connection that is kept would let libcurl send it again.
        _ = try await remote("/\(style)/notes")
        let error = try bridgeError {
            _ = try write(.create, style, ["create": [:]], values: ["text": "maybe"], options: options)
        }
        #expect(error.code == .timeout)
        #expect(!error.isRetryable)
        #expect(error.message.contains("the request was sent"))
        #expect(try asked("POST").count == 1)
        #expect(try await remote("/\(style)/notes").contains("maybe"))
    }

    @Test func `a gateway that does not know is an unknown outcome, a busy server is none`() throws {
        let unknown = try bridgeError { _ = try write(.create, "gateway", ["create": [:]], values: ["a": 1]) }
        #expect(unknown.code == .timeout && !unknown.isRetryable)
        let busy = try bridgeError { _ = try write(.create, "busy", ["create": [:]], values: ["a": 1]) }
        #expect(busy.isRetryable)
        #expect(busy.retryAfterMilliseconds == 1000)
    }

    @Test(arguments: ["gateway", "droponce"])
    func `a delete without an answer may be sent again, and may have been carried out`(style: String) throws {
        let error = try bridgeError { _ = try write(.delete, style, ["delete": [:]], key: ["id": 1]) }
        #expect(error.isRetryable && error.mayHaveArrived, "\(error)")
        #expect(try asked("DELETE").count == 1)
        let busy = try bridgeError { _ = try write(.delete, "busy", ["delete": [:]], key: ["id": 1]) }
        #expect(busy.isRetryable && !busy.mayHaveArrived, "\(busy)")
    }

    @Test func `a server that is not there can be asked again`() throws {
        let error = try bridgeError {
            _ = try write(.create, "plain", ["create": [:]], values: ["a": 1], options: ["url": "http://127.0.0.1:1"])
        }
        #expect(error.code == .unreachable)
        #expect(error.isRetryable)
    }

    @Test func `a redirect that would lose the body is refused`() async throws {
        let error = try bridgeError { _ = try write(.create, "redirect", ["create": [:]], values: ["a": 1]) }
        #expect(error.message.contains("redirects a POST"))
        #expect(try await remote("/plain/notes") == "[]")
    }

    @Test func `a slash that the path lacks is a fault of the path, and nothing was done`() async throws {
        let error = try bridgeError { _ = try write(.create, "slash", ["create": [:]], values: ["a": 1]) }
        #expect(error.code == .configuration && !error.isRetryable)
        #expect(
            error.message
                == "the create of Note: the server redirects a POST without a slash at the path's end, and has done nothing"
        )
        #expect(error.remedy == "write the path with a slash at its end")
        #expect(error.remote?.hasSuffix("/slash/notes/") == true)
    }

    @Test func `a refusal keeps the remote's words`() throws {
        let error = try bridgeError { _ = try write(.create, "refuse", ["create": [:]], values: ["text": ""]) }
        #expect(error.code == .remote && !error.isRetryable)
        #expect(error.remote?.contains("text must not be empty") == true)
    }

    @Test func `what the config does not name is not done`() throws {
        let error = try bridgeError { _ = try write(.delete, "plain", ["create": [:]], key: ["id": 1]) }
        #expect(error.code == .unsupported)
        #expect(try asked("DELETE").isEmpty)
    }

    @Test func `paths take the object's and the parent's values`() async throws {
        let rule: Literal = ["update": ["path": "/plain/notes/{object.number}"]]
        _ = try write(.create, "plain", ["create": [:]], values: ["text": "x"])
        _ = try write(.update, "plain", rule, key: ["id": "other"], values: ["text": "y"], object: ["number": 1])
        #expect(try await remote("/plain/notes/1").contains(#""text": "y""#))
        let error = try bridgeError { _ = try write(.update, "plain", rule, key: ["id": 1], values: ["text": "z"]) }
        #expect(error.code == .configuration)
        #expect(error.message.contains("{object.number}"))
    }
}
