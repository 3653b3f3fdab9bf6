internal import CBridge
internal import RecordBatch

/// The `bmo_host` of one instance.
///
/// The instance retains it for as long as the bridge may call it.
final class HostServices: @unchecked Sendable {
    // The properties and the memory behind `host` are written only in `init`.
    let host: UnsafeMutablePointer<bmo_host>
    private let sink: @Sendable (bmo_log_level, String) -> Void
    private let work: (@Sendable (RecordBatch) -> BridgeReply)?
    private let share: (@Sendable (RecordBatch) -> BridgeReply)?

    /// Creates the services; without `work` or `share`, the bridge finds NULL there.
    init(
        _ sink: @escaping @Sendable (bmo_log_level, String) -> Void, _ work: (@Sendable (RecordBatch) -> BridgeReply)?,
        _ share: (@Sendable (RecordBatch) -> BridgeReply)?
    ) {
        self.sink = sink
        self.work = work
        self.share = share
        host = .allocate(capacity: 1)
        host.initialize(to: bmo_host())
        host.pointee.struct_size = UInt32(MemoryLayout<bmo_host>.size)
        host.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        host.pointee.log = { context, level, message in
            guard let context, let data = message.data else { return }
            let bytes = UnsafeRawBufferPointer(start: data, count: min(message.size, 8192))
            let log = Unmanaged<HostServices>.fromOpaque(context).takeUnretainedValue()
            log.sink(level.rawValue < 4 ? level : BMO_LOG_ERROR, String(decoding: bytes, as: UTF8.self))
        }
        host.pointee.learn = { context, secret in
            guard let context, let data = secret.data, secret.size <= 8192 else { return }
            let text = String(decoding: UnsafeRawBufferPointer(start: data, count: secret.size), as: UTF8.self)
            let log = Unmanaged<HostServices>.fromOpaque(context).takeUnretainedValue()
            log.sink(bmo_log_level(rawValue: BridgeLog.secret), text)
        }
        host.pointee.measure = { context, measurement, microseconds in
            guard let context else { return }
            let log = Unmanaged<HostServices>.fromOpaque(context).takeUnretainedValue()
            log.sink(
                bmo_log_level(rawValue: BridgeLog.measurement),
                RequestMeter.text(measurement.rawValue, microseconds: microseconds))
        }
        if work != nil {
            host.pointee.work = { context, request, records, page in
                guard let context else { return BMO_FAILED }
                let host = Unmanaged<HostServices>.fromOpaque(context).takeUnretainedValue()
                return HostServices.answer(host.work, request, records, page)
            }
        }
        if share != nil {
            host.pointee.share = { context, request, answer in
                guard let context else { return BMO_FAILED }
                let host = Unmanaged<HostServices>.fromOpaque(context).takeUnretainedValue()
                return HostServices.answer(host.share, request, answer, answer)
            }
        }
        host.pointee.release = { _, buffer in
            if let owner = buffer.owner { Unmanaged<ForeignBytes>.fromOpaque(owner).release() }
        }
    }

    /// Answers a call: with results, or with an error batch in `second`.
    private static func answer(
        _ service: (@Sendable (RecordBatch) -> BridgeReply)?, _ request: bmo_bytes,
        _ first: UnsafeMutablePointer<bmo_buffer>?, _ second: UnsafeMutablePointer<bmo_buffer>?
    ) -> bmo_status {
        let bytes = UnsafeRawBufferPointer(start: request.data, count: request.size)
        guard let service, let batch = try? RecordBatch(copying: bytes) else { return BMO_FAILED }
        switch service(batch) {
        case .done(let results, let page):
            first?.pointee = lend(results)
            if second != first { second?.pointee = lend(page) }
            return BMO_OK
        case .failed(let error):
            second?.pointee = lend(error)
            return BMO_FAILED
        case .lost: return BMO_FAILED
        }
    }

    /// Lends bytes to the bridge until it releases them.
    private static func lend(_ bytes: ForeignBytes?) -> bmo_buffer {
        guard let bytes, let start = bytes.bytes.baseAddress else { return bmo_buffer() }
        let data = UnsafeMutableRawPointer(mutating: start).bindMemory(to: UInt8.self, capacity: bytes.bytes.count)
        return bmo_buffer(data: data, size: bytes.bytes.count, owner: Unmanaged.passRetained(bytes).toOpaque())
    }

    deinit { host.deallocate() }
}
