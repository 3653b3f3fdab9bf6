import BridgeKit
import TestSupport
import Testing

/// Replies of very many lines that are no records.
@Suite struct BadLineTests {
    /// Of text that is no JSON, and of JSON that is no record.
    @Test(arguments: ["x", "1"])
    func `each piece of a reply rejects no more than a page may have`(word: String) throws {
        let server = try RemoteServer.shared.get()
        let scan = try Scan(source(bridge(["url": "\(server.url)"]), ["path": .text("/bad-lines/\(word)/30000")]))
        #expect(scan.ids == Array(stride(from: 0, to: 30_000, by: 1000)))
        #expect(scan.rejected.count == 29_970)
        #expect(scan.pages.nonEmptyAllSatisfy { $0.rejected.count <= 5000 })
        #expect(Set(scan.rejected.compactMap(\.index)).count == 29_970, "each says which line it was")
        #expect(scan.last?.isComplete == true)
    }
}
