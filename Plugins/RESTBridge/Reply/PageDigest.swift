internal import BridgeHTTP
internal import CBridge
internal import RecordBatch

/// A fingerprint of a page's records, to detect a server that returns the same page repeatedly.
struct PageDigest: Sendable {
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
        // Uses four lanes, which do not depend on each other. They are not a vector: before AVX-512, processors cannot
        // multiply vectors of 64-bit words.
        var lanes = (value, UInt64(1), UInt64(2), UInt64(3))
        while index + 32 <= bytes.count {
            lanes.0 = Self.mixed(lanes.0, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            lanes.1 = Self.mixed(lanes.1, bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
            lanes.2 = Self.mixed(lanes.2, bytes.loadUnaligned(fromByteOffset: index + 16, as: UInt64.self))
            lanes.3 = Self.mixed(lanes.3, bytes.loadUnaligned(fromByteOffset: index + 24, as: UInt64.self))
            index += 32
        }
        for lane in [lanes.0, lanes.1, lanes.2, lanes.3] { mix(lane) }
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

    private mutating func mix(_ word: UInt64) { value = Self.mixed(value, word) }

    private static func mixed(_ value: UInt64, _ word: UInt64) -> UInt64 {
        ((value << 7 | value >> 57) ^ word) &* multiplier
    }

    /// The multiplier of Knuth's 64-bit linear congruential generator.
    private static let multiplier: UInt64 = 6_364_136_223_846_793_005
}
