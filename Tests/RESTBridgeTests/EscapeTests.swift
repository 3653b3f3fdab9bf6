import BridgeJSON
import RecordBatch
import Testing

/// The parser reads texts in words of eight bytes: an escape may begin at any byte of one.
@Suite struct EscapeTests {
    /// Reads a record from each line.
    private func read(_ lines: [String]) throws -> RecordBatch {
        let text = lines.joined(separator: "\n")
        let reader = try JSONRecordReader()
        let writer = RecordBatchWriter()
        let bytes = Array(text.utf8) + [UInt8](repeating: 0, count: JSONRecordReader.padding)
        try #require(reader.begin(bytes, count: text.utf8.count, as: .sequence))
        #expect(reader.next(into: writer, bytes: 1 << 24) == .done)
        return try writer.finish()
    }

    @Test func `an escape at any place of a text is read, and the text around it stays`() throws {
        var lines: [String] = []
        var expected: [[String]] = []
        for length in 0...24 {
            for place in 0...length {
                let before = String(repeating: "b", count: place)
                let after = String(repeating: "a", count: length - place)
                lines.append(
                    #"{"\#(before)\u00e9\#(after)":"\#(before)\n\#(after)","next":"\\","plain":"\#(before)\#(after)"}"#)
                expected.append(["\(before)é\(after)", "\(before)\n\(after)", "\\", before + after])
            }
        }
        let batch = try read(lines)
        try #require(batch.count == expected.count)
        for index in expected.indices {
            let members = batch[index].members
            #expect([members[0].key] + members.map(\.value.string) == expected[index])
        }
        withExtendedLifetime(batch) {}
    }

    @Test func `a name with an escape is not taken for the name that its characters spell`() throws {
        // The second record's names have the characters of the first one's in the text, or begin like them.
        let lines = [
            #"{"a\\n":1,"\u0062\\":2,"name":3}"#, #"{"a\n":1,"\u0062\\":2,"name2":3}"#, #"{"a\\n":1,"b\\":2,"nam":3}"#,
            #"{"name" :1, "a\\n": 2,"":3}"#, #"{"name":1,"a\\n":2,"":3}"#,
        ]
        let batch = try read(lines)
        #expect(
            (0..<batch.count).map { batch[$0].members.map(\.key) } == [
                [#"a\n"#, #"b\"#, "name"], ["a\n", #"b\"#, "name2"], [#"a\n"#, #"b\"#, "nam"],
                ["name", #"a\n"#, ""], ["name", #"a\n"#, ""],
            ])
        withExtendedLifetime(batch) {}
    }
}
