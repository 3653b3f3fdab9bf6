import BridgeKit
import RecordBatch

/// Brings numbers, as many as the bridge's options say.
final class NumberBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "numbers", version: "1.0", summary: "Numbers", optionsSchema: "", entitySchema: "", isConcurrent: true,
        capabilities: [.fetch, .update])
    private let rows: Int64

    init(options: BridgeOptions, context: BridgeContext) { rows = Int64(options.integer("rows") ?? 0) }

    func fetch(_ request: FetchRequest) throws -> any RecordSource { Numbers(rows) }

    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        throw BridgeError(.unsupported, "nothing is sent")
    }
}

/// Pages of a thousand.
private final class Numbers: RecordSource {
    private let rows: Int64
    private var next: Int64 = 0

    init(_ rows: Int64) { self.rows = rows }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let end = min(rows, next + 1000)
        while next < end {
            writer.object {
                writer.key("id")
                writer.int64(next)
                writer.member("name", "number \(next)")
                writer.key("value")
                writer.int64(next % 997)
            }
            next += 1
        }
        return Page(isPageEnd: true, isEnd: next >= rows, isComplete: next >= rows)
    }

    func cancel() {}
}
