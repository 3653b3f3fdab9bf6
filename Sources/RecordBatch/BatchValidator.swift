internal import CBridge
internal import TextFormats

/// Checks the rules of `bmo_batch.h`; the only code that reads unchecked bytes.
enum BatchValidator {
    static func validate(
        _ bytes: UnsafeRawBufferPointer
    ) throws(RecordBatchError) -> (BatchSections, bmo_batch_header) {
        let headerSize = MemoryLayout<bmo_batch_header>.size
        guard let base = bytes.baseAddress, bytes.count >= headerSize else {
            throw RecordBatchError("a batch of \(bytes.count) bytes is shorter than its header of \(headerSize)")
        }
        guard UInt(bitPattern: base) % 8 == 0 else { throw RecordBatchError("the batch is not 8-byte aligned") }
        let header = base.load(as: bmo_batch_header.self)
        guard header.magic == BMO_BATCH_MAGIC else { throw RecordBatchError("not a batch: wrong magic") }
        guard header.format == BMO_BATCH_FORMAT else {
            throw RecordBatchError("batch format \(header.format); this host reads \(BMO_BATCH_FORMAT)")
        }
        guard header.flags == 0 else { throw unfinished(header) }
        // Int is 64 bits wide and every term is below 2^36: no overflow.
        let keysSize = Int(header.key_count) * 8
        let recordsSize = Int(header.record_count) * 16
        let slotsSize = Int(header.slot_count) * 16
        let textSize = (Int(header.text_size) + 7) & ~7
        let bytesSize = (Int(header.bytes_size) + 7) & ~7
        let total = headerSize + keysSize + recordsSize + slotsSize + textSize + bytesSize
        guard total == bytes.count, Int(header.total_size) == bytes.count else {
            throw RecordBatchError(
                "sections of \(total) bytes and a stated size of \(header.total_size) in a batch of \(bytes.count)")
        }
        let keys = base + headerSize
        let records = keys + keysSize
        let slots = records + recordsSize
        let text = slots + slotsSize
        let sections = BatchSections(
            keys: keys.assumingMemoryBound(to: bmo_batch_key.self),
            records: records.assumingMemoryBound(to: bmo_slot.self),
            slots: slots.assumingMemoryBound(to: bmo_slot.self),
            text: text, bytes: text + textSize)
        try validateText(UnsafeRawBufferPointer(start: text, count: Int(header.text_size)))
        try validateKeys(sections, header)
        try validateSlots(sections, header)
        return (sections, header)
    }

    /// Returns the error that a failure mark describes, which a writer delivers in place of a batch that it could not
    /// finish.
    private static func unfinished(_ header: bmo_batch_header) -> RecordBatchError {
        let limit = header.bytes_size
        return switch Int(header.flags) {
        case BMO_WRITER_BYTES:
            RecordBatchError(
                "the bridge's writer gave up on the batch: more than \(limit) bytes (`max_bytes` of its bmo_writer); "
                    + "smaller pages or a larger `max_bytes` help", isLimit: true)
        case BMO_WRITER_RECORD:
            RecordBatchError(
                "the bridge's writer gave up on the batch: a record of more than \(limit) bytes (`max_record_bytes` of its "
                    + "bmo_writer)", isLimit: true)
        case BMO_WRITER_KEYS:
            RecordBatchError(
                "the bridge's writer gave up on the batch: more than \(limit) different names (`max_keys` of its bmo_writer); "
                    + "smaller pages or a larger `max_keys` help", isLimit: true)
        case BMO_WRITER_OPEN:
            RecordBatchError("the bridge's writer gave up on the batch: an object or array was still open")
        case BMO_WRITER_MEMORY:
            RecordBatchError(
                "the bridge's writer gave up on the batch: memory for it could not be allocated", isLimit: true)
        case BMO_WRITER_FAILED:
            RecordBatchError(
                "the bridge's writer gave up on the batch: out of memory, over 4 GiB, deeper than \(BMO_MAX_DEPTH) levels, "
                    + "or a member without a key")
        default: RecordBatchError("a batch with unknown flags \(header.flags)")
        }
    }

    private static func validateText(_ text: UnsafeRawBufferPointer) throws(RecordBatchError) {
        guard !WellFormedUTF8.matches(text) else { return }
        #if canImport(Darwin)
        // UTF8Span, which knows the place, needs iOS 26 and macOS 26.
        throw RecordBatchError("the text is not UTF-8")
        #else
        do {
            _ = try UTF8Span(validating: Span(_unsafeElements: text.assumingMemoryBound(to: UInt8.self)))
        } catch {
            throw RecordBatchError("the text is not UTF-8 at byte \(error.byteOffsets.lowerBound)")
        }
        throw RecordBatchError("the text is not UTF-8")
        #endif
    }

