import BridgeKit
import RowFormats
import TestLiterals
import Testing

/// Rows that are written into a CSV text: each is read back as it was, or refused.
@Suite struct RowTextTests {
    /// The file after a row was appended to it, or, with `changes`, after its first row was changed.
    @discardableResult
    private func write(
        _ values: Literal, to file: String, changes: Bool = false, _ section: Literal = [:]
    ) throws -> String {
        var text = try RowText(
            Array(file.utf8), format: RowFormat("csv", BridgeOptions(section), captures: []))
        let row = changes ? text.rows.first : nil
        let written = try text.text(of: row, with: BridgeOptions(values))
        if let row { text.replace(row, with: written) }
        return String(decoding: row == nil ? text.bytes + text.appending(written) : text.bytes, as: UTF8.self)
    }

    @Test(arguments: [true, false])
    func `a row that would be a comment is quoted, or refused without a quote character`(changes: Bool) throws {
        let file = "n,id\na,1\n"
        let error = try bridgeError {
            try write(["n": "#1 rule", "id": 1], to: file, changes: changes, ["comment": "#", "quote": "none"])
        }
        #expect(error.message == "the row would be read back as a comment: its first field, n, begins with #")
        func expected(_ row: String) -> String { changes ? "n,id\n\(row)\n" : "n,id\na,1\n\(row)\n" }
        let quoted = try write(["n": "#1 rule", "id": 1], to: file, changes: changes, ["comment": "#"])
        #expect(quoted == expected("\"#1 rule\",1"))
        #expect(try write(["n": "#1 rule", "id": 1], to: file, changes: changes) == expected("#1 rule,1"))
        #expect(try write(["n": "b", "id": "#1"], to: file, ["comment": "#"]) == "n,id\na,1\nb,#1\n")
    }

    @Test func `a row whose first field is quoted is not a comment, and rows are left out before comments`() throws {
        let file = "Report\n#b,\"0\nn,id\n#it's \"so\n\"#c\",1\na,1\n"
        #expect(
            try write(["n": "z"], to: file, changes: true, ["comment": "#", "skip_rows": 1])
                == file.replacing("\"#c\",1", with: "z,1"))
    }

    @Test func `a text that would be null is refused, and null is written as the section says`() throws {
        let file = "id,n,m\n1,a,x\n"
        let nulls: Literal = ["null_values": ["NULL", "n/a"]]
        let error = try bridgeError { try write(["n": "NULL"], to: file, changes: true, nulls) }
        #expect(error.message == "the value \"NULL\" of n would be read back as null")
        #expect(error.remedy == "choose another value, or change null_values in the section")
        let empty = try bridgeError { try write(["n": ""], to: file, changes: true, ["empty_as_null": true]) }
        #expect(empty.message == "the value \"\" of n would be read back as null")
        #expect(try write(["n": .null], to: file, changes: true, nulls) == "id,n,m\n1,NULL,x\n")
        #expect(try write(["id": 2], to: file, nulls) == "id,n,m\n1,a,x\n2,NULL,NULL\n")
        #expect(
            try write(["n": .null], to: file, changes: true, ["null_values": ["-"], "empty_as_null": true])
                == "id,n,m\n1,,x\n")
        #expect(try write(["n": ""], to: file, changes: true, nulls) == "id,n,m\n1,,x\n")
    }

    @Test func `a value that no field can hold is refused`() throws {
        let list = try bridgeError { try write(["n": ["a", "b"]], to: "id,n\n") }
        #expect(list.message == "the value of n is not one text, which a field of CSV has to be")
        let zero = try bridgeError { try write(["n": "a\u{0}b"], to: "id,n\n") }
        #expect(zero.message == "the value of n has a NUL byte, which text cannot have")
        let empty = try bridgeError { try write(["n": ""], to: "n\n") }
        #expect(empty.message == "the row would not be read back as it is written")
        let delimiter = try bridgeError { try write(["n": "a,b"], to: "id,n\n", ["quote": "none"]) }
        #expect(delimiter.message.contains("contains a delimiter or a line break"))
    }

    @Test func `the delimiter of a first line sep= is that of the rows`() throws {
        let file = "sep=;\r\nid;n\r\n1;a\r\n"
        #expect(try write(["id": 2, "n": "b;c"], to: file) == file + "2;\"b;c\"\r\n")
        #expect(try write(["n": "b,c"], to: file, changes: true) == file.replacing("1;a", with: "1;b,c"))
    }

    @Test func `a line of spaces is a row, as the reader of CSV takes it, and an empty one is none`() throws {
        let file = "Report\n \n\nn,id\na,1\n"
        #expect(try write(["n": "z"], to: file, changes: true, ["skip_rows": 2]) == file.replacing("a,1", with: "z,1"))
        let tabs = "\t\t\nn\tid\na\t1\n"
        #expect(
            try write(["n": "z"], to: tabs, changes: true, ["skip_rows": 1, "delimiter": "tab"])
                == tabs.replacing("a\t1", with: "z\t1"))
    }

    @Test func `a text without the rows that are left out says so`() throws {
        for (file, section) in [
            ("id\n", ["skip_rows": 1]), ("", ["skip_rows": 1, "header": ["id"]]),
        ] as [(String, Literal)] {
            let text = try RowText(
                Array(file.utf8), format: RowFormat("csv", BridgeOptions(section), captures: []))
            #expect(text.lacksSkippedRows)
        }
        let text = try RowText(
            Array("Report\nid\n".utf8), format: RowFormat("csv", BridgeOptions(["skip_rows": 1]), captures: []))
        #expect(!text.lacksSkippedRows)
    }
}
