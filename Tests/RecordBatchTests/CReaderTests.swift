import CBridge
import Glibc
import RecordBatch
import Testing

/// The reader of the C kit, over batches as the host sends them.
@Suite struct CReaderTests {
    /// A batch with a value of each kind.
    private func batch() throws -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            writer.member("flag", true)
            writer.member("count", Int64.min)
            writer.member("share", 0.25)
            writer.member("nothing", nil as Double?)
            writer.member("data", [0, 255, 7] as [UInt8]?)
            writer.member("moment", microsecondsSince1970: -1)
            writer.member("list", array: { for name in ["a", "ä"] { writer.text(name) } })
            writer.member("inner", object: { writer.member("name", "x") })
            writer.key("exact")
            writer.decimal("0.10")
        }
        return try writer.finish()
    }

    private func withView(_ body: (UnsafePointer<bmo_view>, UnsafePointer<bmo_slot>) throws -> Void) throws {
        try batch().withBytes { bytes in
            var view = bmo_view()
            try #require(bmo_view_open(&view, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) == 1)
            try withUnsafePointer(to: view) { try body($0, view.records) }
        }
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String? {
        start.map { start in
            String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
        }
    }

    @Test func `each kind of value is read, and what is another kind is not`() throws {
        try withView { view, record in
            func member(_ name: String) -> UnsafePointer<bmo_slot>? { bmo_view_member(view, record, name) }
            #expect(bmo_view_bool(member("flag"), 0) == 1 && bmo_view_bool(member("count"), 2) == 2)
            #expect(bmo_view_int64(member("count"), 0) == .min && bmo_view_bool(nil, 3) == 3)
            #expect(bmo_view_double(member("share"), 9) == 0.25)
            #expect(bmo_view_double(member("count"), 9) == Double(Int64.min))
            #expect(bmo_view_double(member("nothing"), 9) == 9 && bmo_view_double(member("exact"), 9) == 9)
            #expect(bmo_view_timestamp(member("moment"), 0) == -1 && bmo_view_timestamp(member("count"), 5) == 5)
            var length = 0
            let bytes = try #require(bmo_view_bytes(view, member("data"), &length))
            #expect(Array(UnsafeBufferPointer(start: bytes, count: length)) == [0, 255, 7])
            #expect(bmo_view_bytes(view, member("inner"), &length) == nil)
            #expect(bmo_view_count(member("list")) == 2 && bmo_view_count(member("flag")) == 0)
            let second = bmo_view_at(view, member("list"), 1)
            let start = bmo_view_text(view, second, &length)
            #expect(Self.text(start, length) == "ä")
            #expect(bmo_view_at(view, member("list"), 2) == nil && bmo_view_at(view, member("flag"), 0) == nil)
        }
    }

    @Test func `the members of an object come with their names, elements without`() throws {
        try withView { view, record in
            var names: [String?] = []
            var scan = bmo_walk_begin(view, record)
            while bmo_walk_next(&scan) == 1 { names.append(Self.text(scan.name, scan.name_length)) }
            #expect(names == ["flag", "count", "share", "nothing", "data", "moment", "list", "inner", "exact"])
            var count = 0
            scan = bmo_walk_begin(view, bmo_view_member(view, record, "list"))
            while bmo_walk_next(&scan) == 1 {
                #expect(scan.name == nil)
                count += 1
            }
            scan = bmo_walk_begin(view, bmo_view_member(view, record, "flag"))
            #expect(count == 2 && bmo_walk_next(&scan) == 0)
        }
    }

    @Test(
        arguments: [
            ([], 0), (Array("äöü€😀".utf8), 13), ([0x61, 0xFF], 1), ([0xC3], 0), ([0xC0, 0x80], 0),
            ([0xE0, 0x80, 0x80], 0),
            ([0xED, 0xA0, 0x80], 0), ([0xED, 0x9F, 0xBF], 3), ([0xF4, 0x90, 0x80, 0x80], 0),
            ([0xF4, 0x8F, 0xBF, 0xBF], 4),
            ([0xF0, 0x8F, 0xBF, 0xBF], 0), ([0x61, 0x80], 1), ([0xE2, 0x82], 0), ([0xF5, 0x80, 0x80, 0x80], 0),
        ] as [([UInt8], Int)])
    func `the check of UTF-8 is that of the standard library`(bytes: [UInt8], prefix: Int) {
        let found = bytes.withUnsafeBytes { bmo_utf8_prefix($0.bindMemory(to: CChar.self).baseAddress, $0.count) }
        #expect(found == prefix)
        #expect((String(validating: bytes, as: UTF8.self) != nil) == (found == bytes.count))
    }

    @Test func `a text that is none is repaired, and the batch is one`() throws {
        var writer = bmo_writer()
        bmo_writer_init(&writer)
        defer { bmo_writer_free(&writer) }
        let latin: [UInt8] = Array("caf".utf8) + [0xE9] + Array(" ä".utf8) + [0xC3]
        let done = latin.withUnsafeBytes { bytes in
            bmo_write_text_repaired(&writer, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
        }
        #expect(done == 1)
        var data: UnsafeMutablePointer<UInt8>?
        var size = 0
        try #require(bmo_writer_finish(&writer, &data, &size) == 1)
        defer { free(data) }
        let batch = try RecordBatch(copying: UnsafeRawBufferPointer(start: data, count: size))
        #expect(batch[0].text == "caf\u{FFFD} ä\u{FFFD}")
    }
}
