import RecordBatch
import Testing

/// A batch's text is UTF-8 by the rules of Unicode 15, table 3-7, wherever in a word of eight bytes a scalar stands.
@Suite struct WellFormedUTF8Tests {
    @Test func `a text is accepted where the standard library accepts it`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("k")
            writer.text(String(repeating: "a", count: 47))
        }
        let valid = try writer.finish().withBytes { Array($0) }
        // The text is the last section: the key and the value, 48 bytes.
        let text = valid.count - 48
        var place = 0
        var accepted = 0
        func check(_ sequence: [UInt8]) {
            place = (place + 1) % 44
            var bytes = valid
            bytes.replaceSubrange(text + 1 + place..<text + 1 + place + sequence.count, with: sequence)
            let isText = String(validating: bytes[text...], as: UTF8.self) != nil
            let isBatch = (try? bytes.withUnsafeBytes { try RecordBatch(copying: $0) }) != nil
            accepted += isText ? 1 : 0
            #expect(isBatch == isText, "\(sequence) at \(place)")
        }
        for first in UInt8(0x80)...0xFF {
            for second in UInt8.min...0xFF where second >= 0x70 { check([first, second]) }
        }
        // The first and last byte of each row of the table, and their neighbours.
        let edges: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
        for first: UInt8 in [0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5] {
            for second in edges {
                for third in edges {
                    for fourth in edges { check([first, second, third, fourth]) }
                }
            }
        }
        #expect(accepted > 1_000)
    }

    @Test func `the message says where the text is broken`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("k")
            writer.text("Åland and more than eight bytes")
        }
        var bytes = try writer.finish().withBytes { Array($0) }
        let broken = try #require(bytes.lastIndex(of: UInt8(ascii: "d")))
        bytes[broken] = 0xFF
        let offset = 1 + "Åland an".utf8.count
        #expect(throws: RecordBatchError("the text is not UTF-8 at byte \(offset)")) {
            try bytes.withUnsafeBytes { _ = try RecordBatch(copying: $0) }
        }
    }
}
