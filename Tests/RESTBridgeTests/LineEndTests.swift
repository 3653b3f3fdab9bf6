import BridgeKit
import TestSupport
import Testing

/// Listings of lines that broke off: what is missing must not count as deleted.
@Suite struct LineEndTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    private func scan(_ path: String) throws -> Scan {
        try Scan(source(bridge(["url": "\(server.url)"]), ["path": .text("/coded-lines/" + path)]))
    }

    @Test(arguments: ["gzip", "deflate", "raw-deflate", "br", "zstd"])
    func `compressed lines that are cut at a flush are not a listing`(coding: String) throws {
        for framing in ["length", "chunks", "close", "old"] {
            let error = try bridgeError { _ = try scan("\(coding)/\(framing)?flushes=9") }
            #expect(error.code == .malformed && error.isRetryable, "\(error)")
            let whole = try scan("\(coding)/\(framing)")
            #expect(whole.ids.count == 100 && whole.last?.isComplete == true && whole.warnings.isEmpty)
        }
    }

    @Test func `lines that end with the connection alone delete nothing`() throws {
        for framing in ["close", "old"] {
            let scan = try scan("identity/\(framing)?flushes=9")
            #expect(scan.ids.count == 90)
            #expect(scan.last?.isComplete == false && scan.last?.token == nil)
            #expect(scan.warnings.count == 1)
            #expect(scan.warnings.first?.hasPrefix("page 1 of User: the reply says neither how long it is nor") == true)
        }
        for framing in ["length", "chunks"] {
            #expect(try scan("identity/\(framing)").last?.isComplete == true)
        }
    }

    @Test func `packed lines are known as such when only their first byte has arrived`() throws {
        let scan = try Scan(source(bridge(["url": .text(server.url)]), ["path": "/slow-lines", "format": "ndjson"]))
        #expect(scan.ids == [1, 2, 3] && scan.rejected.isEmpty, "\(scan)")
    }
}
