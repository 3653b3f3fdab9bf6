public import CBridge

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Writes records into a flat batch.
///
/// ```swift
/// let writer = RecordBatchWriter()
/// writer.object {
///     writer.key("name")
///     writer.text("Aruba")
/// }
/// let batch = try writer.finish()
/// ```
///
/// A value at depth 0 is a record. Inside an object, call ``key(_:)`` before each value. Not thread-safe.
public final class RecordBatchWriter {
    /// The C writer, for code that calls `bmo_batch.h` itself (a parser shim).
    public let raw: UnsafeMutablePointer<bmo_writer>

    /// Creates an empty writer.
    public init() {
        raw = .allocate(capacity: 1)
        bmo_writer_init(raw)
    }

    deinit {
        bmo_writer_free(raw)
        raw.deallocate()
    }

    /// The number of finished records.
    public var recordCount: Int { raw.pointee.records.size / MemoryLayout<bmo_slot>.size }
    /// Whether there is anything to deliver: records, or a failure that must not pass for an empty page.
    package var hasOutcome: Bool { bmo_writer_records(raw) > 0 }
    /// The approximate size of the finished batch in bytes.
    public var byteCount: Int { bmo_writer_size(raw) }

    /// Limits how many bytes may be written until the batch is finished: 16 per value, plus its characters; 64 MiB by
    /// default.
    ///
    /// Beyond the limit nothing is stored, and ``finish()`` throws.
    public func limit(bytes: Int) { raw.pointee.max_bytes = max(bytes, 4096) }

    /// Limits how many bytes each record may take, with the names that are new in it; nil, the default, for no limit
    /// besides that of the batch.
    ///
    /// A larger record is an ``excess`` too: `bmo_writer_take_back` drops it and keeps those before it.
    public func limit(recordBytes: Int?) { raw.pointee.max_record_bytes = recordBytes.map { max($0, 4096) } ?? 0 }

    /// Returns the memory of a batch whose records may take `recordBytes` each: the largest one takes twice its size while
    /// it is written, beside the records before it.
    package static func batchBytes(recordBytes: Int) -> Int {
        let (bytes, isOverflow) = recordBytes.multipliedReportingOverflow(by: 4)
        return isOverflow ? .max : max(64 << 20, bytes)
    }

    /// The exceeded limit, in words; nil if no limit was exceeded.
    public var excess: String? {
        switch raw.pointee.failed {
        case Int32(BMO_WRITER_BYTES):
            "one batch takes more than \(raw.pointee.max_bytes) bytes (16 for each value, and its texts)"
        case Int32(BMO_WRITER_RECORD):
            "one record takes more than \(raw.pointee.max_record_bytes) bytes (16 for each value, and its texts)"
        case Int32(BMO_WRITER_KEYS): "one batch has more than \(raw.pointee.max_keys) different names"
        default: nil
        }
    }

    /// Sets the key of the next value.
    public func key(_ name: String) {
        var name = name
        name.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { _ = bmo_write_key(raw, $0.baseAddress, $0.count) }
        }
    }

    /// Sets the key of the next value, as UTF-8.
    public func key(utf8 name: UnsafeRawBufferPointer) {
        _ = bmo_write_key(raw, name.baseAddress?.assumingMemoryBound(to: CChar.self), name.count)
    }

    /// Writes null.
    public func null() { _ = bmo_write_null(raw) }
    /// Writes a bool.
    public func bool(_ value: Bool) { _ = bmo_write_bool(raw, value ? 1 : 0) }
    /// Writes an integer.
    public func int64(_ value: Int64) { _ = bmo_write_int64(raw, value) }
    /// Writes a double.
    public func double(_ value: Double) { _ = bmo_write_double(raw, value) }
    /// Writes a point in time, in microseconds since 1970-01-01T00:00:00Z.
    public func timestamp(microseconds: Int64) { _ = bmo_write_timestamp(raw, microseconds) }

    /// Writes text.
    public func text(_ value: String) {
        var value = value
        value.withUTF8 { text(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Writes text from UTF-8 bytes: for any other bytes the reader refuses the whole batch.
    public func text(utf8 value: UnsafeRawBufferPointer) {
        _ = bmo_write_text(raw, value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
    }

    /// Writes a number as its exact text, in the grammar of a JSON number.
    public func decimal(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { _ = bmo_write_decimal(raw, $0.baseAddress, $0.count) }
        }
    }

    /// Writes a number from bytes that follow the grammar of a JSON number.
    public func decimal(utf8 value: UnsafeRawBufferPointer) {
        _ = bmo_write_decimal(raw, value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
    }

    /// Writes bytes.
    public func bytes(_ value: UnsafeRawBufferPointer) { _ = bmo_write_bytes(raw, value.baseAddress, value.count) }

    /// Begins an object; end it with ``endObject()``.
    public func beginObject() { _ = bmo_write_object_begin(raw) }
    /// Ends the innermost object.
    public func endObject() { _ = bmo_write_object_end(raw) }
    /// Begins an array; end it with ``endArray()``.
    public func beginArray() { _ = bmo_write_array_begin(raw) }
    /// Ends the innermost array.
    public func endArray() { _ = bmo_write_array_end(raw) }

    /// Writes an object whose members `body` writes.
    public func object(_ body: () throws -> Void) rethrows {
        beginObject()
        try body()
        endObject()
    }

    /// Writes an array whose elements `body` writes.
    public func array(_ body: () throws -> Void) rethrows {
        beginArray()
        try body()
        endArray()
    }

    /// Writes a value of another batch, with all its children.
    public func copy(_ value: BatchValue) {
        switch value.tag {
        case .null: null()
        case .bool: bool(value.bool)
        case .int64: int64(value.int64)
        case .double: double(value.double)
        case .timestamp: timestamp(microseconds: value.int64)
        case .text: text(utf8: value.rawBytes)
        case .decimal: decimal(value.string)
        case .bytes: bytes(value.rawBytes)
        case .array: array { for index in 0..<value.count { copy(value[index]) } }
        case .object:
            object {
                for index in 0..<value.count {
                    key(value[index].key)
                    copy(value[index])
                }
            }
        }
    }

    /// Drops the unfinished record; finished records stay.
    public func abandonRecord() { bmo_writer_abandon_record(raw) }

    /// Drops everything that was written.
    public func clear() { bmo_writer_clear(raw) }

    /// Returns the finished batch, and empties the writer, which keeps its memory.
    ///
    /// - Throws: ``RecordBatchError`` if memory or a limit of the format (4 GiB, 128 levels, 16 million keys) is
    ///   exhausted, if there is an ``excess``, if a member has no key, or if a container is open.
    public func finish() throws(RecordBatchError) -> RecordBatch {
        let (data, size) = try finishRaw()
        let address = UInt(bitPattern: data)
        return try RecordBatch(adopting: UnsafeRawBufferPointer(start: data, count: size)) {
            free(UnsafeMutableRawPointer(bitPattern: address))
        }
    }

    /// Returns the finished batch in memory from `malloc`, which the caller frees, to cross the plugin boundary.
    package func finishRaw() throws(RecordBatchError) -> (data: UnsafeMutablePointer<UInt8>, size: Int) {
        var size = 0
        let excess = excess
        let data = bmo_writer_seal(raw, &size)
        bmo_writer_clear(raw)
        guard let data else {
            if let excess { throw RecordBatchError(excess, isLimit: true) }
            throw RecordBatchError(
                "the batch cannot be finished: out of memory, over 4 GiB, deeper than \(BMO_MAX_DEPTH) levels, "
                    + "a member without a key, or an open container")
        }
        return (data, size)
    }
}
