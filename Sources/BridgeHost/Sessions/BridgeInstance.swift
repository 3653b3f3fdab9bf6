internal import CBridge
internal import RecordBatch
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Drives one instance of a loaded plugin according to the contract's threading rules.
///
/// An instance that is not concurrent has one thread for everything. A concurrent one has a thread for each open fetch
/// and one for the rest. `cancel` runs on a thread of its own, and never while its fetch is being closed.
final class BridgeInstance: Sendable {
    typealias Completion = @Sendable (BridgeReply) -> Void

    private let plugin: LoadedPlugin
    private let isConcurrent: Bool
    private let main = Worker()
    private let control = Worker()
    private let services: HostServices
    private let state = Mutex(State())

    private struct State {
        var instance: Pointer?
        var fetches: [UInt32: FetchHandle] = [:]
        /// Threads whose fetch was closed, for later fetches: a walk by parent opens one for each of thousands of parents.
        var idle: [Worker] = []
        var closing: (@Sendable () -> Void)?
        /// Whether ``close(completion:)`` was called; stays true.
        var isClosed = false
    }

    /// The number of threads that are kept without a fetch.
    private static let maxIdleWorkers = 16

    /// - Parameters:
    ///   - log: Receives the bridge's messages, on any thread, until the instance is closed.
    ///   - work: Has another process answer a fetch's first batch; nil if the bridge cannot delegate.
    ///   - share: Answers a call about a text that processes share; nil if the host keeps none.
    init(
        plugin: LoadedPlugin, isConcurrent: Bool, work: (@Sendable (RecordBatch) -> BridgeReply)? = nil,
        share: (@Sendable (RecordBatch) -> BridgeReply)? = nil,
        log: @escaping @Sendable (bmo_log_level, String) -> Void
    ) {
        self.plugin = plugin
        self.isConcurrent = isConcurrent
        services = HostServices(log, work, share)
    }

    /// Opens the instance; must be the first call.
    func open(_ options: RecordBatch, completion: @escaping Completion) {
        main.run { [self] in
            let table = plugin.table
            var instance: OpaquePointer?
            var error = bmo_buffer()
            let status = options.withBytes {
                table.open?(table.context, bmo_bytes($0), services.host, &instance, &error)
            }
            let reply = plugin.reply(status, error)
            guard status == BMO_OK, let instance else { return completion(Self.nothingMade(status, reply)) }
            state.withLock { $0.instance = Pointer(instance) }
            completion(reply)
        }
    }

    /// Starts a call; `completion` runs on the call's thread.
    func submit(_ call: BridgeCall, completion: @escaping Completion) {
        switch call {
        case .check:
            run(completion) { table, instance, output in table.check?(table.context, instance, output) }
        case .discover:
            run(completion) { table, instance, output in table.discover?(table.context, instance, output) }
        case .write(let request):
            run(completion) { table, instance, output in
                request.withBytes { table.write?(table.context, instance, bmo_bytes($0), output) }
            }
        case .fetchOpen(let number, let request): openFetch(number, request, completion)
        case .fetchNext(let number): next(number, completion)
        case .fetchClose(let number): closeFetch(number, completion)
        }
    }

    /// Asks a fetch to stop; never blocks.
    func cancel(fetch number: UInt32) {
        guard let handle = state.withLock({ $0.fetches[number] }) else { return }
        control.run { [plugin] in handle.cancel(plugin.table) }
    }

    /// Closes the instance and its fetches after the running calls have returned.
    ///
    /// A fetch whose opening has not begun is refused with a failure without a reason: the bridge may free the instance
    /// from now on.
    func close(completion: @escaping @Sendable () -> Void) {
        let open = state.withLock { state in
            state.isClosed = true
            state.closing = completion
            return Array(state.fetches.keys)
        }
        for number in open { closeFetch(number) { _ in } }
        if open.isEmpty { closeInstance() }
    }

    private func run(
        _ completion: @escaping Completion,
        _ call: @escaping @Sendable (bmo_bridge_table, OpaquePointer, UnsafeMutablePointer<bmo_buffer>) -> bmo_status?
    ) {
        main.run { [self] in
            guard let instance = state.withLock({ $0.instance }) else { return completion(.failed(nil)) }
            var output = bmo_buffer()
            let status = call(plugin.table, instance.value, &output)
            completion(plugin.reply(status, output))
        }
    }

