import BridgeHTTP
import BridgeKit
import Foundation
import RecordBatch
import Testing

/// Options from JSON-like pairs of text.
func options(_ write: (RecordBatchWriter) -> Void = { _ in }) throws -> HTTPOptions {
    try HTTPOptions(BridgeOptions(write))
}

func client(_ write: (RecordBatchWriter) -> Void = { _ in }) throws -> HTTPClient {
    try HTTPClient(options: options(write), context: BridgeContext())
}

extension RecordBatchWriter {
    func set(_ name: String, _ value: String) {
        key(name)
        text(value)
    }

    func set(_ name: String, _ value: Int) {
        key(name)
        int64(Int64(value))
    }

    func set(_ name: String, _ value: Double) {
        key(name)
        double(value)
    }

    func set(_ name: String, _ body: () -> Void) {
        key(name)
        object(body)
    }
}

/// The error that `body` throws.
func failure(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws -> BridgeError {
    try #require(throws: BridgeError.self, sourceLocation: sourceLocation, performing: body)
}

@Suite struct HTTPClientTests {
    let server: ServerProcess

    init() throws { server = try ServerProcess() }

    private func echo(_ exchange: HTTPExchange) throws -> (path: String, headers: [String: String]) {
        let body = try exchange.body()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        return (try #require(object["path"] as? String), try #require(object["headers"] as? [String: String]))
    }

    @Test func `a reply has a status, headers without case, and a body`() throws {
        let client = try client()
        let exchange = client.start(HTTPRequest(url: server.url + "/users?count=2"))
        let response = try exchange.response()
        #expect(response.status == 200)
        #expect(response.header("CONTENT-type") == "application/json")
        #expect(response.mediaType == "application/json")
        #expect(String(decoding: try exchange.body(), as: UTF8.self).hasPrefix(#"[{"id": 1, "#))
    }
}
