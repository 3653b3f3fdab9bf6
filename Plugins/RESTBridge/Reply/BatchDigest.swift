internal import BridgeHTTP
internal import CBridge
internal import RecordBatch

/// A fingerprint of a page's records, to detect a server that returns the same page repeatedly.
struct BatchDigest: Sendable {
    private(set) var value: UInt64 = 0

    /// Mixes in the contents of the writer.
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
        // Uses four lanes, which do not depend on each other.
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

    /// The multiplier of Knuth's 64-bit linear congruential generator.
    private static let multiplier: UInt64 = 6_364_136_223_846_793_005
}