    private func openFetch(_ number: UInt32, _ request: RecordBatch, _ completion: @escaping Completion) {
        let handle = state.withLock { state -> FetchHandle? in
            guard !state.isClosed else { return nil }
            let handle = FetchHandle(worker: isConcurrent ? state.idle.popLast() ?? Worker() : main)
            state.fetches[number] = handle
            return handle
        }
        guard let handle else { return completion(.failed(nil)) }
        handle.worker.run { [self] in
            // `close` may have queued the closing of this fetch first.
            guard !handle.isClosed, let instance = state.withLock({ $0.instance }) else {
                return completion(.failed(nil))
            }
            let table = plugin.table
            var fetch: OpaquePointer?
            var error = bmo_buffer()
            let status = request.withBytes {
                table.fetch_open?(table.context, instance.value, bmo_bytes($0), &fetch, &error)
            }
            let reply = plugin.reply(status, error)
            guard status == BMO_OK, let fetch else { return completion(Self.nothingMade(status, reply)) }
            handle.opened(fetch, table)
            completion(reply)
        }
    }

    private func next(_ number: UInt32, _ completion: @escaping Completion) {
        guard let handle = state.withLock({ $0.fetches[number] }) else { return completion(.failed(nil)) }
        handle.worker.run { [plugin] in
            guard let fetch = handle.fetch else { return completion(.failed(nil)) }
            var records = bmo_buffer()
            var page = bmo_buffer()
            let status = plugin.table.fetch_next?(plugin.table.context, fetch, &records, &page)
            completion(plugin.reply(status, records, page))
        }
    }

    private func closeFetch(_ number: UInt32, _ completion: @escaping Completion) {
        guard let handle = state.withLock({ $0.fetches[number] }) else { return completion(.done(nil, nil)) }
        handle.worker.run { [self] in
            handle.close(plugin.table)
            let (isLast, isKept) = state.withLock { state in
                // Another call has closed it: its thread may serve another fetch already.
                guard state.fetches[number] === handle else { return (false, true) }
                state.fetches[number] = nil
                let isKept = isConcurrent && state.closing == nil && state.idle.count < Self.maxIdleWorkers
                if isKept { state.idle.append(handle.worker) }
                return (state.closing != nil && state.fetches.isEmpty, isKept)
            }
            completion(.done(nil, nil))
            if isConcurrent, !isKept { handle.worker.stop() }
            if isLast { closeInstance() }
        }
    }

    private func closeInstance() {
        main.run { [self] in
            let (instance, idle, completion) = state.withLock { state in
                defer {
                    state.instance = nil
                    state.idle = []
                    state.closing = nil
                }
                return (state.instance, state.idle, state.closing)
            }
            for worker in idle { worker.stop() }
            if let instance { plugin.table.close?(plugin.table.context, instance.value) }
            main.stop()
            control.stop()
            completion?()
        }
    }

    /// Treats BMO_OK without the requested object as a failure without a reason.
    private static func nothingMade(_ status: bmo_status?, _ reply: BridgeReply) -> BridgeReply {
        if status == BMO_OK { .failed(nil) } else { reply }
    }
}

/// A pointer to a bridge's object.
///
/// BridgeInstance keeps the contract's rules on which thread may use it.
struct Pointer: @unchecked Sendable {
    let value: OpaquePointer

    init(_ value: OpaquePointer) { self.value = value }
}

/// An open fetch, with the lock that keeps `cancel` and `fetch_close` apart.
private final class FetchHandle: Sendable {
    private struct State {
        var fetch: Pointer?
        var isCancelled = false
        var isClosed = false
    }

    let worker: Worker
    private let state = Mutex(State())

    init(worker: Worker) { self.worker = worker }

    /// The open fetch; used and closed only on `worker`.
    var fetch: OpaquePointer? { state.withLock { $0.fetch }?.value }

    /// Whether the fetch was closed, perhaps before it was opened; read only on `worker`.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Stores the open fetch, and cancels it if a cancellation arrived before it was open.
    func opened(_ fetch: OpaquePointer, _ table: bmo_bridge_table) {
        let pointer = Pointer(fetch)
        state.withLock { state in
            state.fetch = pointer
            if state.isCancelled { table.cancel?(table.context, pointer.value) }
        }
    }

    func cancel(_ table: bmo_bridge_table) {
        state.withLock { state in
            state.isCancelled = true
            if let fetch = state.fetch { table.cancel?(table.context, fetch.value) }
        }
    }

    func close(_ table: bmo_bridge_table) {
        state.withLock { state in
            if let fetch = state.fetch { table.fetch_close?(table.context, fetch.value) }
            state.fetch = nil
            state.isClosed = true
        }
    }
}

extension bmo_bytes {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(data: bytes.bindMemory(to: UInt8.self).baseAddress, size: bytes.count)
    }
}
