import RowFormats
import Testing
import TestLiterals

@Suite struct CSVReaderTests {
    /// The rows of a text, fed in pieces of `size` bytes.
    private func rows(_ text: String, size: Int = .max) throws -> [[String]] {
        let reader = try CSVReader(delimiter: UInt8(ascii: ","), quote: UInt8(ascii: "\""))
        let collector = Collector()
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let end = size < bytes.count - start ? start + size : bytes.count
            try bytes.withUnsafeBytes {
                try reader.feed(UnsafeRawBufferPointer(rebasing: $0[start..<end]), onRow: collector.take)
            }
            start = end
        }
        try reader.finish(onRow: collector.take)
        return collector.rows
    }

    private final class Collector {
        var rows: [[String]] = []
        func take(_ reader: CSVReader) { rows.append((0..<reader.fieldCount).map { reader.field($0) }) }
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `rows do not depend on where a piece ends`(size: Int) throws {
        let text = "a,b\r\n\"x \"\"y\"\"\r\n,z\", é \r\n\r\n,\r\nlast,\"\""
        #expect(try rows(text, size: size) == [["a", "b"], ["x \"y\"\r\n,z", " é "], ["", ""], ["last", ""]])
    }

    @Test(
        arguments: [
            ("a,\"b", .unterminatedQuote), ("a,b\"c\n", .strayQuote), ("\"a\"b\n", .strayQuote),
            ("\"" + String(repeating: "x", count: RowLimits().record + 1), .rowTooLong),
        ] as [(String, CSVReader.Fault)])
    func `what is not CSV is a fault`(text: String, fault: CSVReader.Fault) throws {
        #expect(throws: fault) { try rows(text) }
    }

    @Test func `characters that a chunk's end cuts are put together again`() throws {
        let decoder = try TextDecoder(encoding: "utf-16le")
        let bytes: [UInt8] = [0xFF, 0xFE, 0x41, 0x00, 0x3D, 0xD8, 0x00, 0xDE]
        let text = try bytes.flatMap { try decoder.decode([$0]) }
        try decoder.finish()
        #expect(String(decoding: text, as: UTF8.self) == "A😀")
    }

    @Test func `bytes that the encoding does not have are found at their offset`() throws {
        let decoder = try TextDecoder(encoding: "windows-1252")
        #expect(try decoder.decode([0x41]) == [0x41])
        #expect(throws: TextDecoder.Fault(offset: 2)) { try decoder.decode([0x42, 0x81]) }
        let cut = try TextDecoder(encoding: "utf-16le")
        #expect(try cut.decode([0x41, 0x00, 0x42]) == [0x41])
        #expect(throws: TextDecoder.Fault(offset: 2)) { try cut.finish() }
    }
}
