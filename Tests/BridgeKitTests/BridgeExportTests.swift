import BridgeKit
import CBridge
import RecordBatch
import Testing

/// A bridge that counts, for looking at the C face of the kit.
private final class CountBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "count", version: "1", summary: "Counts.", optionsSchema: "{}", entitySchema: "{}",
        capabilities: [.fetch])
    private let limit: Int

    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let limit = options.integer("limit") else { throw BridgeError(.configuration, "no limit") }
        self.limit = limit
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        CountSource(limit: limit, start: request.cursor.flatMap(Int.init) ?? 0)
    }
}

private final class CountSource: RecordSource {
    private let limit: Int
    private var next: Int

    init(limit: Int, start: Int) {
        self.limit = limit
        next = start
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        guard next < limit else { throw BridgeError(.notFound, "nothing after \(limit)", isRetryable: true) }
        writer.object {
            writer.key("id")
            writer.int64(Int64(next))
        }
        next += 1
        return Page(cursor: String(next), isPageEnd: true, isEnd: false)
    }

    func cancel() {}
}

@Suite struct BridgeExportTests {
    private let export = BridgeExport(CountBridge.self)

    /// The one record of a buffer, as JSON.
    private func json(_ buffer: bmo_buffer) throws -> String {
        try RecordBatch(copying: UnsafeRawBufferPointer(start: buffer.data, count: buffer.size)).json(0)
    }

    private func options(_ body: (RecordBatchWriter) -> Void) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object { body(writer) }
        return try writer.finish()
    }

    private func call(_ batch: RecordBatch, _ body: (bmo_bytes) -> bmo_status) -> bmo_status {
        batch.withBytes { body(bmo_bytes(data: $0.bindMemory(to: UInt8.self).baseAddress, size: $0.count)) }
    }

    @Test func `info carries the magic and refuses another major version`() throws {
        let info = try #require(export.info)
        #expect(info.pointee.magic == UInt64(BMO_BRIDGE_MAGIC))
        #expect(String(cString: info.pointee.name) == "count")
        #expect(export.table(major: 2, minor: 0) == nil)
    }

    @Test func `a scan goes through the C table and an error comes back as a batch`() throws {
        let table = try #require(export.table(major: 1, minor: 7)).pointee
        let context = table.context
        var instance: OpaquePointer?
        var output = bmo_buffer()
        let limit = try options {
            $0.key("limit")
            $0.int64(1)
        }
        #expect(call(limit) { table.open(context, $0, nil, &instance, &output) } == BMO_OK)
        let request = try options {
            $0.key("entity")
            $0.text("Number")
        }
        var fetch: OpaquePointer?
        #expect(call(request) { table.fetch_open(context, instance, $0, &fetch, &output) } == BMO_OK)
        var records = bmo_buffer()
        var page = bmo_buffer()
        #expect(table.fetch_next(context, fetch, &records, &page) == BMO_OK)
        #expect(try json(records) == #"{"id":0}"#)
        #expect(try json(page).hasPrefix(#"{"cursor":"1","page_end":true,"end":false,"#))
        table.release(context, records)
        table.release(context, page)
        #expect(table.fetch_next(context, fetch, &records, &page) == BMO_FAILED)
        #expect(
            try json(page)
                == #"{"code":"not_found","message":"nothing after 1","remedy":null,"location":null,"remote":null,"#
                + #""retryable":true,"retry_after":null}"#)
        table.release(context, page)
        table.fetch_close(context, fetch)
        table.close(context, instance)
    }

    @Test func `an option that is missing is the bridge's own error`() throws {
        let table = try #require(export.table(major: 1, minor: 0)).pointee
        var instance: OpaquePointer?
        var output = bmo_buffer()
        #expect(call(try options { _ in }) { table.open(table.context, $0, nil, &instance, &output) } == BMO_FAILED)
        #expect(try json(output).contains(#""message":"no limit""#))
        #expect(instance == nil)
        table.release(table.context, output)
    }

    @Test func `what a bridge cannot do is explained`() throws {
        let bridge = try CountBridge(
            options: BridgeOptions {
                $0.key("limit"); $0.int64(1)
            }, context: BridgeContext())
        #expect(throws: BridgeError.self) { try bridge.check() }
    }
}
