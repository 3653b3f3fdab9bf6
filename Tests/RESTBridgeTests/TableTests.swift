import BridgeHTTP
import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// Replies whose records are rows of CSV or elements of XML.
@Suite struct TableTests {
    private let server: RemoteServer

    /// A server for each test: one that tests share would outlive them.
    init() throws {
        server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("tables.py")])
    }

    private func scan(_ path: String, _ section: Literal = ["format": "csv"]) throws -> Scan {
        try Scan(source(bridge(["url": "\(server.url)"]), section.adding(["path": .text(path)])))
    }

    private static let people = [
        #"{"@path":"PATH","@row":1,"id":"1","name":"Ann","city":"Köln"}"#,
        #"{"@path":"PATH","@row":2,"id":"2","name":"Bo","city":""}"#,
        #"{"@path":"PATH","@row":3,"id":"3","name":"Cy, the third","city":"Bern"}"#,
    ]

    @Test(arguments: ["/people.csv", "/coded.csv", "/people.csv.gz", "/page.csv"])
    func `rows of CSV are records, packed or not`(path: String) throws {
        let scan = try scan(path)
        #expect(scan.records == Self.people.map { $0.replacing("PATH", with: path) })
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty && scan.rejected.isEmpty)
    }

    @Test func `the charset of the reply and the dialect of the section apply`() throws {
        let scan = try scan("/latin.csv", ["format": "csv", "delimiter": ";", "empty_as_null": true])
        #expect(scan.records.first == Self.people.first?.replacing("PATH", with: "/latin.csv"))
        #expect(scan.records.dropFirst().first?.hasSuffix(#""city":null}"#) == true)
        let error = try bridgeError { _ = try self.scan("/klingon.csv") }
        #expect(error.message == "page 1 of User: the reply's charset \"klingon\" is not known")
        let encoded = try self.scan("/klingon.csv", ["format": "csv", "encoding": "utf-8"])
        #expect(encoded.records.count == 3)
    }

    @Test func `the members of an archive are one table after the other`() throws {
        let scan = try scan("/people.zip")
        #expect(scan.records.count == 4)
        #expect(
            scan.records.last
                == #"{"@path":"/people.zip","@member":"part1.csv","@row":1,"id":"4","name":"Di","city":"Rom"}"#)
    }

    @Test(arguments: ["/long.csv", "/long.zip"])
    func `a call ends after its time, also while rows are passed over`(path: String) throws {
        let options = (["url": .text(server.url)] as Literal).options
        let client = try HTTPClient(options: HTTPOptions(options), context: BridgeContext())
        let exchange = client.start(HTTPRequest(url: server.url + path))
        let response = try exchange.response()
        let request = FetchRequest(
            entity: "User", section: (["format": "csv", "path": .text(path)] as Literal).options)
        let base = try #require(HTTPURL(server.url))
        let table = try #require(try RESTSection(request, base: base, parameters: nil, slice: nil).table)
        let rows = try TableReader(
            ReplyFile(exchange, response), response, table, name: path, fields: [], read: ["id"],
            limits: client.rowLimits, skipping: 7000, asked: "it")
        let writer = RecordBatchWriter()
        var (empty, ids, before) = (0, [String](), 0)
        var hasMore = true
        while hasMore {
            hasMore = try rows.read(into: writer, within: .zero).hasMore
            #expect(rows.count - before < 2500, "a call reads one slice")
            before = rows.count
            let batch = try writer.finish()
            if batch.count == 0, rows.count > 0, rows.count < 7000 { empty += 1 }
            ids += (0..<batch.count).compactMap { batch[$0]["id"]?.text }
        }
        #expect(empty > 2)
        #expect(ids == (7001...10_000).map(String.init))
    }

    @Test(arguments: ["/people.xml", "/latin.xml"])
    func `elements of XML are records`(path: String) throws {
        for records in ["person", "people/person"] {
            let scan = try scan(path, ["format": "xml", "records": .text(records)])
            #expect(
                scan.records.first == #"{"@path":"\#(path)","@row":1,"@id":"1","name":"Ann","city":"Köln"}"#)
            #expect(scan.records.count == 3 && scan.last?.isComplete == true)
        }
    }

    @Test func `attributes of XML with one local name stay apart, in any order`() throws {
        let rows = #"<i id="1" p:id="2"/><i p:id="2" id="3"/><i q:id="5" p:id="4"/><i p:id="6" i:id="7"/>"#
        let names = #"xmlns:p="urn:p" xmlns:q="urn:q" xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#
        let scan = try told("<r \(names)>\(rows)</r>")
        #expect(
            scan.records == [
                #"{"@path":"/told","@row":1,"@id":"1","@p:id":"2"}"#,
                #"{"@path":"/told","@row":2,"@p:id":"2","@id":"3"}"#,
                #"{"@path":"/told","@row":3,"@q:id":"5","@p:id":"4"}"#,
                #"{"@path":"/told","@row":4,"@id":"6"}"#,
            ])
    }

    @Test func `a bad row goes to quarantine, and the others stay`() throws {
        let scan = try scan("/bad.csv")
        #expect(scan.records.count == 2)
        #expect(scan.rejected.map(\.reason) == ["row 2 of /bad.csv has 2 fields, the header names 3"])
        #expect(scan.rejected.map(\.representation) == ["2,Bo"])
        let padded = try self.scan("/bad.csv", ["format": "csv", "pad_rows": true])
        #expect(padded.records.count == 3 && padded.rejected.isEmpty)
    }

    @Test func `lines in a gzip file are lines`() throws {
        let scan = try scan("/lines.gz", ["format": "ndjson"])
        #expect(scan.ids == [1, 2, 3])
        #expect(scan.rejected.map(\.reason) == ["row 3 of /lines.gz is not one JSON object"])
    }

    @Test func `tables have pages, too`() throws {
        let scan = try scan("/pages", ["format": "csv", "paging": ["style": "link_header"]])
        #expect(scan.records.count == 3 && scan.last?.isComplete == true)
        #expect(scan.pages.compactMap(\.cursor).count == 2)
        #expect(try self.scan("/pages").records.count == 3)
    }

    @Test func `a header's and the request's values are members unless a column has the name`() throws {
        let scan = try scan(
            "/people.csv",
            ["format": "csv", "header_fields": ["type": "Content-Type"], "request_fields": ["id": "none", "at": "x"]])
        #expect(scan.records.first?.contains(#""type":"text/csv","id":"none","at":"x","id":"1""#) == true)
    }

    @Test(arguments: [
        ("/login", "page 1 of User: the reply is a web page where CSV was expected", "Sign in to Shop"),
        (
            "/refused", "page 1 of User: the reply is JSON where CSV was expected: $.error is an object",
            "quota exceeded"
        ),
        ("/list", "page 1 of User: the reply is JSON where CSV was expected", #"[{"id": 1}]"#),
        ("/empty", "page 1 of User: the reply is empty where CSV was expected", nil),
        ("/cut.csv.gz", "page 1 of User: the text ends in the middle of its gzip data", nil),
    ])
    func `a reply of another form is an error`(_ path: String, _ message: String, _ said: String?) throws {
        let error = try bridgeError { _ = try scan(path) }
        #expect(error.message == message)
        #expect(error.remote == said)
    }

    /// Scans as the host does, which says what the mapping reads.
    private func scan(_ path: String, keys: [String], fields: Set<String>?, _ section: Literal = [:]) throws -> Scan {
        var request = FetchRequest(
            entity: "User", section: section.adding(["format": "csv", "path": .text(path)]).options)
        request.keyPaths = keys
        request.fields = fields
        return try Scan(bridge(["url": "\(server.url)"]).fetch(request))
    }

    @Test(
        arguments: [
            ("/message", ["id"], nil, #""id", which the key needs, in its header: "Service temporarily"#),
            ("/other.csv", ["id"], nil, #""id", which the key needs, in its header: "code", "label""#),
            ("/other.csv", ["code", "id"], nil, #""id", which the key needs, in its header: "code", "label""#),
            (
                "/other.csv", ["@row"], ["@row", "name", "city"],
                #"that the entity reads ("city", "name"), in its header: "code", "label""#
            ),
        ] as [(String, [String], Set<String>?, String)])
    func `a header without the columns that the mapping needs is an error, also without rows`(
        path: String, keys: [String], fields: Set<String>?, fault: String
    ) throws {
        let error = try bridgeError { _ = try scan(path, keys: keys, fields: fields) }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("page 1 of User: the text has no"), "\(error)")
        #expect(error.message.contains(fault), "\(error)")
        #expect(error.remedy?.contains("if this is a message in place of the table") == true)
    }

    @Test func `a table without rows is one if its header has the columns`() throws {
        let scan = try scan("/none.csv", keys: ["id"], fields: ["id", "name"])
        #expect(scan.records.isEmpty && scan.last?.isComplete == true)
        #expect(try self.scan("/none.csv", keys: ["name.first"], fields: ["name"]).last?.isComplete == true)
    }

    @Test func `a key that comes from elsewhere needs no column`() throws {
        #expect(try scan("/people.csv", keys: ["@row"], fields: ["@row"]).records.count == 3)
        #expect(try scan("/people.csv", keys: [], fields: ["name", "unknown"]).records.count == 3)
        let given: Literal = ["request_fields": ["shop": "north"], "header_fields": ["type": "Content-Type"]]
        #expect(try scan("/people.csv", keys: ["shop", "type", "id"], fields: nil, given).records.count == 3)
        let names: Literal = ["header": ["number", "label", "place"], "skip_rows": 1]
        #expect(try scan("/people.csv", keys: ["id"], fields: ["id"], names).records.count == 3)
    }

    @Test func `a document without the elements is not an empty listing`() throws {
        for (path, code) in [("/none.xml", BridgeError.Code.malformed), ("/login", .malformed), ("/refused", .remote)] {
            #expect(try bridgeError { _ = try scan(path, ["format": "xml", "records": "person"]) }.code == code)
        }
    }

    @Test func `a rule takes an error in JSON for an empty table`() throws {
        let rule: Literal = ["when": ["path": "$.error"], "action": "empty"]
        let refused = try scan("/refused", ["format": "csv", "responses": [rule]])
        #expect(refused.records.isEmpty && refused.last?.isComplete == true)
        #expect(try scan("/people.csv", ["format": "csv", "responses": [rule]]).records.count == 3)
    }

    @Test(
        arguments: [
            (["format": "json", "delimiter": ";"], "delimiter is for rows of CSV"),
            (["format": "csv", "records": "$.a"], "records has no meaning in format csv"),
            (["format": "xml", "encoding": "utf-8"], "encoding has no effect in format xml"),
            (["format": "csv", "columns": ["a"]], "columns cannot be combined with format csv"),
            (["format": "csv", "preset": "hal"], "preset hal cannot be combined with format csv"),
            (
                ["format": "csv", "paging": ["style": "next_url"]],
                "paging reads $.next of a JSON reply, and format is csv"
            ),
            (
                ["format": "csv", "paging": ["style": "keyset"]],
                "paging.style keyset cannot be combined with format csv"
            ),
            (["format": "csv", "delimiter": "ab"], "delimiter: \"ab\" is not one ASCII character"),
        ] as [(Literal, String)])
    func `members without a meaning in the format are faults`(_ section: Literal, _ message: String) throws {
        let error = try bridgeError { _ = try scan("/people.csv", section) }
        #expect(error.message == "User: \(message)")
    }

    // MARK: Signs of More Rows

    private func told(_ body: String, _ section: Literal = ["format": "xml", "records": "i"]) throws -> Scan {
        let type = body.hasPrefix("<") ? "application/xml" : "text/csv"
        return try scan("/told", section.adding(["query": ["type": .text(type), "body": .text(body)]]))
    }

    @Test(arguments: [
        ("<IsTruncated>true</IsTruncated>", "$.IsTruncated is true"),
        ("<NextContinuationToken>x</NextContinuationToken>", "$.NextContinuationToken has a value"),
        (#"<link rel="next" href="https://x.example/2"/>"#, "$.link[?@.rel=='next'].href holds a URL"),
        ("<meta><has_more>True</has_more></meta>", "$.meta.has_more is true"),
        ("<totalResults>1500</totalResults>", "$.totalResults is 1500, and 1 came"),
        ("<error>quota</error>", "$.error is a text: quota"), ("<Success>False</Success>", "$.success is false"),
        ("<Errors><Error>slow</Error></Errors>", "$.errors is a list"),
    ])
    func `elements beside the rows that show more rows, or a failure, are noticed`(element: String, sign: String) throws
    {
        for paging: Literal in ["auto", "none"] {
            for text in ["<r xmlns='x'>\(element)<i><id>1</id></i></r>", "<r><i><id>1</id></i>\(element)</r>"] {
                let scan = try told(text, ["format": "xml", "records": "i", "paging": paging])
                #expect(scan.records.count == 1 && scan.last?.isComplete == false, "\(scan)")
                #expect(scan.warnings.count == 1 && scan.warnings[0].contains("(\(sign))"), "\(scan)")
            }
        }
        let whole: Literal = ["style": "none", "whole": true]
        let scan = try told(
            "<r>\(element)<i><id>1</id></i></r>", ["format": "xml", "records": "i", "paging": whole])
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        #"<r total="9"><is><i><id>1</id></i></is></r>"#, "<r><is><i><id>1</id></i></is><total>9</total></r>",
        "<r><a><is><i><id>1</id></i></is><NextToken>x</NextToken></a></r>",
    ])
    func `signs around the list of rows are noticed`(text: String) throws {
        let scan = try told(text, ["format": "xml", "records": "is/i"])
        #expect(scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
    }

    @Test(arguments: [
        "<r><IsTruncated>false</IsTruncated><total>1</total><i><id>1</id></i></r>",
        "<r><NextToken/><error/><errors/><success>true</success><i><id>1</id></i></r>",
        "<r><cart><total>99</total></cart><link rel='self' href='/1'/><i><id>1</id></i></r>",
        "<r><i><id>1</id><total>99</total><error>none</error><NextToken>x</NextToken></i></r>",
    ])
    func `elements that show nothing of the kind change nothing`(text: String) throws {
        let scan = try told(text)
        #expect(scan.records.count == 1 && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a table with as many rows as pages often have is not complete`() throws {
        func csv(_ count: Int) -> String { "id\n" + (1...count).map { "\($0)\n" }.joined() }
        func xml(_ count: Int, _ more: String = "") -> String {
            "<r>\(more)\((1...count).map { "<i><id>\($0)</id></i>" }.joined())</r>"
        }
        let lines: Literal = ["format": "csv"]
        let rows: Literal = ["format": "xml", "records": "i"]
        for (text, section) in [(csv(100), lines), (xml(100), rows)] {
            let scan = try told(text, section)
            #expect(scan.records.count == 100 && scan.last?.isComplete == false, "\(scan.warnings)")
            #expect(scan.warnings.first?.contains("just 100 records arrived, a common page size") == true)
            let single = try told(text, section.adding(["paging": "none"]))
            #expect(single.last?.isComplete == true && single.warnings.isEmpty, "\(single.warnings)")
        }
        let rest = [
            (csv(101), lines), (xml(100, "<total>100</total>"), rows), (xml(100, "<hasMore>false</hasMore>"), rows),
        ]
        for (text, section) in rest {
            let scan = try told(text, section)
            #expect(scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan.warnings)")
        }
    }
}
