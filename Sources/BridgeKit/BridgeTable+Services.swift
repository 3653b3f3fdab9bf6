internal import BridgeContract
internal import CBridge
internal import RecordBatch

/// The host's services, as the kit passes them to a bridge.
extension BridgeTable {
    static func context(_ host: UnsafePointer<bmo_host>?) -> BridgeContext {
        guard let host, let log = host.pointee.log else { return BridgeContext() }
        // The host keeps its struct until `close` returns, and allows `log` from any thread.
        let address = UInt(bitPattern: host.pointee.context)
        return BridgeContext(
            work: worker(host, context: address), learn: learner(host, context: address),
            measure: meter(host, context: address), share: sharer(host, context: address)
        ) { level, message in
            var message = message
            message.withUTF8 {
                log(
                    UnsafeMutableRawPointer(bitPattern: address), bmo_log_level(UInt32(level.rawValue)),
                    bmo_bytes(data: $0.baseAddress, size: $0.count))
            }
        }
    }

    /// Returns the host's `learn` function, if the host has one.
    private static func learner(
        _ host: UnsafePointer<bmo_host>, context address: UInt
    ) -> (@Sendable (String) -> Void)? {
        guard host.covers(\.measure), let learn = host.pointee.learn else { return nil }
        return { secret in
            var secret = secret
            secret.withUTF8 {
                learn(UnsafeMutableRawPointer(bitPattern: address), bmo_bytes(data: $0.baseAddress, size: $0.count))
            }
        }
    }

    /// Returns the host's `measure` function, if the host has one.
    private static func meter(
        _ host: UnsafePointer<bmo_host>, context address: UInt
    ) -> (@Sendable (RequestMeasurement, Double) -> Void)? {
        guard host.covers(\.share), let measure = host.pointee.measure else { return nil }
        return { measurement, seconds in
            measure(
                UnsafeMutableRawPointer(bitPattern: address), bmo_measurement(measurement.rawValue),
                UInt64(max(0, min(seconds, 1e9)) * 1_000_000))
        }
    }

    /// Returns the host's `work` function, if the host has one and has worker processes.
    private static func worker(
        _ host: UnsafePointer<bmo_host>, context address: UInt
    ) -> (@Sendable (RecordBatch) throws -> RecordBatch?)? {
        guard host.covers(\.learn), let work = host.pointee.work, let release = host.pointee.release else { return nil }
        return { request in
            let context = UnsafeMutableRawPointer(bitPattern: address)
            var records = bmo_buffer()
            var page = bmo_buffer()
            let status = request.withBytes { bytes in
                work(
                    context, bmo_bytes(data: bytes.bindMemory(to: UInt8.self).baseAddress, size: bytes.count), &records,
                    &page)
            }
            defer {
                release(context, records)
                release(context, page)
            }
            guard status == BMO_OK else { throw failure(page, "another process of the bridge failed") }
            guard records.size > 0 else { return nil }
            return try RecordBatch(copying: UnsafeRawBufferPointer(start: records.data, count: records.size))
        }
    }

    /// Returns the host's `share` function, if the host has one.
    private static func sharer(
        _ host: UnsafePointer<bmo_host>, context address: UInt
    ) -> (@Sendable (SharedTextCall) throws -> String?)? {
        guard host.covers(nil), let share = host.pointee.share, let release = host.pointee.release else { return nil }
        return { call in
            let context = UnsafeMutableRawPointer(bitPattern: address)
            var answer = bmo_buffer()
            let status = try call.batch().withBytes { bytes in
                share(
                    context, bmo_bytes(data: bytes.bindMemory(to: UInt8.self).baseAddress, size: bytes.count), &answer)
            }
            defer { release(context, answer) }
            guard status == BMO_OK else { throw failure(answer, "the host cannot keep the text") }
            guard answer.size > 0 else { return nil }
            let bytes = UnsafeRawBufferPointer(start: answer.data, count: answer.size)
            return BridgeOptions(batch: try RecordBatch(copying: bytes))?.string("value")
        }
    }

    /// Returns the error of a host's function that failed.
    private static func failure(_ buffer: bmo_buffer, _ unknown: String) -> BridgeError {
        let bytes = UnsafeRawBufferPointer(start: buffer.data, count: buffer.size)
        let error = (try? RecordBatch(copying: bytes)).flatMap { try? BridgeError($0) }
        return error ?? BridgeError(.internal, unknown, isRetryable: true)
    }
}

extension UnsafePointer<bmo_host> {
    /// Whether the host's struct has all functions before the one at `next`; all of this version's, if that is nil.
    fileprivate func covers(_ next: PartialKeyPath<bmo_host>?) -> Bool {
        let end = next.flatMap { MemoryLayout<bmo_host>.offset(of: $0) } ?? MemoryLayout<bmo_host>.size
        return Int(pointee.struct_size) >= end
    }
}

extension SharedTextCall {
    fileprivate func batch() throws -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            switch self {
            case .lock(let name):
                writer.member("operation", "lock")
                writer.member("name", name)
            case .save(let name, let value):
                writer.member("operation", "save")
                writer.member("name", name)
                writer.member("value", value)
            case .release(let name):
                writer.member("operation", "release")
                writer.member("name", name)
            }
        }
        return try writer.finish()
    }
}
