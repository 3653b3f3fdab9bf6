import CBridge
import RecordBatch
import TestSupport
import Testing

/// A host reads batches of plugins that it does not trust: no bytes may crash it.
@Suite struct HostileBytesTests {
    /// A batch with every tag, nesting, a repeated key and text of several scripts.
    private func valid() throws -> [UInt8] {
        let writer = RecordBatchWriter()
        for record in 0..<4 {
            writer.object {
                writer.key("id")
                writer.int64(Int64(record))
                writer.key("text")
                writer.text("Åland 日本 \(record)")
                writer.key("decimal")
                writer.decimal("123456789012345678901234567890.5")
                writer.key("double")
                writer.double(0.5)
                writer.key("bool")
                writer.bool(true)
                writer.key("null")
                writer.null()
                writer.key("time")
                writer.timestamp(microseconds: 1_790_000_000_000_000)
                writer.key("bytes")
                [1, 2, 3].withUnsafeBytes { writer.bytes($0) }
                writer.key("list")
                writer.array {
                    writer.text("a")
                    writer.object {
                        writer.key("id")
                        writer.array { writer.array {} }
                    }
                }
            }
        }
        return try writer.finish().withBytes { Array($0) }
    }

    /// Looks at everything that a batch says it has; a checksum, so that nothing is left out as unused.
    private func readAll(_ batch: RecordBatch) -> Int {
        defer { withExtendedLifetime(batch) {} }
        var sum = 0
        for key in 0..<batch.keyCount { sum &+= batch.key(key).utf8.count }
        for record in 0..<batch.count {
            // Times far from now have no text of four digits for the year, but must not trap either.
            sum &+= batch[record].json.utf8.count
            sum &+= read(batch[record])
        }
        return sum
    }

    private func read(_ value: BatchValue) -> Int {
        switch value.tag {
        case .null: 0
        case .bool: value.bool ? 1 : 0
        case .int64, .timestamp: Int(truncatingIfNeeded: value.int64)
        case .double: value.double.isNaN ? 1 : 2
        case .decimal, .text: value.string.utf8.count
        case .bytes: value.rawBytes.reduce(0) { $0 &+ Int($1) }
        case .array: (0..<value.count).reduce(0) { $0 &+ read(value[$1]) }
        case .object: (0..<value.count).reduce(0) { $0 &+ value[$1].key.utf8.count &+ read(value[$1]) }
        }
    }

    @Test func `mutated batches are refused or readable`() throws {
        let original = try valid()
        var random = SplitMix64(seed: 20_261_121)
        var refused = 0
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes[at] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                default:
                    // A word at a field's place, where offsets, lengths and counts are.
                    let word = UInt32.random(in: 0...64, using: &random)
                    let place = at & ~3
                    for byte in 0..<4 where place + byte < bytes.count {
                        bytes[place + byte] = UInt8(truncatingIfNeeded: word >> (8 * UInt32(byte)))
                    }
                }
            }
            do {
                let batch = try bytes.withUnsafeBytes { try RecordBatch(copying: $0) }
                _ = readAll(batch)
                accepted += 1
            } catch is RecordBatchError {
                refused += 1
            }
        }
        // Both ways were scanned.
        #expect(refused > 1000)
        #expect(accepted > 1000)
    }

    @Test func `every truncation is refused`() throws {
        let original = try valid()
        for count in 0..<original.count {
            #expect(throws: RecordBatchError.self) {
                try original[..<count].withUnsafeBytes { try RecordBatch(copying: $0) }
            }
        }
    }

    @Test func `arbitrary bytes are refused`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...400, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: RecordBatchError.self) { try bytes.withUnsafeBytes { try RecordBatch(copying: $0) } }
        }
    }

    @Test func `a header that promises gigabytes is refused without taking them`() throws {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes.replaceSubrange(0..<8, with: Array("BTCH".utf8) + [1, 0, 0, 0])
        for field in 2..<8 { bytes.replaceSubrange(field * 4..<field * 4 + 4, with: [0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: RecordBatchError.self) { try bytes.withUnsafeBytes { try RecordBatch(copying: $0) } }
    }

    @Test func `release runs once whether a batch is taken or refused`() throws {
        for bytes in [try valid(), [UInt8](repeating: 0xA5, count: 64)] {
            let released = Counter()
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            defer { memory.deallocate() }
            memory.copyBytes(from: bytes)
            do {
                _ = try RecordBatch(adopting: UnsafeRawBufferPointer(memory)) { released.count += 1 }
            } catch {
                #expect(bytes[0] == 0xA5, "\(error)")
            }
            #expect(released.count == 1)
        }
    }

    /// Used by one thread only: a batch is made and dropped where it is counted.
    private final class Counter: @unchecked Sendable { var count = 0 }
}
