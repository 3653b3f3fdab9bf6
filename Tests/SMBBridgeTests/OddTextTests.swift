import BridgeKit
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

/// Texts that are no text: reasons instead of rows that nobody wrote.
@Suite struct OddTextTests {
    private func scan(
        _ section: Literal, _ files: [(name: String, bytes: [UInt8])], keys: [String] = []
    ) throws -> Scan {
        var recording = RecordedShare.Recording()
        recording.folders[""] = RecordedShare.Folder(
            entries: files.map { RecordedShare.Entry(name: $0.name, size: $0.bytes.count) })
        for file in files { recording.files[file.name] = [RecordedShare.Answer(bytes: file.bytes)] }
        var request = FetchRequest(entity: "Row", section: BridgeOptions(section))
        request.keyPaths = keys
        return try Scan(EntitySection.source(request, share: RecordedShare(recording)))
    }

    @Test func `a file whose header lacks the key is left out, and the next one comes`() throws {
        let files = [
            (name: "a.csv", bytes: Array("out of order\n".utf8)), (name: "b.csv", bytes: Array("id,name\n1,x\n".utf8)),
        ]
        for keys in [["id"], ["@path", "id"]] {
            let scan = try scan(["csv": "*.csv"], files, keys: keys)
            #expect(scan.values("@path") == [#""b.csv""#])
            #expect(scan.skipped == ["@path = a.csv"])
            #expect(
                scan.rejected.first?.reason.hasPrefix(
                    #"a.csv has no column "id", which the key needs, in its header: "out of order"; "#) == true)
        }
        // A capture, the row's number and names of the section need no column.
        #expect(try scan(["csv": "{file}.csv"], files, keys: ["file", "@row"]).records.count == 1)
        #expect(try scan(["csv": "b.csv", "header": ["a", "b"]], files, keys: ["id"]).records.count == 2)
    }

    private static func wide(_ text: String, isBigEndian: Bool = false) -> [UInt8] {
        text.utf16.flatMap { unit in
            let pair = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            return isBigEndian ? pair.reversed() : pair
        }
    }

    @Test(arguments: ["csv", "ndjson", "json"])
    func `UTF-16 without a byte order mark is a reason that names the encoding`(format: String) throws {
        let text = format == "csv" ? "id,name\n1,ä\n" : "{\"id\": 1}"
        let scan = try scan(
            [format: "*"], [("a", Self.wide(text)), ("b", Self.wide(text, isBigEndian: true))])
        #expect(scan.records.isEmpty)
        #expect(
            scan.rejected.map(\.reason) == [
                "a looks like UTF-16 without a byte order mark; set encoding: utf-16le",
                "b looks like UTF-16 without a byte order mark; set encoding: utf-16be",
            ])
        #expect(scan.skipped == ["@path = a", "@path = b"])
        let told = try self.scan([format: "*", "encoding": "utf-16le"], [("a", Self.wide(text))])
        #expect(told.records.count == 1)
    }

    @Test func `a row with a NUL byte is a reason, and so is a header`() throws {
        let scan = try scan(
            ["csv": "*.csv"],
            [
                ("a.csv", Array("id,name\n1,a\0b\n2,c\n\0,d\n".utf8)), ("b.csv", Array("id,na\0me\n1,a\n".utf8)),
            ])
        #expect(scan.values("id") == ["\"2\""])
        #expect(
            scan.rejected.map(\.reason) == [
                "row 1 of a.csv has a NUL byte, which text cannot have",
                "row 3 of a.csv has a NUL byte, which text cannot have",
                "b.csv has a NUL byte in its header: it is not text",
            ])
    }

    @Test func `what stands behind gzip data is a reason of its own, padding is none`() throws {
        // printf 'id\n1\n' | gzip -n
        let gzip: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x4C, 0xE1, 0x32, 0xE4, 2, 0, 0x0F, 0xE9, 0x5B, 0xCD, 5, 0, 0, 0,
        ]
        let scan = try scan(
            ["csv": "*.gz"],
            [
                ("a.gz", gzip + Array("trailing words".utf8)), ("b.gz", gzip + [UInt8](repeating: 0, count: 512)),
            ])
        #expect(scan.values("@path") == ["\"a.gz\"", "\"b.gz\""])
        #expect(
            scan.rejected.map(\.reason) == [
                "a.gz has something after its gzip data that is not gzip (incorrect header check); remove it, or write "
                    + "the file again"
            ])
    }
}
