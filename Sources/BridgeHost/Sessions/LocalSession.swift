internal import CBridge
internal import RecordBatch
internal import SystemCalls

/// A session with an instance in the host's process.
final class LocalSession: BridgeSession {
    private let instance: BridgeInstance
    private let bridge: String
    private let service: SharedTextService?
    private let isKilled = Mutex(false)

    init(plugin: LoadedPlugin, isConcurrent: Bool, log: BridgeLog, texts: (any SharedTexts)? = nil) {
        bridge = log.bridge
        let service = texts.map { SharedTextService($0, bridge: log.bridge, plugin: plugin.identity.name) }
        self.service = service
        let share = service.map { service in { @Sendable (request: RecordBatch) in service.answer(request) } }
        instance = BridgeInstance(plugin: plugin, isConcurrent: isConcurrent, share: share) {
            log.message($0.rawValue, $1)
        }
    }

    func open(_ options: RecordBatch) -> Promise<BridgeReply> {
        let promise = Promise<BridgeReply>()
        instance.open(options) { promise.fulfil($0) }
        return promise
    }

    var isKillable: Bool { false }

    var isUsable: Bool { !isKilled.withLock { $0 } }

    func submit(_ call: BridgeCall) -> Promise<BridgeReply> {
        let promise = Promise<BridgeReply>()
        if isUsable {
            instance.submit(call) { [self] reply in
                // The session was closed before the call began.
                if case .failed(nil) = reply, !isUsable {
                    promise.fulfil(.lost(.cancelled(bridge)))
                    return
                }
                // Validate on the bridge's thread, while the caller may still be working on the previous batch.
                if case .fetchNext = call, case .done(let records?, _) = reply { records.checkAhead() }
                promise.fulfil(reply)
            }
        } else {
            promise.fulfil(.lost(.cancelled(bridge)))
        }
        return promise
    }

    func cancel(fetch: UInt32) { instance.cancel(fetch: fetch) }

    /// Leaves a hung call running; when it returns, its thread closes the instance and ends.
    func kill() { _ = close() }

    func close() -> Promise<Void> {
        let promise = Promise<Void>()
        let isFirst = isKilled.withLock { isKilled in
            defer { isKilled = true }
            return !isKilled
        }
        guard isFirst else {
            promise.fulfil(())
            return promise
        }
        instance.close { [service] in
            service?.close()
            promise.fulfil(())
        }
        return promise
    }
}
