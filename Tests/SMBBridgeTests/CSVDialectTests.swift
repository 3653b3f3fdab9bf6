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
}
