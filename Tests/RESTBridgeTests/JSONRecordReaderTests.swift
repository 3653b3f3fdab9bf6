import BridgeJSON
import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHTTP
@testable import RESTBridge

/// What the reader of JSON says of records that are too large, and of paths that are too many.
@Suite struct JSONRecordReaderTests {
    @Test func `each of several records that are too large keeps its own reason`() throws {
        let many = (0..<300_000).map { #""name \#($0)":1"# }.joined(separator: ",")
        let long = String(repeating: "x", count: 1 << 20)
        let text = Array(#"[{"t":"\#(long)"},{\#(many)},{"t":"\#(long)"},{"t":"y"},{"t":"\#(long)"}]"#.utf8)
        let reader = try JSONRecordReader()
        try reader.addPath(.root)
        let writer = RecordBatchWriter()
        writer.limit(recordBytes: 1 << 20)
        writer.raw.pointee.max_keys = 1000
        #expect(reader.begin(text, count: text.count))
        #expect(reader.next(into: writer) == .done)
        let bytes = "the record takes more than 1048576 bytes (16 for each value, and its texts)"
        #expect(
            reader.rejected.map(\.reason) == [bytes, "the record has more than 1000 different names", bytes, bytes])
        #expect(reader.rejected.map(\.index) == [0, 1, 2, 4])
        #expect(try writer.finish().count == 1)
    }

    /// The second is one that cannot be written to its end.
    @Test(arguments: [(#"{"a":"x","t":"LONG"}"#, 64 << 10), (#"{"a":"LONG","t":"\ud800"}"#, 1 << 20)])
    func `a rejected record does not make an empty batch full`(record: String, limit: Int) throws {
        let long = String(repeating: "x", count: 100_000)
        let text = Array("[\(record.replacing("LONG", with: long)),{\"a\":\"y\",\"t\":\"z\"}]".utf8)
        let reader = try JSONRecordReader()
        try reader.addPath(.root)
        let writer = RecordBatchWriter()
        writer.limit(recordBytes: limit)
        #expect(reader.begin(text, count: text.count))
        #expect(reader.next(into: writer, bytes: 64 << 10) == .done)
        #expect(reader.rejected.map(\.index) == [0])
        let batch = try writer.finish()
        #expect(batch.count == 1 && batch[0].json == #"{"a":"y","t":"z"}"#)
    }

    @Test func `a path beyond the most that a reader takes is refused, and changes none of the others`() throws {
        let reader = try JSONRecordReader()
        var numbers: [UInt32] = []
        for index in 0..<JSONRecordReader.maxPaths {
            numbers.append(try reader.addPath(JSONPath(names: ["m\(index)"])))
        }
        let error = try bridgeError { try reader.addPath(JSONPath(names: ["one", "more"])) }
        #expect(error.message.hasPrefix("a reader of JSON takes at most 31 paths"), "\(error)")
        let members = (0..<JSONRecordReader.maxPaths).map { #""m\#($0)":\#($0)"# }
        let text = Array("{\(members.joined(separator: ","))}".utf8)
        #expect(reader.begin(text, count: text.count, as: .values))
        #expect(reader.next(into: nil) == .done)
        #expect(numbers.map { reader.value(at: $0).text } == (0..<JSONRecordReader.maxPaths).map { "\($0)" })
    }

    @Test func `more values than a reader takes paths are read in several passes`() throws {
        let names = (0..<100).map { "m\($0)" }
        let text = "{\(names.map { #""\#($0)":"of \#($0)""# }.joined(separator: ","))}"
        let values = try #require(JSONScalar.read(names.map { JSONPath(names: [$0]) }, in: text))
        #expect(values == names.map { .text("of \($0)") })
    }
}
