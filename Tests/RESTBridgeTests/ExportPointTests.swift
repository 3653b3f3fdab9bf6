import BridgeHTTP
import Testing

@testable import RESTBridge

/// The place in an export, and how its files are recognised in a later list.
@Suite struct ExportPointTests {
    private func urls(_ texts: [String]) throws -> [HTTPURL] {
        try texts.map { try #require(HTTPURL("https://files.example/" + $0)) }
    }

    /// Returns the files of a job as the host has stored them.
    private func stored(_ texts: [String]) throws -> ExportFiles {
        let files = ExportFiles(try urls(texts))
        return try #require(ExportFiles(count: files.count, text: files.text))
    }

    @Test(
        arguments: [
            (["a?sig=1", "b?sig=2"], ["b?sig=3", "a?sig=4"], ["a?sig=4", "b?sig=3"]),
            (["a?sig=1", "b?sig=2"], ["a?sig=3", "b?sig=4"], ["a?sig=3", "b?sig=4"]),
            (["a", "b"], ["a", "c"], nil),
            (["a", "b"], ["a"], nil),
            (["a", "b"], ["a", "a"], nil),
            // The only file of a job is the same one.
            (["a"], ["b"], ["b"]),
            (
                ["get?file=1&sig=0123456789ab", "get?file=2&sig=0123456789ac"],
                ["get?file=2&sig=0123456789ad", "get?file=1&sig=0123456789ae"],
                ["get?file=1&sig=0123456789ae", "get?file=2&sig=0123456789ad"]
            ),
            (
                ["get?file=orders-part-1.csv&sig=0123456789ab", "get?file=orders-part-2.csv&sig=0123456789ac"],
                ["get?file=orders-part-2.csv&sig=0123456789ad", "get?file=orders-part-1.csv&sig=0123456789ae"],
                ["get?file=orders-part-1.csv&sig=0123456789ae", "get?file=orders-part-2.csv&sig=0123456789ad"]
            ),
            // Links that differ in their signatures alone could be any of the files.
            (["get?sig=0123456789ab", "get?sig=0123456789ac"], ["get?sig=0123456789ad", "get?sig=0123456789ae"], nil),
        ] as [([String], [String], [String]?)])
    func `files are found by their paths in a later list`(_ before: [String], _ now: [String], _ order: [String]?)
        throws
    {
        let expected = try order.map { try urls($0) }
        #expect(try stored(before).arrange(urls(now))?.map(\.text) == expected?.map(\.text))
        #expect(try ExportFiles(urls(before)).arrange(urls(now))?.map(\.text) == expected?.map(\.text))
    }

    @Test func `the order of many files is not stored, and the running scan knows it`() throws {
        let names = (1...1000).map { "part-\($0)" }
        let turned = Array(names.reversed())
        #expect(try stored(names).text.utf8.count < 20)
        #expect(try stored(names).arrange(urls(names)) != nil)
        #expect(try stored(names).arrange(urls(turned)) == nil)
        #expect(try ExportFiles(urls(names)).arrange(urls(turned))?.map(\.text) == urls(names).map(\.text))
    }

    @Test func `a place survives storing, and one of an earlier version is none`() throws {
        var mark = ByteMark()
        mark.add(Array("id,item".utf8)[...])
        var point = ExportPoint(
            file: 1, files: try stored(["a", "b"]), rows: 10_000, mark: mark, isWhole: false, created: 1_709_251_200,
            digest: "5b1f", job: "job 1")
        let text = point.text
        #expect(ExportPoint(text)?.text == text)
        #expect(ExportPoint(text)?.files == point.files)
        #expect(ExportPoint(text)?.mark == mark)
        (point.rows, point.mark, point.isWhole) = (0, nil, true)
        #expect(ExportPoint(point.text)?.isWhole == true)
        (point.file, point.files, point.isWhole) = (0, nil, false)
        #expect(ExportPoint(point.text)?.text == point.text)
        for old in ["e2.10000.1709251200.5b1f.3 JOB", "e2.10000.1709251200.5b1f JOB", "e1.5.1.5b1f.2.1-2. JOB", ""] {
            #expect(ExportPoint(old) == nil)
        }
    }
}
