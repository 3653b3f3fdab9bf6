import BridgeHTTP
import BridgeKit
import TestSupport
import Testing

/// Coded bodies that end before their data do, at a place where all that came can be decoded.
@Suite struct CodedEndTests {
    static let codings = ["gzip", "deflate", "raw-deflate", "br", "zstd"]
    let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    private func get(_ coding: String, _ framing: String, _ query: String) throws -> (body: [UInt8], tellsEnd: Bool) {
        let exchange = try client().start(HTTPRequest(url: server.url + "/coded-lines/\(coding)/\(framing)?\(query)"))
        let response = try exchange.response()
        return (try exchange.body(), response.tellsEnd)
    }

    @Test(arguments: codings, ["length", "chunks", "close", "old"])
    func `a body that is cut where its coding was flushed breaks off`(coding: String, framing: String) throws {
        let whole = try get(coding, framing, "")
        #expect(whole.body.split(separator: UInt8(ascii: "\n")).count == 100 && whole.tellsEnd)
        for flushes in [1, 3, 10] {
            let error = try bridgeError { _ = try get(coding, framing, "flushes=\(flushes)") }
            #expect(error.code == .malformed && error.isRetryable, "\(flushes): \(error)")
            let name = coding == "raw-deflate" ? "deflate" : coding
            #expect(error.message.contains("its \(name) data, of which "), "\(error)")
        }
        // In the middle of the end itself.
        #expect(throws: BridgeError.self) { _ = try get(coding, framing, "drop=1") }
    }

    @Test(arguments: ["length", "chunks", "close"])
    func `a coding inside another does not tell its end`(framing: String) throws {
        for coding in ["gzip", "deflate", "br"] {
            let whole = try get(coding, framing, "outer=1")
            #expect(whole.body.split(separator: UInt8(ascii: "\n")).count == 100 && !whole.tellsEnd)
            // The data inside have no end, which libcurl does not notice.
            let cut = try get(coding, framing, "outer=1&flushes=3")
            #expect(cut.body.split(separator: UInt8(ascii: "\n")).count == 30 && !cut.tellsEnd)
        }
    }

    @Test func `a transfer coding inside chunks does not tell its end`() throws {
        for query in ["", "flushes=3"] { #expect(try !get("gzip", "packed", query).tellsEnd) }
    }

    @Test(arguments: codings)
    func `coded data without even a first byte broke off`(coding: String) throws {
        for framing in ["close", "old"] {
            let error = try bridgeError { _ = try get(coding, framing, "flushes=0") }
            #expect(error.code == .malformed && error.isRetryable, "\(framing): \(error)")
        }
        // These say that nothing follows.
        for framing in ["length", "chunks"] {
            let reply = try get(coding, framing, "flushes=0")
            #expect(reply.body.isEmpty && reply.tellsEnd, "\(framing)")
        }
    }

    @Test func `a length that is too large does not tell the end`() throws {
        #expect(try !get("identity", "endless", "flushes=2").tellsEnd)
    }

    @Test func `without a coding, length or chunks a body does not tell its end`() throws {
        for (framing, tells) in [("length", true), ("chunks", true), ("close", false), ("old", false)] {
            let reply = try get("identity", framing, "flushes=2")
            #expect(reply.tellsEnd == tells, "\(framing)")
            #expect(reply.body.split(separator: UInt8(ascii: "\n")).count == 20)
        }
    }
}
