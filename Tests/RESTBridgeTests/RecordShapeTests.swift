import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What becomes of replies whose records are no plain list of objects.
@Suite struct RecordShapeTests {
    let bridge: RESTBridge

    init() throws {
        bridge = try RESTBridgeTests.bridge(["url": "\(RemoteServer.shared.get().url)/zoo"])
    }

    private func scan(_ section: Literal) throws -> Scan {
        try Scan(bridge.fetch(FetchRequest(entity: "User", section: section.options)))
    }

    @Test(
        arguments: [("$.columns", "table"), ("$.columns", "table?typed=1"), (["id", "name"], "table")]
            as [(Literal, String)])
    func `rows of values become records by the names of their columns`(columns: Literal, path: String) throws {
        let scan = try scan(["path": .text(path), "columns": columns])
        #expect(scan.ids == Array(1...25))
        #expect(scan.records.first == #"{"id":1,"name":"User 1"}"#)
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a first row may hold the names, and a row with too many values is handed on as it is`() throws {
        let scan = try scan(["path": "header-row", "columns": "$[0]"])
        #expect(scan.records.first == #"{"id":1,"name":"User 1"}"#)
        #expect(scan.records.count == 26)
        #expect(scan.records.last == #"[26,"User 26","one too many"]"#)
    }

    @Test(arguments: ["header-rows", "header-rows?once=1"])
    func `a first row of names is not counted as a record, and no later row becomes one`(path: String) throws {
        let scan = try scan(["path": .text(path), "columns": "$[0]", "paging": ["style": "offset"]])
        #expect(scan.records == (1...25).map { #"{"id":"\#($0)","name":"User \#($0)"}"# })
        #expect(scan.last?.isComplete == true)
        // A scan that goes on from a later page would take its first row for the names.
        #expect(scan.pages.nonEmptyAllSatisfy { $0.cursor == nil })
    }

    @Test func `rows get what the request and the reply's head know`() throws {
        let scan = try scan([
            "path": "table", "columns": "$.columns", "header_fields": ["kind": "Content-Type"],
            "parameters": ["day": "today"], "request_fields": ["day": "{day}", "name": "{day}"],
        ])
        #expect(scan.records.count == 25)
        #expect(scan.records.first == #"{"kind":"application/json","day":"today","id":1,"name":"User 1"}"#)
    }

    @Test func `columns with keyset paging is refused`() throws {
        let error = try bridgeError {
            _ = try scan(["path": "table", "columns": "$.columns", "paging": ["style": "keyset"]])
        }
        #expect(error.code == .configuration)
        #expect(error.message == "User: columns cannot be combined with paging.style keyset")
    }

    @Test func `rows of values without names are not records, and no other list is taken for them`() throws {
        let error = try bridgeError { _ = try scan(["path": "table"]) }
        #expect(error.code == .configuration)
        #expect(
            error.message.contains("the records at $.rows are arrays whose values have no names"))
        #expect(error.remedy?.contains("set columns to where the reply has the names, such as $.columns") == true)
    }

    @Test func `JSON API resources become plain records with what is included`() throws {
        let scan = try scan(["path": "json_api", "preset": "json_api"])
        #expect(scan.records.count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(
            scan.records[0]
                == #"{"type":"users","id":"1","name":"User 1","team":{"type":"teams","id":"7","title":"Blue"},"#
                + #""friends":[{"type":"users","id":"1"}]}"#)
    }

    @Test func `what HAL embeds becomes a member`() throws {
        let scan = try scan(["path": "hal", "preset": "hal"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.records[0] == #"{"id":1,"name":"User 1","_links":{"self":{"href":"/u"}},"team":{"id":7}}"#)
    }

    @Test func `objects by key become records with their keys`() throws {
        #expect(
            try scan(["path": "by-key", "records": "$.users.*"]).records.first
                == #"{"@key":"u1","id":1,"name":"User 1"}"#)
        #expect(
            try scan(["path": "rates", "records": "$.rates.*"]).records
                == [#"{"@key":"USD","@value":1.1}"#, #"{"@key":"JPY","@value":163}"#])
    }

    @Test func `a list of values instead of objects has a record for each`() throws {
        for kind in ["alone", "enveloped"] {
            let scan = try scan(["path": .text("names?kind=\(kind)")])
            #expect(scan.records.count == 25 && scan.rejected.isEmpty, "\(kind): \(scan)")
            #expect(scan.records.first == #"{"@value":"User 1"}"#)
            #expect(scan.last?.isComplete == true && scan.pages.count == 3)
        }
        #expect(
            try scan(["path": "names?kind=rows", "records": "$.rows"]).records.first == #"{"@value":[1,"User 1"]}"#)
        // An object with a list of its own is one record.
        #expect(try scan(["path": "names?kind=record"]).records.first?.hasPrefix(#"{"name":"User","tags":["#) == true)
        #expect(
            try scan(["path": "names?kind=record", "records": "$.tags"]).records.last == #"{"@value":"User 25"}"#)
    }

    @Test func `objects by their ids are found a step deeper than usual`() throws {
        let scan = try scan(["path": "generator"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.records.first == #"{"@key":"1","id":1,"name":"User 1"}"#)
        #expect(scan.last?.isComplete == true && scan.pages.count == 3)
    }

    @Test func `a list of plain values has a record for each, and one of arrays a record for each row`() throws {
        let tables = try scan(["path": "table-names", "records": "$.TableNames", "body": [:]])
        #expect(tables.records.count == 25 && tables.last?.isComplete == true)
        #expect(tables.records.first == #"{"@value":"t1"}"#)
        let elements = try scan(["path": "table-names", "records": "$.TableNames[*]", "body": [:]])
        #expect(elements.records == tables.records)
        let rows = try scan(["path": "table-rows", "records": "$.rows"])
        #expect(
            rows.records == [
                #"{"@value":[1,"User 1"]}"#, #"{"@value":[2,"User 2"]}"#, #"{"@value":[]}"#,
                #"{"@value":[3,["x",null]]}"#,
            ])
    }

    @Test func `JSON that is called a web page is read all the same`() throws {
        #expect(try scan(["path": "called-a-page"]).ids == Array(1...25))
    }

    @Test func `records get what the request knows and they lack`() throws {
        let scan = try scan([
            "path": "rates", "records": "$.rates.*", "parameters": ["day": "today"],
            "request_fields": ["day": "{day}", "none": "{parent.none}"],
        ])
        #expect(scan.records.first == #"{"@key":"USD","day":"today","@value":1.1}"#)
    }
}
