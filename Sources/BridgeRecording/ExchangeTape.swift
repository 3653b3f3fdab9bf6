package import BridgeContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The recording or replay of a bridge's exchanges.
///
/// The host makes one per instance if the user asks for it; otherwise `BridgeContext.exchange` is nil. During a
/// replay, a bridge opens no connection at all.
///
/// ```swift
/// if let tape = context.exchange, tape.isReplaying { return try tape.replay(request) }
/// let take = context.exchange?.begin(request)
/// let answer = ask(request)
/// take?.finish(.answer(status: "ok", headers: [], body: answer))
/// ```
///
/// Safe to use from any thread.
public final class ExchangeTape: Sendable {
    /// The member of the options that configures the tape; the kit removes it before the bridge reads the options.
    package static let member = "@exchange"
    /// The prefix of secrets in a replay, which runs without the real ones.
    public static let placeholder = "replayed-secret-"

    /// Whether replies come from the recording.
    public let isReplaying: Bool
    let redaction: ExchangeRedaction
    let folder: ExchangeFolder
    let bridge: String
    let rules: [FaultRule]
    private let began = MonotonicClock.seconds
    private let recordedAt: Int64
    private let state = Mutex(State())

    private struct State {
        var takes = 0
        /// Seconds that have passed on the replay's clock.
        var seconds = 0.0
        /// The exchanges of this bridge, once they are loaded.
        var recorded = RecordedExchanges([])
        var isLoaded = false
        /// The requests of each entity's scans, with their numbers in the order in which they were first made.
        var asked: [String: [ExchangeKey: Int]] = [:]
        /// The number of faults before each request, while recording.
        var faulted: [String: Int] = [:]
    }

    package init?(_ options: BridgeOptions) {
        guard let setting = options.object(Self.member), let path = setting.string("folder"),
            let mode = setting.string("mode")
        else { return nil }
        isReplaying = mode == "replay"
        folder = ExchangeFolder(path: path, report: setting.string("report") ?? path + "/.report")
        bridge = setting.string("bridge") ?? ""
        redaction = ExchangeRedaction(secrets: setting.strings("secrets"))
        rules = setting.objects("faults").map(FaultRule.init)
        recordedAt = setting.integer("recorded").map(Int64.init) ?? Int64(time(nil))
    }

    /// Removes a secret of the bridge's options wherever it occurs.
    package func hide(secret: String) { redaction.hide(secret: secret) }

    /// Removes the values of the header field with this name.
    package func hide(header: String) { redaction.hide(header: header) }

    // MARK: Time

    /// Seconds since 1970; in a replay, the recording's time.
    public var now: Int64 { isReplaying ? recordedAt + Int64(seconds) : Int64(time(nil)) }

    /// When the recording of the command began, in seconds since 1970.
    ///
    /// A request that holds the present time takes this one: it is the same in the recording and in each replay.
    public var start: Int64 { recordedAt }

    /// Seconds since the instance was opened; in a replay, the recording's time plus the delays of faults.
    public var seconds: Double {
        isReplaying ? state.withLock { $0.seconds } : MonotonicClock.seconds - began
    }

    func pass(_ seconds: Double) { state.withLock { $0.seconds += seconds } }

    func reach(_ seconds: Int) { state.withLock { $0.seconds = max($0.seconds, Double(seconds)) } }

    // MARK: Recording

    /// Records the start of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isToken: Whether the reply holds a token: every text in it is treated as a secret.
    public func begin(_ request: Exchange.Request, isToken: Bool = false) -> Take {
        let number = state.withLock { state in
            state.takes += 1
            return state.takes
        }
        let asked = asked(request, counts: !isToken)
        return Take(
            self, asked, fault: fault(before: asked), isToken: isToken, isExact: request.isExact, number: number)
    }

    /// Returns the fault planned before a request that is being recorded; the requests after the fault are recorded,
    /// too.
    private func fault(before asked: ExchangeFile) -> ExchangeFault? {
        for rule in rules where rule.exchange == nil && rule.fits(asked, name: "") {
            let place = "\(rule.index) \(asked.entity ?? "") \(asked.method) \(asked.target)"
            let done = state.withLock { $0.faulted[place, default: 0] }
            guard done < rule.faults.count else { continue }
            state.withLock { $0.faulted[place] = done + 1 }
            if case .slow = rule.faults[done] { continue }
            return rule.faults[done]
        }
        return nil
    }

    /// A running request, written together with its reply.
    public final class Take: Sendable {
        private let tape: ExchangeTape
        private let file: ExchangeFile
        private let isToken: Bool
        private let isExact: Bool
        private let name: String
        private let isWritten = Mutex(false)
        /// The planned fault.
        ///
        /// If set, do not send the request; nothing is written.
        public let fault: ExchangeFault?

