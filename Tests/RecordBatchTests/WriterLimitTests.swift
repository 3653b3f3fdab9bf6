import CBridge
import Testing

@testable import RecordBatch

/// What is written is bounded while it grows, and the next batch is well.
@Suite struct WriterLimitTests {
    private func fill(_ writer: RecordBatchWriter, values: Int) {
        writer.object {
            writer.key("n")
            writer.array { for number in 0..<values { writer.int64(Int64(number)) } }
        }
    }

    @Test func `values beyond the limit take no memory, and the batch cannot be finished`() throws {
        let writer = RecordBatchWriter()
        writer.limit(bytes: 1 << 20)
        fill(writer, values: 1_000_000)
        let regions = [writer.raw.pointee.pending, writer.raw.pointee.slots, writer.raw.pointee.text]
        #expect(regions.map(\.capacity).reduce(0, +) <= 2 << 20)
        #expect(writer.excess == "one batch takes more than 1048576 bytes (16 for each value, and its texts)")
        let error = try #require(throws: RecordBatchError.self) { try writer.finish() }
        #expect(
            error.isLimit
                && error.description == "one batch takes more than 1048576 bytes (16 for each value, and its texts)")
        fill(writer, values: 1000)
        #expect(try writer.finish().count == 1, "the limit is of a batch, and the writer is empty after a failure")
    }

    @Test func `different names are bounded`() throws {
        let writer = RecordBatchWriter()
        writer.object { for number in 0..<300_000 { writer.member("name \(number)", true) } }
        let error = try #require(throws: RecordBatchError.self) { try writer.finish() }
        #expect(error.isLimit && error.description == "one batch has more than 262144 different names")
    }

    @Test func `a large text fits where the limit allows it, wherever the regions double`() throws {
        let writer = RecordBatchWriter()
        writer.limit(bytes: 1 << 20)
        let text = String(repeating: "x", count: (1 << 20) - 4096)
        writer.object { writer.member("t", text) }
        let batch = try writer.finish()
        #expect(withExtendedLifetime(batch) { batch[0]["t"]?.string } == text)
        writer.object { writer.member("t", text + text) }
        #expect(throws: RecordBatchError.self) { try writer.finish() }
    }

    @Test func `a record is taken back whole`() throws {
        let writer = RecordBatchWriter()
        writer.limit(bytes: 64 << 10)
        writer.object { writer.member("id", 1) }
        let mark = bmo_writer_note(writer.raw)
        fill(writer, values: 10_000)
        #expect(writer.excess != nil)
        bmo_writer_take_back(writer.raw, mark)
        writer.object { writer.member("id", 2) }
        let batch = try writer.finish()
        #expect((0..<batch.count).map { batch[$0].json } == [#"{"id":1}"#, #"{"id":2}"#])
    }

    @Test func `a record that is taken back takes its new names along, and they can be written again`() throws {
        let writer = RecordBatchWriter()
        writer.limit(recordBytes: 64 << 10)
        func write(_ names: Range<Int>, text: Int) {
            writer.object {
                for number in names { writer.member("name \(number)", number) }
                writer.member("t", String(repeating: "x", count: text))
            }
        }
        for start in [0, 20, 40] {
            let (size, keys) = (writer.byteCount, writer.raw.pointee.key_count)
            let mark = bmo_writer_note(writer.raw)
            write(start..<(start + 300), text: 100_000)
            #expect(writer.excess != nil)
            bmo_writer_take_back(writer.raw, mark)
            #expect(writer.byteCount == size && writer.raw.pointee.key_count == keys)
            write(start..<(start + 30), text: start)
        }
        #expect(writer.raw.pointee.key_count == 71)
        let batch = try writer.finish()
        for (index, start) in [0, 20, 40].enumerated() {
            let names = (start..<(start + 30)).map { #""name \#($0)":\#($0)"# }.joined(separator: ",")
            #expect(batch[index].json == #"{\#(names),"t":"\#(String(repeating: "x", count: start))"}"#)
        }
    }

    @Test func `the limit of a record is that of each record by itself, and is exact`() throws {
        let writer = RecordBatchWriter()
        writer.limit(recordBytes: 64 << 10)
        for id in 0..<100 { writer.object { writer.member("t", String(repeating: "x", count: 32 << 10) + "\(id)") } }
        #expect(writer.excess == nil && writer.recordCount == 100)
        // Two slots, and no new name.
        let text = String(repeating: "y", count: (64 << 10) - 32)
        writer.object { writer.member("t", text) }
        #expect(writer.excess == nil)
        let mark = bmo_writer_note(writer.raw)
        writer.object { writer.member("t", text + "y") }
        #expect(writer.excess == "one record takes more than 65536 bytes (16 for each value, and its texts)")
        bmo_writer_take_back(writer.raw, mark)
        writer.object { writer.member("t", "z") }
        let batch = try writer.finish()
        #expect(withExtendedLifetime(batch) { batch[101]["t"]?.string } == "z")
        #expect(batch.count == 102)
    }

    @Test func `a record far over its limit takes no memory`() throws {
        let writer = RecordBatchWriter()
        writer.limit(recordBytes: 1 << 20)
        fill(writer, values: 1_000_000)
        let regions = [writer.raw.pointee.pending, writer.raw.pointee.slots, writer.raw.pointee.text]
        #expect(regions.map(\.capacity).reduce(0, +) <= 5 << 20)
        let error = try #require(throws: RecordBatchError.self) { try writer.finish() }
        #expect(error.isLimit && error.description.hasPrefix("one record takes more than 1048576 bytes"))
    }
}

/// What a bridge in C hands out that does not look whether its writer failed.
@Suite struct WriterFailureTests {
    @Test(arguments: [BMO_WRITER_BYTES, BMO_WRITER_KEYS, BMO_WRITER_OPEN, BMO_WRITER_FAILED, BMO_WRITER_RECORD])
    func `a failed batch becomes a mark that no reader takes for an empty one`(failure: Int) throws {
        var writer = bmo_writer()
        bmo_writer_init(&writer)
        defer { bmo_writer_free(&writer) }
        if failure == BMO_WRITER_OPEN { _ = bmo_write_array_begin(&writer) } else { writer.failed = Int32(failure) }
        #expect(bmo_writer_records(&writer) == 1)
        var data: UnsafeMutablePointer<UInt8>?
        var size = 0
        #expect(bmo_writer_finish(&writer, &data, &size) == 1)
        let mark = try #require(data)
        defer { free(mark) }
        let bytes = UnsafeRawBufferPointer(start: mark, count: size)
        let error = try #require(throws: RecordBatchError.self) { try RecordBatch(copying: bytes) }
        #expect(error.description.hasPrefix("the bridge's writer gave up on the batch: "), "\(error)")
        // A host that knows no flags, such as that of an earlier version, finds sections that do not add up.
        UnsafeMutableRawPointer(mark).storeBytes(of: 0, toByteOffset: 6, as: UInt16.self)
        #expect(throws: RecordBatchError.self) { try RecordBatch(copying: bytes) }
        bmo_write_null(&writer)
        #expect(bmo_writer_records(&writer) == 1 && bmo_writer_failure(&writer) == 0, "it is empty and well afterwards")
    }
}