    private static func validateKeys(
        _ sections: BatchSections, _ header: bmo_batch_header
    ) throws(RecordBatchError) {
        for index in 0..<Int(header.key_count) {
            let key = sections.keys[index]
            guard isSpan(offset: UInt64(key.offset), length: key.length, sections, header) else {
                throw RecordBatchError("key \(index) lies outside the text")
            }
        }
    }

    private static func validateSlots(
        _ sections: BatchSections, _ header: bmo_batch_header
    ) throws(RecordBatchError) {
        let slotCount = Int(header.slot_count)
        // Per slot: its height above the leaves, and whether a parent has claimed it.
        let heights = UnsafeMutablePointer<UInt8>.allocate(capacity: slotCount + 1)
        heights.initialize(repeating: 0, count: slotCount + 1)
        defer { heights.deallocate() }
        for index in 0..<slotCount {
            let height = try check(sections.slots[index], before: index, heights, sections, header)
            if height > 0 { heights[index] = height }
        }
        for index in 0..<Int(header.record_count) {
            _ = try check(sections.records[index], before: slotCount, heights, sections, header)
        }
    }

    private static let claimed: UInt8 = 0x80

    /// Checks one slot whose children must precede `limit`, claims them, and returns its height.
    @inline(__always)
    private static func check(
        _ slot: bmo_slot, before limit: Int, _ heights: UnsafeMutablePointer<UInt8>,
        _ sections: BatchSections, _ header: bmo_batch_header
    ) throws(RecordBatchError) -> UInt8 {
        switch Int(slot.head & 0xFF) {
        case BMO_NULL, BMO_INT64, BMO_DOUBLE, BMO_TIMESTAMP:
            return 0
        case BMO_BOOL:
            guard slot.payload <= 1 else { throw RecordBatchError("a boolean holds \(slot.payload)") }
            return 0
        case BMO_TEXT, BMO_DECIMAL:
            guard isSpan(offset: slot.payload, length: slot.length, sections, header) else {
                throw RecordBatchError("a text of \(slot.length) bytes at \(slot.payload) lies outside the text")
            }
            if Int(slot.head & 0xFF) == BMO_DECIMAL {
                let start = sections.text + Int(slot.payload)
                guard NumberGrammar.matches(UnsafeRawBufferPointer(start: start, count: Int(slot.length))) else {
                    throw RecordBatchError("a decimal of \(slot.length) bytes at \(slot.payload) is not a number")
                }
            }
            return 0
        case BMO_BYTES:
            guard slot.payload <= UInt64(header.bytes_size),
                UInt64(slot.length) <= UInt64(header.bytes_size) - slot.payload
            else { throw RecordBatchError("\(slot.length) bytes at \(slot.payload) lie outside the bytes") }
            return 0
        case BMO_ARRAY, BMO_OBJECT:
            return try checkChildren(of: slot, before: limit, heights, sections, header)
        default:
            throw RecordBatchError("unknown tag \(slot.head & 0xFF)")
        }
    }

    private static func checkChildren(
        of slot: bmo_slot, before limit: Int, _ heights: UnsafeMutablePointer<UInt8>,
        _ sections: BatchSections, _ header: bmo_batch_header
    ) throws(RecordBatchError) -> UInt8 {
        guard slot.payload <= UInt64(limit), UInt64(slot.length) <= UInt64(limit) - slot.payload else {
            throw RecordBatchError("a container's \(slot.length) children at \(slot.payload) do not stand before it")
        }
        let isObject = Int(slot.head & 0xFF) == BMO_OBJECT
        var height: UInt8 = 0
        for child in Int(slot.payload)..<(Int(slot.payload) + Int(slot.length)) {
            guard heights[child] & claimed == 0 else { throw RecordBatchError("slot \(child) has two parents") }
            height = max(height, heights[child])
            heights[child] |= claimed
            if isObject, sections.slots[child].head >> 8 >= header.key_count {
                throw RecordBatchError("a member of an object has key \(sections.slots[child].head >> 8) of none")
            }
        }
        guard Int(height) + 1 < BMO_MAX_DEPTH else { throw RecordBatchError("deeper than \(BMO_MAX_DEPTH) levels") }
        return height + 1
    }

    /// Whether a range is inside the text, and begins and ends between scalars.
    @inline(__always)
    private static func isSpan(
        offset: UInt64, length: UInt32, _ sections: BatchSections, _ header: bmo_batch_header
    ) -> Bool {
        let size = UInt64(header.text_size)
        guard offset <= size, UInt64(length) <= size - offset else { return false }
        let end = offset + UInt64(length)
        return (offset == size || isBoundary(sections.text, offset)) && (end == size || isBoundary(sections.text, end))
    }

    @inline(__always)
    private static func isBoundary(_ text: UnsafeRawPointer, _ offset: UInt64) -> Bool {
        text.load(fromByteOffset: Int(offset), as: UInt8.self) & 0xC0 != 0x80
    }
}