        fileprivate init(
            _ tape: ExchangeTape, _ file: ExchangeFile, fault: ExchangeFault?, isToken: Bool, isExact: Bool,
            number: Int
        ) {
            self.fault = fault
            self.isExact = isExact
            self.tape = tape
            self.file = file
            self.isToken = isToken
            // Several processes write files, which are later sorted by when requests began.
            let digits = String(Int64(MonotonicClock.seconds * 1e6))
            name = String(repeating: "0", count: max(0, 18 - digits.count)) + digits + "-\(getpid())-\(number)"
        }

        /// Adds the credentials in the reply's header fields as known secrets once its head is complete: the next
        /// request may quote them.
        package func learn(_ headers: [Exchange.Field]) { tape.redaction.learn(from: headers) }

        /// Writes the exchange; only the first call has an effect.
        ///
        /// - Throws: `BridgeError` when the file cannot be written.
        public func finish(_ reply: Exchange.Reply) throws {
            let isFirst = isWritten.withLock { isWritten in
                defer { isWritten = true }
                return !isWritten
            }
            guard isFirst else { return }
            var file = file
            switch reply {
            case .answer(let status, let headers, let body):
                file.status = status
                let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
                // A body may have the value of a cookie. The fields are cleaned last, for a body may give a token, too.
                tape.redaction.learn(from: headers)
                file.replyBody =
                    isExact
                    ? tape.redaction.clean(exact: body)
                    : tape.redaction.clean(body: body, type: type, isReply: true, isToken: isToken)
                file.replyHeaders = tape.redaction.clean(headers, isReply: true)
            case .failure(let code, let message, let isRetryable):
                file.status = "failed \(code.rawValue)\(isRetryable ? " retryable" : "")"
                file.replyBody = .text(tape.redaction.clean(message))
            }
            try tape.folder.write(file, as: "\(name)-\(file.method)\(Self.slug(file.target))")
        }

        private static func slug(_ target: String) -> String {
            var path = target[...]
            if let scheme = path.firstRange(of: "://") {
                path = path[scheme.upperBound...].drop { $0 != "/" }
            }
            let words = path.prefix { $0 != "?" }.split {
                !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "." || $0 == "_")
            }
            return words.suffix(3).map { "-" + $0.prefix(30) }.joined()
        }
    }

    /// Returns the request in the form in which it is written and compared.
    ///
    /// - Parameter counts: Whether the request is a step of its scan.
    func asked(_ request: Exchange.Request, counts: Bool) -> ExchangeFile {
        var file = ExchangeFile()
        file.bridge = bridge
        if let scope = ExchangeScope.current {
            file.entity = scope.entity.isEmpty ? nil : scope.entity
        }
        if !isReplaying { file.after = Int(seconds) }
        file.method = request.method
        file.target = redaction.clean(target: request.target)
        file.headers = redaction.clean(request.headers)
        let type = request.headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
        file.body =
            request.isExact
            ? redaction.clean(exact: request.body)
            : redaction.clean(body: request.body, type: type, isReply: false)
        if let scope = ExchangeScope.current, scope.isReading, counts, !scope.isAside {
            file.number = number(of: ExchangeKey(file), entity: scope.entity)
        }
        return file
    }

    /// Returns the request's number in the entity's scans; a request repeated after a failure keeps its number.
    private func number(of key: ExchangeKey, entity: String) -> Int {
        state.withLock { state in
            if let known = state.asked[entity]?[key] { return known }
            let number = state.asked[entity, default: [:]].count + 1
            state.asked[entity, default: [:]][key] = number
            return number
        }
    }

    /// Calls `body` with the exchanges of this bridge, as far as all processes have used them, and appends the lines
    /// that it returns to the report.
    func withRecorded<Result: Sendable>(
        _ body: (inout RecordedExchanges) -> (more: [String], Result)
    ) throws -> Result {
        load()
        return try folder.withReport { report in
            state.withLock { state in
                state.recorded.read(report)
                return body(&state.recorded)
            }
        }
    }

    /// Reads the exchanges of this bridge, once.
    private func load() {
        guard state.withLock({ !$0.isLoaded }) else { return }
        // Invalid ones are noted in the report, so that its lock must be free.
        let files = folder.names.compactMap { name -> RecordedExchanges.Recorded? in
            guard let file = folder.exchange(name), file.bridge == bridge else { return nil }
            return RecordedExchanges.Recorded(name: name, file: file, key: ExchangeKey(file))
        }
        let recorded = RecordedExchanges(files)
        state.withLock { state in
            guard !state.isLoaded else { return }
            state.recorded = recorded
            state.isLoaded = true
        }
    }
}
