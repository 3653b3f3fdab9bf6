import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    @Suite struct CSVScanTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        @Test func `rows have the header's names, quotes and line breaks are undone`() throws {
            try server.write(
                "csv/rows.csv", "\u{FEFF}code,name,note\r\nAW,\"Aruba, \"\"One\"\"\",\r\nDE, Größe ,\"two\r\nlines\"")
            let scan = try SMBBridge(server, folder: "/csv").scan(["csv": "rows.csv"])
            #expect(scan.values("code") == [#""AW""#, #""DE""#])
            #expect(scan.values("name") == [#""Aruba, \"One\"""#, #"" Größe ""#])
            #expect(scan.values("note") == [#""""#, #""two\r\nlines""#])
            #expect(scan.values("@path") == [#""rows.csv""#, #""rows.csv""#])
            #expect(scan.values("@row") == ["1", "2"])
            #expect(scan.isComplete)
        }

        @Test func `delimiter, quote, encoding, header and empty_as_null are obeyed`() throws {
            try server.write("csv/latin.csv", Array("1;'a;b';".utf8) + [0xFC, 0x80, 0x0A])
            try server.write("csv/tabs.csv", "a\tb\n1\t\n")
            let bridge = try SMBBridge(server)
            let latin = try bridge.scan([
                "csv": "csv/latin.csv", "delimiter": ";", "quote": "'", "encoding": "windows-1252",
                "header": ["id", "text", "last"],
            ])
            #expect(latin.values("id") == [#""1""#])
            #expect(latin.values("text") == [#""a;b""#])
            #expect(latin.values("last") == [#""ü€""#])
            let tabs = try bridge.scan(["csv": "csv/tabs.csv", "delimiter": "tab", "empty_as_null": true])
            #expect(tabs.values("b") == ["null"])
        }

        @Test func `a pattern reads many files, each with its captures`() throws {
            try server.write("csvs/2024/a.csv", "id\n1\n2\n")
            try server.write("csvs/2025/a.csv", "id\n3\n")
            let scan = try SMBBridge(server).scan(["csv": "csvs/{year}/*.csv"])
            #expect(scan.values("id") == [#""1""#, #""2""#, #""3""#])
            #expect(scan.values("year") == [#""2024""#, #""2024""#, #""2025""#])
            #expect(scan.values("@row") == ["1", "2", "1"])
        }

        @Test func `a row of another width or encoding is rejected, and the others come`() throws {
            try server.write("csv/bad.csv", Array("a,b\n1,2\n3\n4,\"5,5\",6\n7,".utf8) + [0xFF] + Array("\n8,9\n".utf8))
            let scan = try SMBBridge(server).scan(["csv": "csv/bad.csv"])
            #expect(scan.values("@row") == ["1", "5"])
            #expect(
                scan.rejected.map(\.reason) == [
                    "row 2 of csv/bad.csv has 1 fields, the header names 2",
                    "row 3 of csv/bad.csv has 3 fields, the header names 2",
                    "row 4 of csv/bad.csv is not UTF-8: set encoding",
                ])
            #expect(scan.rejected.map(\.representation) == ["3", "4,\"5,5\",6", "7,\u{FFFD}"])
            #expect(scan.skipped == ["@path = csv/bad.csv"])
        }

        @Test(arguments: [
            ("a,b\n1,\"2", "csv/fault.csv ends inside quotes that row 1 opened"),
            (
                "a,b\n1,2\n3,4\"5\n",
                "csv/fault.csv has a quote inside a field of row 2 that is not quoted, or text after a closing quote"
            ),
            ("a,b,a\n", "csv/fault.csv has a header that cannot be used: the name \"a\" of column 3 occurs twice"),
            ("a,,b\n", "csv/fault.csv has a header that cannot be used: the name of column 2 is empty"),
        ])
        func `a file that is not CSV is left out with file and row, and the next one comes`(
            text: String, reason: String
        ) throws {
            try server.write("csv-fault/csv/fault.csv", text)
            try server.write("csv-fault/csv/good.csv", "a\n1\n")
            let scan = try SMBBridge(server, folder: "/csv-fault").scan(["csv": "csv/*.csv"])
            #expect(scan.rejected.count == 1)
            #expect(scan.rejected.first?.reason.hasPrefix(reason) == true, "\(scan.rejected)")
            #expect(scan.values("@path").last == #""csv/good.csv""#)
            #expect(scan.skipped == ["@path = csv/fault.csv"])
        }

        @Test func `an empty file has no rows and a warning`() throws {
            try server.write("csv/empty.csv", "")
            let scan = try SMBBridge(server).scan(["csv": "csv/empty.csv"])
            #expect(scan.records.isEmpty)
            #expect(scan.warnings == ["the file csv/empty.csv is empty: it has no header row"])
        }

        @Test func `a file of several chunks comes whole, and a cursor goes on inside it`() throws {
            let count = 300_000
            var text = "id,name\n"
            for row in 1...count { text += "\(row),\"name \(row) é\"\n" }
            #expect(text.utf8.count > 2 * 3_000_000)
            try server.write("csv/large.csv", text)
            let bridge = try SMBBridge(server)
            let first = try Scan(bridge.source(["csv": "csv/large.csv"], pageSize: 200_000), limit: 12)
            let cursor = try #require(first.pages.last?.cursor)
            let rest = try SMBBridge(server).scan(["csv": "csv/large.csv"], cursor: cursor)
            let ids = first.values("id") + rest.values("id")
            #expect(ids.count == count)
            #expect(ids == (1...count).map { "\"\($0)\"" })
            #expect(rest.records.last?["name"] == "\"name \(count) é\"")
        }

        @Test func `a file that changes between chunks makes the scan start over`() throws {
            let line = "12345678\n"
            try server.write("csv/moving.csv", "id\n" + String(repeating: line, count: 700_000))
            let source = try SMBBridge(server).source(["csv": "csv/moving.csv"], pageSize: 1000)
            let first = try Scan(source, limit: 1)
            try server.write("csv/moving.csv", "id\n" + String(repeating: line, count: 500_001))
            server.age("csv/moving.csv")
            #expect(first.records.first?["@row"] == "1")
            let error = try bridgeError { _ = try Scan(source) }
            #expect(error.startsOver && error.code == .conflict, "\(error)")
            #expect(try SMBBridge(server).scan(["csv": "csv/moving.csv"]).records.count == 500_001)
        }

        @Test func `a call ends after its time, also while rows are passed over`() throws {
            try server.write("csv/passed.csv", "id\n" + (1...9000).map { "\($0)\n" }.joined())
            let section: Literal = ["csv": "csv/passed.csv"]
            let first = try Scan(SMBBridge(server).source(section, pageSize: 6000), limit: 1)
            let cursor = try #require(first.pages.last?.cursor)
            let source = try #require(try SMBBridge(server).source(section, cursor: cursor) as? RowSource)
            source.callTime = .zero
            let passed = try Scan(source, limit: 3)
            #expect(passed.records.isEmpty)
            // The place stays that of the rows that were returned.
            #expect(passed.pages.nonEmptyAllSatisfy { $0.isPageEnd && $0.cursor == cursor }, "\(passed)")
            let rest = try Scan(source)
            #expect(first.records.count + rest.records.count == 9000)
            #expect(rest.records.first?["id"] == "\"\(first.records.count + 1)\"")
        }

        @Test func `a cursor in a file that changed is refused`() throws {
            try server.write("csv/grown.csv", "id\n" + (1...9000).map { "\($0)\n" }.joined())
            let first = try Scan(SMBBridge(server).source(["csv": "csv/grown.csv"], pageSize: 10), limit: 1)
            let cursor = try #require(first.pages.last?.cursor)
            try server.write("csv/grown.csv", "id\n" + (1...9001).map { "\($0)\n" }.joined())
            let error = #expect(throws: BridgeError.self) {
                try SMBBridge(server).scan(["csv": "csv/grown.csv"], cursor: cursor)
            }
            #expect(error?.startsOver == true)
        }
    }
}
