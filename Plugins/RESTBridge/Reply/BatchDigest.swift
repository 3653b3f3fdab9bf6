internal import BridgeHTTP
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

    /// Mixes in a body.
    mutating func add(_ body: HTTPExchange.PaddedBody) {
        body.bytes.withUnsafeBytes { mix(UnsafeRawBufferPointer(rebasing: $0.prefix(body.count))) }
    }

    private mutating func mix(_ region: bmo_region) {
        mix(UnsafeRawBufferPointer(start: region.data, count: region.size))
    }

    private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        // Four at a time, which do not wait for each other.
        var lanes = SIMD4<UInt64>(value, 1, 2, 3)
        while index + 32 <= bytes.count {
            let words = bytes.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
            lanes = ((lanes &<< 7 | lanes &>> 57) ^ words) &* Self.multiplier
            index += 32
        }
        for lane in 0..<4 { mix(lanes[lane]) }
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

    private mutating func mix(_ word: UInt64) { value = ((value << 7 | value >> 57) ^ word) &* Self.multiplier }

    /// That of Knuth's 64-bit linear congruential generator.
    private static let multiplier: UInt64 = 6_364_136_223_846_793_005
}
