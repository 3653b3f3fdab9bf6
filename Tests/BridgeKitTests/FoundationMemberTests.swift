import BridgeKitFoundation
import Foundation
import RecordBatch
import Testing

/// What an author writes with `import BridgeKitFoundation` and nothing else of the kit.
@Suite struct FoundationMemberTests {
    @Test func `members take Foundation's values and the kit's, each with its kind`() throws {
        let writer = RecordBatchWriter()
        let bytes: [UInt8] = [0, 0xFF]
        writer.object {
            writer.member("real", 0.1)
            writer.member("at", Date(timeIntervalSince1970: 1_795_244_888.123456))
            writer.member("bytes", bytes)
            writer.member("data", Data(bytes))
            writer.member("price", Decimal(string: "1234567890123456789.0123456789"))
            writer.member("never", Date?.none)
            writer.member("nothing", Data?.none)
            writer.member("free", Decimal?.none)
        }
        let batch = try writer.finish()
        let record = batch[0]
        withExtendedLifetime(batch) {
            #expect(
                record.members.map { $0.value.tag }
                    == [.double, .timestamp, .bytes, .bytes, .decimal, .null, .null, .null])
            #expect(record["real"]?.double == 0.1)
            #expect(record["at"]?.int64 == 1_795_244_888_123_456)
            #expect(record["bytes"].map { Array($0.rawBytes) } == bytes)
            #expect(record["data"].map { Array($0.rawBytes) } == bytes)
            #expect(record["price"]?.string == "1234567890123456789.0123456789")
        }
    }

    @Test func `a date that no timestamp holds, and a decimal that is not a number, are refused`() throws {
        let writer = RecordBatchWriter()
        writer.object {
            writer.member("far", Date(timeIntervalSince1970: 1e15))
            writer.member("none", Decimal.nan)
        }
        let batch = try writer.finish()
        #expect(batch[0]["far"]?.tag == .double && batch[0]["none"]?.tag == .double)
    }
}
