import BridgeKit
import Glibc
import SMBBridge
import Testing
import TestLiterals

extension AgainstRealServer {
    @Suite struct RowFormatTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        /// Runs a shell command in the folder that the share gives out.
        private func run(_ script: String) throws { try SMBServer.run("cd \"$1\" && " + script, server.share) }

        @Test func `newline-delimited JSON has a record a line, and a line that is not an object is rejected alone`()
            throws
        {
            try server.write(
                "nd/a.ndjson",
                """
                {"id":1,"tags":["x",{"y":2}],"big":12345678901234567890}

                  {"id":2}
                {}
                [3]
                {"id":4
                {"id":5}}
                {"id":6,"a":tru}
                {"id":7}
                """)
            let scan = try SMBBridge(server).scan(["ndjson": "nd/*"])
            #expect(scan.values("id") == ["1", "2", "(none)", "7"])
            #expect(scan.values("@row") == ["1", "2", "3", "8"])
            #expect(scan.records.first?["tags"] == #"["x",{"y":2}]"#)
            #expect(scan.records.first?["big"] == "12345678901234567890")
            #expect(scan.values("@path") == Array(repeating: #""nd/a.ndjson""#, count: 4))
            #expect(
                scan.rejected.map(\.reason).map { $0.split(separator: ":")[0] } == [
                    "row 4 of nd/a.ndjson is not one JSON object", "row 5 of nd/a.ndjson is not one JSON object",
                    "row 6 of nd/a.ndjson is not one JSON object", "row 7 of nd/a.ndjson is not JSON",
                ])
            #expect(scan.rejected.map(\.representation) == ["[3]", #"{"id":4"#, #"{"id":5}}"#, #"{"id":6,"a":tru}"#])
            #expect(scan.skipped == ["@path = nd/a.ndjson"])
        }

        @Test func `a JSON list streams, whatever stands in its texts`() throws {
            let count = 40_000
            let elements = (1...count).map { #"{"id":\#($0),"t":"a,]}\"{[ \#($0)"}"# }
            try server.write("json/list.json", "[\n" + elements.joined(separator: ",\n") + "\n]\n")
            let scan = try SMBBridge(server).scan(["json": "json/list.json"])
            #expect(scan.values("id") == (1...count).map(String.init))
            #expect(scan.records.last?["t"] == #""a,]}\"{[ \#(count)""#)
            #expect(scan.records.last?["@row"] == "\(count)")
            #expect(scan.pages.count > 2)
        }

        @Test func `a list inside a JSON document is found by its path, or named in the quarantine`() throws {
            try server.write("json/inner.json", #"{"meta":{"n":2},"data":{"items":[{"a":1},7,{"a":{"b":2}}]}}"#)
            let scan = try SMBBridge(server).scan(["json": "json/inner.json", "records": "$.data.items"])
            #expect(scan.values("a") == ["1", #"{"b":2}"#])
            #expect(scan.values("@row") == ["1", "3"])
            #expect(scan.rejected.count == 1)
            let guess = try SMBBridge(server).scan(["json": "json/inner.json"])
            #expect(
                guess.rejected.map(\.reason) == [
                    "json/inner.json does not say where its records are; set records to one of: $.data.items"
                ])
        }

        @Test(arguments: [("null", "$"), (#"{"data":{"items":null}}"#, "$.data.items")])
        func `null in place of the records is not an empty list`(text: String, records: String) throws {
            try server.write("json/null.json", text)
            let scan = try SMBBridge(server).scan(["json": "json/null.json", "records": .text(records)])
            #expect(
                scan.rejected.map(\.reason) == [
                    "json/null.json has null where its records should be (\(records)); if it has none, write an empty list "
                        + "there: []"
                ])
            #expect(scan.skipped == ["@path = json/null.json"])
        }

        private static let missing: [(String, String, String)] = [
            (
                #"{"d":{"m":"busy"}}"#, "$.d[?@.t=='x']",
                "has an object where $.d[?@.t=='x'] needs a list, at byte 5; check records"
            ),
            (
                #"{"message":"busy"}"#, "$[0].items",
                "has an object where $[0].items needs a list, at byte 0; check records"
            ),
            (
                #"{"d":{"a":[{"id":1}]}}"#, "$.d[*].a",
                "has a list on the path $.d[*].a, and none of its elements has the rest of that path; check records; if there are "
                    + "no records, write an empty list there: []"
            ),
            (#"{"d":[]}"#, "$.d[0].items", "does not say where its records are; set records to one of: $.d"),
        ]

        @Test(arguments: missing)
        func `a document without the list that records selects from is not an empty list`(
            text: String, records: String, reason: String
        ) throws {
            try server.write("json/missing.json", text)
            let scan = try SMBBridge(server).scan(["json": "json/missing.json", "records": .text(records)])
            #expect(scan.rejected.map(\.reason) == ["json/missing.json \(reason)"])
            #expect(scan.skipped == ["@path = json/missing.json"])
        }

        @Test(arguments: [
            ("[]", "$"), (#"{"data":{"items":[]}}"#, "$.data.items"), (#"{"d":[{"t":"y"}]}"#, "$.d[?@.t=='x']"),
        ])
        func `an empty list has no records`(text: String, records: String) throws {
            try server.write("json/none.json", text)
            let scan = try SMBBridge(server).scan(["json": "json/none.json", "records": .text(records)])
            #expect(scan.rejected.isEmpty && scan.skipped.isEmpty && scan.isComplete)
        }

        @Test(arguments: [
            ("", "is empty where JSON was expected"), ("[{}", "ends in the middle of its JSON list"),
            ("[{} {}]", "is not JSON: no comma after row 1"),
            ("[{},]", "is not JSON: an element is missing after row 1"),
            ("[]]", "is not JSON: something follows its list"),
        ])
        func `a file that is not JSON goes to quarantine`(text: String, reason: String) throws {
            try server.write("json/bad.json", text)
            let scan = try SMBBridge(server).scan(["json": "json/bad.json"])
            #expect(scan.rejected.map(\.reason) == ["json/bad.json \(reason)"])
        }

        @Test func `XML elements of a name are records, with attributes, lists and texts`() throws {
            try server.write(
                "xml/a.xml",
                Array(
                    """
                    <?xml version="1.0" encoding="ISO-8859-1"?>
                    <feed xmlns="urn:x"><head><item id="no"/></head><items>
                    <item id="1"><name>M\u{FFFF}ller &amp; Co</name><tag>a</tag><tag>b</tag><none/></item>
                    <item id="2" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><price cur="EUR">1.50</price>
                    <gone i:nil="true"/></item></items></feed>
                    """.utf8
                ).split(separator: Array("\u{FFFF}".utf8)).reduce([]) { $0.isEmpty ? Array($1) : $0 + [0xFC] + $1 })
            let scan = try SMBBridge(server).scan(["xml": "xml/a.xml", "records": "items/item"])
            #expect(scan.values("@id") == [#""1""#, #""2""#])
            #expect(scan.records.first?["name"] == #""Müller & Co""#)
            #expect(scan.records.first?["tag"] == #"["a","b"]"#)
            #expect(scan.records.first?["none"] == #""""#)
            #expect(scan.records.last?["price"] == ##"{"@cur":"EUR","#text":"1.50"}"##)
            #expect(scan.records.last?["gone"] == "null")
            #expect(scan.values("@row") == ["1", "2"])
            #expect(scan.rejected.isEmpty)
        }

        @Test(arguments: [
            ("<a><b>", "is not well-formed XML"), ("<!DOCTYPE a [<!ENTITY x \"y\">]><a/>", "has a DOCTYPE"),
            ("no", "is not well-formed XML"), ("", "is empty where XML was expected"),
            (" \n", "is empty where XML was expected"),
        ])
        func `XML that cannot be read goes to quarantine`(text: String, reason: String) throws {
            try server.write("xml/bad.xml", text)
            let scan = try SMBBridge(server).scan(["xml": "xml/bad.xml"])
            #expect(scan.rejected.first?.reason.hasPrefix("xml/bad.xml \(reason)") == true, "\(scan.rejected)")
        }

        @Test(arguments: [
            ("item", "<error>locked</error>", "error"), ("item", "<r><ITEM><id>1</id></ITEM></r>", "r"),
            ("items/item", #"<error code="5"/>"#, "error"), ("", "<error>locked</error>", "error"),
        ])
        func `XML without an element of the name goes to quarantine`(records: String, text: String, root: String) throws
        {
            try server.write("xml/other.xml", text)
            let scan = try SMBBridge(server).scan(["xml": "xml/other.xml", "records": .text(records)])
            #expect(scan.rejected.count == 1)
            let reason = "xml/other.xml has no element for a record; its root is <\(root)>; "
            #expect(scan.rejected.first?.reason.hasPrefix(reason) == true, "\(scan.rejected)")
            #expect(scan.skipped == ["@path = xml/other.xml"])
        }

        @Test(arguments: [
            ("item", "<?xml version='1.0'?>\n<items>\n</items>\n"), ("", "<items/>"),
            ("feed/entry", #"<feed lang="en"><title>none</title></feed>"#),
            ("items/item", "<r><head/><items><!-- none --></items></r>"),
        ])
        func `XML with an empty list has no records, and a warning says so`(records: String, text: String) throws {
            try server.write("xml/none.xml", text)
            let scan = try SMBBridge(server).scan(["xml": "xml/none.xml", "records": .text(records)])
            #expect(scan.rejected.isEmpty && scan.skipped.isEmpty && scan.isComplete)
            #expect(scan.warnings == ["the file xml/none.xml has no element for a record"])
        }

        @Test func `gzip and zip are unpacked on the way, and members are named`() throws {
            var text = "id,name\n"
            for row in 1...60_000 { text += "\(row),name \(row * 7919 % 60_013)\n" }
            try server.write("packed/a.csv", text)
            try server.write("packed/sub/b.csv", "id,name\n1,b\n")
            try server.write("packed/sub/readme.txt", "no rows")
            try run(
                "cd packed && gzip -k a.csv && gzip -c sub/b.csv > two.csv.gz && gzip -c sub/b.csv >> two.csv.gz && "
                    + "python3 -m zipfile -c all.zip a.csv sub/")
            let bridge = try SMBBridge(server)
            let gzip = try bridge.scan(["csv": "packed/a.csv.gz"])
            #expect(gzip.records.count == 60_000)
            #expect(gzip.records.last?["id"] == #""60000""#)
            // Two members of gzip are one text: the second header is a row like any other.
            #expect(try bridge.scan(["csv": "packed/two.csv.gz"]).values("id") == [#""1""#, #""id""#, #""1""#])
            let zip = try bridge.scan(["csv": "packed/all.zip", "members": "**/*.csv"])
            #expect(zip.records.count == 60_001)
            #expect(zip.records.last?["@member"] == #""sub/b.csv""#)
            #expect(zip.records.last?["@row"] == "1")
            #expect(zip.records.first?["@member"] == #""a.csv""#)
            let first = try Scan(
                bridge.source(["csv": "packed/all.zip", "members": "**/*.csv"], pageSize: 500), limit: 20)
            let rest = try SMBBridge(server).scan(
                ["csv": "packed/all.zip", "members": "**/*.csv"], cursor: first.pages.last?.cursor)
            #expect(first.records.count + rest.records.count == 60_001)
        }

        @Test func `broken archives go to quarantine, and nothing else suffers`() throws {
            try server.write("broken/a.csv", "id\n" + (1...30_000).map { "\($0 * 7919)\n" }.joined())
            try run(
                "cd broken && gzip -c a.csv | head -c 20000 > cut.gz && python3 -m zipfile -c x.zip a.csv && "
                    + "head -c 30000 x.zip > cut.zip && rm x.zip && printf '\\037\\213garbage' > bad.gz")
            let scan = try SMBBridge(server).scan(["csv": "broken/*"])
            #expect(scan.values("@path").filter { $0 == #""broken/a.csv""# }.count == 30_000)
            let reasons = scan.rejected.map(\.reason)
            #expect(reasons.count == 3)
            #expect(reasons[0].hasPrefix("broken/bad.gz is not well-formed gzip"), "\(reasons)")
            #expect(reasons[1].hasPrefix("broken/cut.gz ends in the middle of its gzip data"), "\(reasons)")
            #expect(reasons[2].hasPrefix("broken/cut.zip is not a zip archive that can be read"), "\(reasons)")
            #expect(scan.skipped == ["bad.gz", "cut.gz", "cut.zip"].map { "@path = broken/\($0)" })
        }

        @Test func `a byte order mark reveals UTF-16, as Excel writes it, and sep= its delimiter`() throws {
            let text = "id\tname\r\n1\tGröße 😀\r\n"
            try server.write("utf16/le.txt", [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
            try server.write("utf16/be.txt", [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
            try server.write("utf16/utf8.txt", "\u{FEFF}" + text)
            let scan = try SMBBridge(server).scan(["csv": "utf16/*", "delimiter": "tab"])
            #expect(scan.values("name") == Array(repeating: #""Größe 😀""#, count: 3))
            #expect(scan.values("id") == Array(repeating: #""1""#, count: 3))
            try server.write("utf16/sep.csv", "sep=;\r\na;b\r\n1;2,5\r\n")
            #expect(try SMBBridge(server).scan(["csv": "utf16/sep.csv"]).values("b") == [#""2,5""#])
        }

        @Test func `what real files have besides RFC 4180 is read when the section says so`() throws {
            try server.write(
                "dialect/a.csv", "Report of May\nid;name;note;\n# nobody\n1;5\" disk;NULL;\n2;x\n3;;n/a;;\n")
            let scan = try SMBBridge(server).scan([
                "csv": "dialect/a.csv", "delimiter": ";", "skip_rows": 1, "comment": "#", "lenient_quotes": true,
                "pad_rows": true, "null_values": ["NULL", "n/a"],
            ])
            #expect(scan.values("id") == [#""1""#, #""2""#, #""3""#])
            #expect(scan.values("name") == [#""5\" disk""#, #""x""#, #""""#])
            #expect(scan.values("note") == ["null", "null", "null"])
            try server.write("dialect/raw.tsv", "a\tb\n\"1\t2\"\n")
            let raw = try SMBBridge(server).scan(["csv": "dialect/raw.tsv", "delimiter": "tab", "quote": "none"])
            #expect(raw.values("a") == [#""\"1""#])
            #expect(raw.values("b") == [#""2\"""#])
        }
    }
}
