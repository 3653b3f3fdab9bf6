import BridgeKit
import Testing
import TestLiterals

@testable import RowFormats
@testable import SMBBridge

/// Which rows of a file a write is about, and what it changes of them.
@Suite struct FileRowKeyTests {
    /// Returns the rows that a write of an object with this key is about.
    private func rows(
        _ key: Literal, of file: String, _ section: Literal = ["csv": "x.csv"], at paths: [String: [String]] = [:]
    ) throws -> [String] {
        let (key, text) = try read(key, of: file, section, at: paths)
        return try key.rows(of: text).map { String(decoding: text.bytes[$0], as: UTF8.self) }
    }

    private func read(
        _ key: Literal, of file: String, _ section: Literal, at paths: [String: [String]]
    ) throws -> (FileRowKey, RowText) {
        let options = BridgeOptions(section)
        let section = try RowSection(options, kind: options.has("csv") ? "csv" : "ndjson")
        var request = WriteRequest(
            .delete, entity: "Row", section: options, key: BridgeOptions(key), values: BridgeOptions([:]))
        request.keyPaths = paths
        return (try FileRowKey(request, section), try RowText(Array(file.utf8), format: section.format))
    }

    @Test func `the key is the column that its attribute reads, and not the one of its name`() throws {
        let file = "Code,v,id\n1,a,2\n2,b,1\n"
        #expect(try rows(["id": 2], of: file, at: ["id": ["Code"]]) == ["2,b,1\n"])
        let lines = "{\"meta\":{\"id\":1},\"id\":2}\n{\"meta\":{\"id\":2},\"id\":1}\n"
        let section: Literal = ["ndjson": "x.nd"]
        #expect(
            try rows(["id": 2], of: lines, section, at: ["id": ["meta", "id"]])
                == ["{\"meta\":{\"id\":2},\"id\":1}\n"])
        let named: Literal = ["csv": "x.csv", "columns": ["id": "v"]]
        #expect(try rows(["id": "b"], of: file, named, at: ["id": ["Code"]]) == ["2,b,1\n"])
    }

    @Test func `a key is found however the file writes it`() throws {
        let id = "aaaaaaaa-1234-1234-1234-123456789abc"
        #expect(try rows(["id": .text(id)], of: "id,v\n\(id.uppercased()),x\n").count == 1)
        #expect(try rows(["id": true], of: "id,v\nTRUE,x\nFALSE,y\n") == ["TRUE,x\n"])
        #expect(try rows(["id": .decimal("1.5")], of: "id,v\n1.50,x\n") == ["1.50,x\n"])
        let compact = "{" + id.filter { $0 != "-" } + "}"
        #expect(try rows(["id": .text(id)], of: "id,v\n\(compact),x\n").count == 1)
        // The host sends times as texts.
        let time: Literal = "2026-11-21T07:00:00.000000Z"
        #expect(try rows(["id": time], of: "id,v\n2026-11-21 07:00:00,x\n2026-11-21T08:00:00Z,y\n").count == 1)
        #expect(try rows(["id": 1], of: "id,v\ntrue,x\n") == [], "a boolean is not a number")
        #expect(try rows(["id": 7], of: "id,v\n17,x\n007,y\n70,z\n") == ["007,y\n"])
        #expect(try rows(["id": 7], of: "v,id\n\"a,b\",7\nx,8\r\ny\n") == ["\"a,b\",7\n"])
        #expect(try rows(["id": "8"], of: "v,id\r\na,7\r\nx,8\r\ny\r\n") == ["x,8\r\n"])
        // A text is found only as it is.
        #expect(try rows(["id": "ab"], of: "id,v\nAB,x\n") == [])
        let alike = try rows(["id": "caf\u{E9}"], of: "id,v\ncafe\u{301},x\ncaf\u{E9},y\n")
        #expect(alike.map { Array($0.utf8) } == [Array("caf\u{E9},y\n".utf8)])
    }

    @Test func `the absence of a key says nothing where the file may write it in another way`() throws {
        let cases: [(key: Literal, file: String, isConclusive: Bool)] = [
            ("1", "yes", true), (.integer(1), "yes", true), (true, "yes", false), ("ab", " AB", false),
            ("2026-11-21", "21.11.2026", false),
        ]
        for (key, file, isConclusive) in cases {
            let (read, text) = try read(["id": key], of: "id,v\n\(file),x\n", ["csv": "x.csv"], at: [:])
            #expect(try read.isConclusive(in: text) == isConclusive, "\(key)")
            #expect(try read.rows(of: text) == [])
        }
    }

    @Test func `a key that no row has is named, and a position is none`() throws {
        let (csv, table) = try read(["id": 1], of: "a,b\n1,2\n", ["csv": "x.csv"], at: ["id": ["Code"]])
        #expect(try csv.missing(in: table) == "Code")
        let (json, lines) = try read(["id": 1], of: "{\"a\":1}\n", ["ndjson": "x.nd"], at: ["id": ["meta", "id"]])
        #expect(try json.missing(in: lines) == "meta.id")
        let error = try bridgeError {
            _ = try rows(
                ["p": "x.nd", "n": 2], of: "{\"v\":1}\n", ["ndjson": "x.nd"], at: ["p": ["@path"], "n": ["@row"]])
        }
        #expect(error.code == .unsupported)
        #expect(error.message.hasPrefix("the key of Row has @row, a position"))
        let file = try bridgeError {
            _ = try rows(["p": "x.nd"], of: "{\"v\":1}\n", ["ndjson": "x.nd"], at: ["p": ["@path"]])
        }
        #expect(file.message == "the key of Row names only the file: bmo cannot tell which row it is")
    }

    @Test func `a carriage return ends a row of CSV, alone too`() throws {
        #expect(try rows(["id": 3], of: "id,v\r1,x\r2,y\r3,z\r") == ["3,z\r"])
        #expect(try rows(["id": 1], of: "id,v\n1,x\r2,y\r\n3,z\n") == ["1,x\r"])
        #expect(try rows(["id": 2], of: "id,v\n1,x\r2,y\r\n3,z\n") == ["2,y\r\n"])
        #expect(try rows(["id": 1], of: "id,v\r\n1,\"x\ry\"\r\n") == ["1,\"x\ry\"\r\n"])
        let (_, text) = try read(["id": 1], of: "id,v\r1,x\r", ["csv": "x.csv"], at: [:])
        #expect(text.appending(Array("2,y".utf8)) == Array("2,y\r".utf8))
    }

    @Test func `an update keeps the members of nested objects that it does not set`() throws {
        let (_, text) = try read(
            ["id": 1], of: "{\"id\":1,\"meta\":{\"v\":\"a\",\"other\":1,\"deep\":{\"x\":2}}}\n", ["ndjson": "x.nd"],
            at: [:])
        func changed(_ values: Literal, replacing wholes: [[String]]) throws -> String {
            String(
                decoding: try text.text(of: text.rows[0], with: BridgeOptions(values), replacing: wholes),
                as: UTF8.self)
        }
        #expect(
            try changed(["meta": ["v": "new"]], replacing: [["meta", "v"]])
                == "{\"id\":1,\"meta\":{\"v\":\"new\",\"other\":1,\"deep\":{\"x\":2}}}")
        #expect(
            try changed(["meta": ["deep": ["y": 3]]], replacing: [["meta", "deep"]])
                == "{\"id\":1,\"meta\":{\"v\":\"a\",\"other\":1,\"deep\":{\"y\":3}}}")
        #expect(try changed(["meta": ["y": 3]], replacing: [["meta"]]) == "{\"id\":1,\"meta\":{\"y\":3}}")
        #expect(try changed(["meta": .null], replacing: [["meta"]]) == "{\"id\":1,\"meta\":null}")
        let (_, own) = try read(["id": 1], of: "{\"@path\":\"a\",\"id\":1}\n", ["ndjson": "x.nd"], at: [:])
        let written = try own.text(of: own.rows[0], with: BridgeOptions(["@path": "x.nd", "v": 2]))
        #expect(String(decoding: written, as: UTF8.self) == "{\"@path\":\"a\",\"id\":1,\"v\":2}")
    }

    @Test func `a delimiter before a combining mark is quoted`() throws {
        var text = try RowText(
            Array("id,v\n1,x\n".utf8), format: RowSection(BridgeOptions(["csv": "x.csv"]), kind: "csv").format)
        let row = text.rows[0]
        text.replace(row, with: try text.text(of: row, with: BridgeOptions(["v": "a,\u{301}b"])))
        #expect(String(decoding: text.bytes, as: UTF8.self) == "id,v\n1,\"a,\u{301}b\"\n")
    }
}
