import BridgeKit
import TestSupport
import Testing

/// Listings of lines that broke off: what is missing must not count as deleted.
@Suite struct LineEndTests {
    let server: ServerProcess

    init() throws { server = try ServerProcess.shared.get() }

    private func walk(_ path: String) throws -> Walk {
        try Walk(source(bridge(["url": "\(server.url)"]), ["path": .text("/coded-lines/" + path)]))
    }

    @Test(arguments: ["gzip", "deflate", "raw-deflate", "br", "zstd"])
    func `compressed lines that are cut at a flush are no listing`(coding: String) throws {
        for framing in ["length", "chunks", "close", "old"] {
            let error = try failure { _ = try walk("\(coding)/\(framing)?flushes=9") }
            #expect(error.code == .malformed && error.isRetryable, "\(error)")
            let whole = try walk("\(coding)/\(framing)")
            #expect(whole.ids.count == 100 && whole.last?.isComplete == true && whole.warnings.isEmpty)
        }
    }

    @Test func `lines that end with the connection alone delete nothing`() throws {
        for framing in ["close", "old"] {
            let walk = try walk("identity/\(framing)?flushes=9")
            #expect(walk.ids.count == 90)
            #expect(walk.last?.isComplete == false && walk.last?.token == nil)
            #expect(walk.warnings.count == 1)
            #expect(walk.warnings.first?.hasPrefix("page 1 of User: the reply says neither how long it is nor") == true)
        }
        for framing in ["length", "chunks"] {
            #expect(try walk("identity/\(framing)").last?.isComplete == true)
        }
    }
}
