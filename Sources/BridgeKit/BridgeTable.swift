internal import BridgeContract
internal import BridgeRecording
internal import CBridge
internal import RecordBatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The C functions of the table: each decodes its input, calls the bridge, and encodes the result.
///
/// Errors leave a function only as an error batch.
enum BridgeTable {
    static func table() -> bmo_bridge_table {
        bmo_bridge_table(
            struct_size: UInt32(MemoryLayout<bmo_bridge_table>.size), context: nil,
            describe: { owner, output in
                BridgeTable.answer(output) { writer in
                    try BridgeTable.describe(BridgeTable.export(owner).descriptor, to: writer)
                }
            },
            open: { owner, options, host, instance, error in
                BridgeTable.answer(error) { _ in
                    guard let options = BridgeTable.decode(options) else {
                        throw BridgeError(.internal, "the options of the host are not a batch of one object")
                    }
                    var context = BridgeTable.context(host)
                    context.exchange = ExchangeTape(options)
                    let bridge = try BridgeTable.export(owner).make(options.without(ExchangeTape.member), context)
                    instance?.pointee = OpaquePointer(Unmanaged.passRetained(InstanceBox(bridge)).toOpaque())
                }
            },
            close: { _, instance in
                if let instance { Unmanaged<InstanceBox>.fromOpaque(UnsafeRawPointer(instance)).release() }
            },
            check: { _, instance, output in
                BridgeTable.answer(output) { writer in
                    if let message = try BridgeTable.bridge(instance).check() {
                        writer.object { writer.member("message", message) }
                    }
                }
            },
            discover: { _, instance, output in
                BridgeTable.answer(output) { writer in try BridgeTable.bridge(instance).discover(into: writer) }
            },
            fetch_open: { _, instance, request, fetch, error in
                BridgeTable.answer(error) { _ in
                    guard let request = BridgeTable.decode(request) else {
                        throw BridgeError(.internal, "the request of the host is not a batch of one object")
                    }
                    let wanted = FetchRequest(request)
                    let scope = ExchangeScope(entity: wanted.entity, isReading: true)
                    let source = try ExchangeScope.$current.withValue(scope) {
                        try BridgeTable.bridge(instance).fetch(wanted)
                    }
                    fetch?.pointee = OpaquePointer(Unmanaged.passRetained(FetchBox(source, scope)).toOpaque())
                }
            },
            fetch_next: { _, fetch, records, page in
                BridgeTable.answer(page) { writer in
                    let box = try BridgeTable.fetchBox(fetch)
                    let state: Page
                    do {
                        state = try ExchangeScope.$current.withValue(box.scope) {
                            try box.source.next(into: box.writer)
                        }
                    } catch {
                        box.writer.clear()
                        throw error
                    }
                    if box.writer.hasOutcome { try BridgeTable.deliver(box.writer, records) }
                    state.write(to: writer)
                }
            },
            fetch_close: { _, fetch in
                if let fetch { Unmanaged<FetchBox>.fromOpaque(UnsafeRawPointer(fetch)).release() }
            },
            write: { _, instance, request, output in
                BridgeTable.answer(output) { writer in
                    guard let request = BridgeTable.decode(request) else {
                        throw BridgeError(.internal, "the request of the host is not a batch of one object")
                    }
                    let wanted = try WriteRequest(request)
                    let scope = ExchangeScope(entity: wanted.entity, isReading: false)
                    try ExchangeScope.$current.withValue(scope) {
                        try BridgeTable.bridge(instance).write(wanted, into: writer)
                    }
                }
            },
            cancel: { _, fetch in try? BridgeTable.fetchBox(fetch).source.cancel() },
            release: { _, buffer in free(buffer.data) })
    }

    private static func export(_ owner: UnsafeMutableRawPointer?) throws -> BridgeExport {
        guard let owner else { throw BridgeError(.internal, "the host passed no table") }
        return Unmanaged<BridgeExport>.fromOpaque(owner).takeUnretainedValue()
    }

    private static func bridge(_ instance: OpaquePointer?) throws -> any Bridge {
        guard let instance else { throw BridgeError(.internal, "the host passed no instance") }
        return Unmanaged<InstanceBox>.fromOpaque(UnsafeRawPointer(instance)).takeUnretainedValue().bridge
    }

    private static func fetchBox(_ fetch: OpaquePointer?) throws -> FetchBox {
        guard let fetch else { throw BridgeError(.internal, "the host passed no fetch") }
        return Unmanaged<FetchBox>.fromOpaque(UnsafeRawPointer(fetch)).takeUnretainedValue()
    }

    private static func decode(_ bytes: bmo_bytes) -> BridgeOptions? {
        (try? RecordBatch(copying: UnsafeRawBufferPointer(start: bytes.data, count: bytes.size)))
            .flatMap(BridgeOptions.init(batch:))
    }

    private static func deliver(_ writer: RecordBatchWriter, _ output: UnsafeMutablePointer<bmo_buffer>?) throws {
        let (data, size) = try writer.finishRaw()
        output?.pointee = bmo_buffer(data: data, size: size, owner: nil)
    }

    /// Runs `body` and delivers what it wrote, or the error.
    private static func answer(
        _ output: UnsafeMutablePointer<bmo_buffer>?, _ body: (RecordBatchWriter) throws -> Void
    ) -> bmo_status {
        let writer = RecordBatchWriter()
        do {
            try body(writer)
            if writer.hasOutcome { try deliver(writer, output) }
            return BMO_OK
        } catch {
            let failure = error as? BridgeError ?? BridgeTable.failure(error)
            let writer = RecordBatchWriter()
            failure.write(to: writer)
            try? deliver(writer, output)
            return BMO_FAILED
        }
    }

    private static func failure(_ error: any Error) -> BridgeError {
        guard let error = error as? RecordBatchError, error.isLimit else {
            return BridgeError(.internal, String(describing: error))
        }
        return BridgeError(
            .limit, error.description,
            remedy: "request less in one record, or raise max_record_bytes where the bridge has that option")
    }

    private static func describe(_ descriptor: BridgeDescriptor, to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", descriptor.name)
            writer.member("version", descriptor.version)
            writer.member("summary", descriptor.summary)
            writer.member("options_schema", descriptor.optionsSchema)
            writer.member("entity_schema", descriptor.entitySchema)
            writer.member("isolation", descriptor.isolation.rawValue)
            writer.key("concurrent")
            writer.bool(descriptor.isConcurrent)
            writer.key("capabilities")
            writer.array {
                for capability in descriptor.capabilities.map(\.rawValue).sorted() { writer.text(capability) }
            }
        }
    }
}
