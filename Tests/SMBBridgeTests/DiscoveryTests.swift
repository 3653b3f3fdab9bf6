import BridgeKit
import Inference
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    @Suite struct DiscoveryTests {
        @Test func `a share's tables, files and folders are proposed with types, keys and sections that work`() throws {
            let server = try SMBServer.shared.get()
            try server.write(
                "survey/people.csv", "id;name;born;score\n1;Ann;1980-02-03;1.5\n2;Bob;1990-12-31;2\n3;Cy;;0.25\n")
            for month in ["2024-01", "2024-02", "2024-03"] {
                try server.write("survey/sales/\(month).csv", "day,amount\n\(month)-01,10\n\(month)-02,20\n")
            }
            try server.write("survey/sales/notes.txt", "nothing")
            try server.write(
                "survey/events.ndjson", "{\"event_id\":\"a\",\"at\":\"2024-01-01T00:00:00Z\"}\n{\"event_id\":\"b\"}\n")
            try server.write(
                "survey/api.json", #"{"meta":{},"data":{"items":[{"code":"X","n":1},{"code":"Y","n":2}]}}"#)
            try server.write("survey/codes.tsv", Array("10\tGr".utf8) + [0xFC] + Array("n\n20\tRot\n".utf8))
            try server.write("survey/double.csv", "id,id\n1,2\n3,4\n")
            try server.write("survey/photo.jpg", [0xFF, 0xD8, 0xFF])
            let bridge = try SMBBridge(server, folder: "/survey")
            let writer = RecordBatchWriter()
            try bridge.discover(into: writer)
            let batch = try writer.finish()
            var lines: [String] = []
            var relationships: [String] = []
            for index in 0..<batch.count {
                let entity = batch[index]
                let fields = (entity["fields"]?.elements ?? []).map { field in
                    "\(field["name"]?.string ?? "") \(field["type"]?.string ?? "")"
                        + (field["key"]?.bool == true ? " key" : "")
                }
                lines.append(
                    "\(entity["name"]?.string ?? "") \(entity["section"]?.json ?? ""): "
                        + fields.joined(separator: ", "))
                #expect(["high", "medium", "low"].contains(entity["confidence"]?.text))
                #expect(entity["reason"]?.text?.isEmpty == false)
                for relationship in entity["relationships"]?.elements ?? [] {
                    relationships.append(
                        "\(entity["name"]?.string ?? "").\(relationship["name"]?.string ?? "") = "
                            + "\(relationship["to"]?.string ?? "") by \(relationship["from"]?.string ?? "")")
                }
                let section = try #require(entity["section"])
                _ = try Scan(bridge.fetch(FetchRequest(entity: "x", section: BridgeOptions(copying: section))))
            }
            #expect(
                lines == [
                    #"Api {"json":"api.json","records":"$.data.items"}: @path text, code text key, n integer"#,
                    #"Code {"csv":"codes.tsv","delimiter":"tab","encoding":"windows-1252","header":["column_1","column_2"]}: "#
                        + "@path text, column_1 integer key, column_2 text",
                    #"Double {"csv":"double.csv","header":["id","id_2"],"skip_rows":1}: @path text, id integer key, id_2 integer"#,
                    #"Event {"ndjson":"events.ndjson"}: @path text, event_id text key, at timestamp"#,
                    #"People {"csv":"people.csv","delimiter":";"}: @path text, id integer key, name text, born date, score decimal"#,
                    #"Sale {"csv":"sales/*.csv"}: @path text key, @row integer key, day date, amount integer"#,
                    #"File {"files":"**"}: path text key, name text, folder text, extension text, size integer, "#
                        + "modified timestamp, created timestamp, hidden boolean, readonly boolean",
                    #"Folder {"folders":"**"}: path text key, name text, folder text, modified timestamp"#,
                ])
            #expect(relationships.last == "Folder.parent = Folder by folder")
            #expect(relationships.contains("File.parent = Folder by folder"))
            #expect(relationships.contains("Sale.file = File by @path"))
        }

        @Test func `folders are records, with the root, and each lies in another`() throws {
            let server = try SMBServer.shared.get()
            try server.write("tree/a/b/x", "")
            try server.write("tree/c/x", "")
            let bridge = try SMBBridge(server, folder: "/tree")
            let scan = try bridge.scan(["folders": "**"])
            #expect(scan.values("path") == [#""""#, #""a""#, #""c""#, #""a/b""#])
            #expect(scan.values("folder") == ["null", #""""#, #""""#, #""a""#])
            #expect(try bridge.scan(["folders": "{x}"]).values("x") == [#""a""#, #""c""#])
        }

        @Test(arguments: [
            ("12", "integer"), ("-7", "integer"), ("007", "text"), ("0", "integer"), ("1.50", "decimal"),
            ("0.5", "decimal"), ("00.5", "text"), ("1,5", "text"), ("TRUE", "boolean"), ("2024-02-03", "date"),
            ("2024-02-03T10:11:12Z", "timestamp"), ("03.02.2024", "text"), ("1234567890123456789012", "text"),
            ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "uuid"), ("https://x.org/a", "url"), ("", "text"), ("-", "text"),
        ])
        func `texts are distinguished by their shape`(text: String, type: String) {
            #expect(ColumnGuess.type(of: text) == type)
        }
    }
}
