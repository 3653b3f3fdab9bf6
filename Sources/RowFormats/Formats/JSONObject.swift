import BridgeJSON
package import BridgeKit
import RecordBatch

/// JSON objects outside a scan.
package enum JSONObject {
    /// Parses one JSON object; nil for any other text.
    package static func parse(_ text: [UInt8]) throws -> BridgeOptions? {
        let reader = try JSONRecordReader()
        try reader.addPath(.root)
        let writer = RecordBatchWriter()
        let isRead = reader.begin(text, count: text.count) && reader.next(into: writer) == .done
        guard isRead, let batch = try? writer.finish(), batch.count == 1, batch[0].tag == .object else { return nil }
        return BridgeOptions(copying: batch[0])
    }
}
