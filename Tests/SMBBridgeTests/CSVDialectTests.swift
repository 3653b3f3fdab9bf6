import RecordBatch
import Testing
import TestLiterals

@testable import RowFormats

@Suite struct CSVDialectTests {
    /// Cursors of existing databases hold this text.
    @Test func `the text of a dialect does not change`() {
        var dialect = CSVDialect()
        #expect(
            dialect.description
                == "CSVDialect(delimiter: 44, quote: 34, header: SMBBridge.CSVDialect.Header.firstRow, emptyIsNull: false, "
                + "nullValues: [], skippedRows: 0, comment: nil, isLenient: false, padsRows: false)")
        dialect.header = .names(["a", "b"])
        dialect.nullValues = ["NULL"]
        dialect.comment = UInt8(ascii: "#")
        #expect(
            dialect.description
                == "CSVDialect(delimiter: 44, quote: 34, header: SMBBridge.CSVDialect.Header.names([\"a\", \"b\"]), "
                + "emptyIsNull: false, nullValues: [\"NULL\"], skippedRows: 0, comment: Optional(35), isLenient: false, "
                + "padsRows: false)")
    }

    private struct Report: RowReport {
        func warn(_ sentence: String) {}
        func reject(_ reason: String, representation: String) {}
    }

    /// The records of a text with comments, parsed in pieces of `size` bytes.
    private func records(_ text: String, size: Int, skippedRows: Int = 0) throws -> [String] {
        var dialect = CSVDialect()
        dialect.comment = UInt8(ascii: "#")
        dialect.skippedRows = skippedRows
        let writer = RecordBatchWriter()
        let sink = RowSink("f", fields: ["@row", "a", "b"], writer: writer, report: Report())
        let parser = CSVParser(dialect, limits: RowLimits()) { false }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try parser.parse(rest.prefix(size), into: sink)
            rest = rest.dropFirst(size)
        }
        _ = try parser.finish(into: sink)
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `comments are lines outside quotes, whatever is in them`(size: Int) throws {
        for (end, shown) in [("\n", #"\n"#), ("\r\n", #"\r\n"#), ("\r", #"\r"#)] {
            let lines = [
                "# one \" quote", "#", "a,b", "\"#x\",1", "#,\"", "\"two", "#lines\",#2", "", " #,3", "#last",
            ]
            #expect(
                try records(lines.joined(separator: end), size: size) == [
                    ##"{"@row":1,"a":"#x","b":"1"}"##, ##"{"@row":2,"a":"two\##(shown)#lines","b":"#2"}"##,
                    ##"{"@row":3,"a":" #","b":"3"}"##,
                ])
        }
        let record = #"{"@row":1,"a":"1","b":"2"}"#
        #expect(try records("Report\n# \"\na,b\n1,2\n", size: size, skippedRows: 2) == [record])
        #expect(try records("#\"\n#\na,b\n1,2\n#", size: size, skippedRows: 1) == [record])
        #expect(try records("sep=;\n#;\na;b\n1;2\n", size: size) == [record])
        let fault = #expect(throws: FileFault.self) { try records("#\na,b\n1,2\n#\"\n3,4\"5\n", size: size) }
        #expect(fault?.reason.contains("of row 2 ") == true)
    }
}
