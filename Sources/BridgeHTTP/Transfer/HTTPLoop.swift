internal import BridgeKit
internal import CCurl
internal import SystemCalls

/// The I/O thread of a client: drives all its transfers through one libcurl multi handle.
final class HTTPLoop: @unchecked Sendable {
    // Only the thread uses `multi`, except for curl_multi_wakeup, which libcurl allows from any thread. `multi` is
    // cleaned up with the last reference, and the thread holds one. A lock guards `inbox`. All other state belongs to
    // the running thread: `transfers`, `spare`, `limiter` and `waiting`.
    private let multi: UnsafeMutableRawPointer
    private let inbox = Monitor(Inbox())
    private var transfers: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
    private var spare: [UnsafeMutableRawPointer] = []
    private var limiter: RateLimiter
    /// This process's part of limits that others share.
    private let share: LimitShare?
    /// The transfers that may not begin yet, in order.
    private var waiting: [HTTPTransfer] = []
    private var lastLook = 0.0
    /// Since when requests have waited for a rate limit; nil if none waits for one.
    private var limitedSince: Double?
    /// Takes the outcomes of requests, and the waits for a rate limit, in seconds.
    private let measure: @Sendable (RequestMeasurement, Double) -> Void
    /// Ends connections that libcurl cannot end; its callbacks are in use until `multi` is cleaned up.
    private let watch = LoopWatch()

    private struct Inbox {
        var starts: [HTTPTransfer] = []
        var cancels: [Monitor<ExchangeState>] = []
        var resumes: [Monitor<ExchangeState>] = []
        var isStopped = false
        var thread: NativeThread?
    }

    private static let isReady = bmo_curl_global_init() == CURLE_OK

    init(
        _ limiter: RateLimiter, share: LimitShare? = nil,
        measure: @escaping @Sendable (RequestMeasurement, Double) -> Void = { _, _ in }
    ) throws {
        self.limiter = limiter
        self.share = share
        self.measure = measure
        guard Self.isReady, let multi = curl_multi_init() else {
            throw BridgeError(.internal, "libcurl cannot be initialised")
        }
        self.multi = multi
    }

