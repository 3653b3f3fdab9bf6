internal import CBridge
internal import RecordBatch

/// A fingerprint of the records of a page, by which a server shows that it gives the same page again and again.
struct BatchDigest: Sendable {
    private(set) var value: UInt64 = 0

    /// Mixes in what the writer holds.
    mutating func add(_ writer: RecordBatchWriter) {
        mix(writer.raw.pointee.text)
        mix(writer.raw.pointee.slots)
    }

    private mutating func mix(_ region: bmo_region) {
        let bytes = UnsafeRawBufferPointer(start: region.data, count: region.size)
        var index = 0
        while index + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        while index < bytes.count {
            mix(UInt64(bytes[index]))
            index += 1
        }
        mix(UInt64(bytes.count))
    }

    private mutating func mix(_ word: UInt64) {
        // The multiplier is that of Knuth's 64-bit linear congruential generator.
        value = ((value << 7 | value >> 57) ^ word) &* 6_364_136_223_846_793_005
    }
}