    deinit {
        for easy in spare { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }

    func start(_ transfer: HTTPTransfer) {
        let isAlive = inbox.withLock { inbox in
            if inbox.isStopped { return false }
            inbox.starts.append(transfer)
            if inbox.thread == nil { inbox.thread = NativeThread(blocking: .all) { self.run() } }
            return inbox.thread != nil
        }
        if isAlive {
            curl_multi_wakeup(multi)
        } else {
            transfer.finish(
                BridgeError(
                    .internal, "the I/O thread cannot run: the system gives this process no more threads",
                    remedy: "raise the limit of processes and threads (`ulimit -u`), or of memory"))
        }
    }

    func cancel(_ state: Monitor<ExchangeState>) { post { $0.cancels.append(state) } }

    func resume(_ state: Monitor<ExchangeState>) { post { $0.resumes.append(state) } }

    /// Cancels all transfers and waits for the thread to end.
    func stop() {
        let thread = inbox.withLock { inbox in
            inbox.isStopped = true
            defer { inbox.thread = nil }
            return inbox.thread
        }
        curl_multi_wakeup(multi)
        thread?.join()
        watch.stop()
    }

    private func post(_ change: (inout Inbox) -> Void) {
        inbox.withLock(change)
        curl_multi_wakeup(multi)
    }

    private func run() {
        while true {
            let isStopped = handleInbox()
            if isStopped { break }
            _ = beginWaiting()
            perform()
            handleMessages()
            for transfer in transfers.values { transfer.signalArrival() }
            giveUpSlow()
            // A finished transfer may have made room.
            let wait = min(beginWaiting() ?? 60, transfers.isEmpty ? 60 : Self.lookSeconds)
            var events: Int32 = 0
            curl_multi_poll(multi, nil, 0, Int32(min(wait, 60) * 1000) + (wait < 60 ? 1 : 0), &events)
        }
        for (easy, transfer) in transfers {
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
            transfer.finish(ExchangeState.cancelled)
        }
        for transfer in waiting { transfer.finish(ExchangeState.cancelled) }
        transfers = [:]
        waiting = []
    }

    /// Runs one turn of libcurl, in which a server can keep the thread only for the transfers' time limits.
    private func perform() {
        let limit = transfers.values.compactMap(\.callLimit).min { $0.seconds < $1.seconds }
        watch.enter(limit)
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        guard watch.leave(), let limit else { return }
        // Any of them may have blocked the thread, and libcurl may mistake the shut sockets for the end of a reply.
        for (easy, transfer) in transfers {
            let error = transfer.stall(easy, limit)
            note(transfer)
            remove(easy)
            transfer.finish(error)
        }
    }

    /// Begins the transfers that may begin; returns the seconds until the next one.
    private func beginWaiting() -> Double? {
        while let transfer = waiting.first {
            if let wait = take() {
                noteLimited(wait.isFinite)
                return wait
            }
            waiting.removeFirst()
            begin(transfer)
        }
        noteLimited(false)
        return nil
    }

    /// Measures the time in which requests wait for a rate limit, and not for the end of another request.
    private func noteLimited(_ isLimited: Bool) {
        let now = MonotonicClock.seconds
        guard let since = limitedSince else {
            limitedSince = isLimited ? now : nil
            return
        }
        // A long wait is reported in parts, so that metrics of a running sync have it.
        guard !isLimited || now - since >= 1 else { return }
        measure(.rateLimitWait, now - since)
        limitedSince = isLimited ? now : nil
    }

    /// Measures a request whose end libcurl or the remote caused.
    private func note(_ transfer: HTTPTransfer) {
        let (outcome, seconds) = transfer.measurement
        measure(outcome, seconds)
    }

    /// Takes a permit to begin a request now; returns nil if granted, else the seconds to wait.
    private func take() -> Double? {
        let now = MonotonicClock.seconds
        guard let share else { return limiter.take(now: now) }
        limiter.divide(by: share.divisor, now: now)
        if let wait = limiter.take(now: now) { return wait }
        share.running = limiter.running
        // The host makes the part smaller before it reads the number of requests, so either it sees this one or the
        // smaller part is seen here.
        limiter.divide(by: share.divisor, now: now)
        guard limiter.isExceeded else { return nil }
        finishLimited()
        return RateLimiter.look
    }

    private func finishLimited() {
        limiter.finish()
        share?.running = limiter.running
    }

    /// The interval in seconds at which the speed of transfers is checked.
    private static let lookSeconds = 0.5

    /// Ends the transfers whose remote is silent or too slow.
    private func giveUpSlow() {
        let now = MonotonicClock.seconds
        guard now - lastLook >= Self.lookSeconds / 2 else { return }
        lastLook = now
        for (easy, transfer) in transfers {
            guard let error = transfer.delay(easy, now: now) else { continue }
            note(transfer)
            remove(easy)
            transfer.finish(error)
        }
    }

    private func handleInbox() -> Bool {
        let (starts, cancels, resumes, isStopped) = inbox.withLock { inbox in
            defer {
                inbox.starts = []
                inbox.cancels = []
                inbox.resumes = []
            }
            return (inbox.starts, inbox.cancels, inbox.resumes, inbox.isStopped)
        }
        for transfer in starts {
            if isStopped {
                transfer.finish(ExchangeState.cancelled)
            } else if transfer.isLimited {
                waiting.append(transfer)
            } else {
                begin(transfer)
            }
        }
        for state in cancels {
            for (easy, transfer) in transfers where transfer.state === state { remove(easy) }
            waiting.removeAll { $0.state === state }
        }
        for state in resumes {
            for (easy, transfer) in transfers where transfer.state === state {
                curl_easy_pause(easy, CURLPAUSE_CONT)
            }
        }
        return isStopped
    }

    private func begin(_ transfer: HTTPTransfer) {
        // The transfer may be cancelled after the handover: the state is set before the loop is notified, so this check
        // sees it in time.
        guard !transfer.state.withLock({ $0.isFinished }) else { return leave(transfer) }
        guard let easy = spare.popLast() ?? curl_easy_init() else {
            leave(transfer)
            transfer.finish(BridgeError(.internal, "libcurl cannot create a handle"))
            return
        }
        transfers[easy] = transfer
        watch.attach(to: easy)
        if let error = transfer.configure(easy) ?? add(easy) {
            leave(transfer)
            retire(easy, isReusable: false)
            transfer.finish(error)
        }
    }

    /// Adds a handle to the running ones; returns the error if that fails, as its end would go unnoticed.
    private func add(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        let code = curl_multi_add_handle(multi, easy)
        guard code != CURLM_OK else { return nil }
        return BridgeError(
            .internal, "libcurl accepts no further request: \(String(cString: curl_multi_strerror(code)))")
    }

    private func leave(_ transfer: HTTPTransfer) {
        if transfer.isLimited { finishLimited() }
        if let hold = transfer.hold { limiter.hold(hold, now: MonotonicClock.seconds) }
    }

    private func remove(_ easy: UnsafeMutableRawPointer) {
        if let transfer = transfers[easy] { leave(transfer) }
        curl_multi_remove_handle(multi, easy)
        retire(easy, isReusable: false)
    }

    /// Keeps an unused handle for the next transfer, unless its own transfer failed.
    private func retire(_ easy: UnsafeMutableRawPointer, isReusable: Bool) {
        transfers[easy] = nil
        if isReusable, spare.count < 4 {
            curl_easy_reset(easy)
            spare.append(easy)
        } else {
            curl_easy_cleanup(easy)
        }
    }

    private func handleMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = transfers[easy]
            else { continue }
            let result = message.pointee.data.result
            curl_multi_remove_handle(multi, easy)
            let outcome = transfer.completed(easy, result)
            note(transfer)
            switch outcome {
            case .again:
                retire(easy, isReusable: result == CURLE_OK)
                begin(transfer)
            case .done(let error):
                leave(transfer)
                retire(easy, isReusable: result == CURLE_OK)
                transfer.finish(error)
            }
        }
    }
}
