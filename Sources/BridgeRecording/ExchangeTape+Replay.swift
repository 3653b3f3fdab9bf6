internal import BridgeContract

extension ExchangeTape {
    /// The replayed result of a request.
    public struct Replayed: Sendable {
        /// The fault injected into the request; nil for none.
        public var fault: ExchangeFault?
        /// The recorded reply, or the reply that the fault produces.
        public var reply: Exchange.Reply
    }

    /// Answers a request from the recording: with the first unused exchange that matches, preceded by planned faults.
    ///
    /// During a scan, an exchange that was recorded once may answer repeatedly, because the scan may restart after a
    /// fault.
    ///
    /// - Throws: `BridgeError` for a request that was not recorded, with the nearest recorded request and the
    ///   differences.
    public func replay(_ request: Exchange.Request, isToken: Bool = false) throws -> Replayed {
        let asked = asked(request, counts: !isToken)
        let key = ExchangeKey(asked)
        let mayRepeat = ExchangeScope.current?.isReading ?? true
        let choice = try withRecorded { recorded -> (more: [String], Choice) in
            let own = recorded.firstUnused(key, of: asked.entity)
            guard let found = own ?? (mayRepeat ? recorded.last(key, of: asked.entity) : nil) else {
                let words = unmatched(key, asked, recorded)
                let doesWrite = !mayRepeat && !isToken && !Self.readingMethods.contains(asked.method)
                return (["\(doesWrite ? "unmatched-write" : "unmatched") \(words)"], .none(words))
            }
            let planned = rules.filter { $0.fits(found.file, name: found.name) }
                .flatMap { rule in rule.faults.map { (fault: $0, rule: rule.index) } }
            let done = recorded.faults(before: found.name)
            if done < planned.count, recorded.isUnused(found.name) {
                let (fault, rule) = planned[done]
                let note = "fault \(found.name) \(fault.word) \(rule)"
                // A fault that only adds delay also uses up the reply.
                if case .slow = fault, done == planned.count - 1 {
                    return ([note, "used \(found.name)"], .found(found, fault))
                }
                return ([note], .found(found, fault))
            }
            return (["\(own == nil ? "again" : "used") \(found.name)"], .found(found, nil))
        }
        switch choice {
        case .none(let words):
            throw BridgeError(
                .internal, words, remedy: "record the case again, or correct the exchange", location: asked.target)
        case .found(let found, let fault):
            reach(found.file.after)
            if case .slow(let seconds) = fault { pass(seconds) }
            if let fault, case .answer(_, let headers, _) = fault {
                pass(headers.first { $0.name.lowercased() == "retry-after" }.flatMap { Double($0.value) } ?? 0)
                return fault.replayed
            }
            return Replayed(fault: fault, reply: found.file.reply)
        }
    }

    /// Methods of HTTP and of file shares that change nothing.
    private static let readingMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "LIST", "READ", "RUN", "STATUS", "OWNERS",
    ]

    private enum Choice {
        case none(String)
        case found(RecordedExchanges.Recorded, ExchangeFault?)
    }

    private func unmatched(_ key: ExchangeKey, _ asked: ExchangeFile, _ recorded: RecordedExchanges) -> String {
        let what = "\(asked.method) \(asked.target)"
        if let last = recorded.last(key) {
            return "\(what) was requested again; it was recorded only as \(last.name)"
        }
        let candidates = recorded.all.map { (weight: key.differences(from: $0.key, describes: false).weight, $0) }
        // Of two equally near exchanges, prefer the unused one.
        guard
            let (_, nearest) = candidates.min(by: {
                ($0.weight, recorded.isUnused($0.1.name) ? 0 : 1) < ($1.weight, recorded.isUnused($1.1.name) ? 0 : 1)
            })
        else {
            return "\(what) was not recorded; nothing was recorded for the bridge \(bridge)"
        }
        return "\(what) was not recorded; the nearest is \(nearest.name): \(key.differences(from: nearest.key).words)"
    }
}

extension ExchangeFile {
    /// The reply in the form in which the bridge would have received it.
    var reply: Exchange.Reply {
        let words = status.split(separator: " ")
        guard words.first == "failed" else {
            return .answer(status: status, headers: replyHeaders, body: replyBody.bytes)
        }
        let code = words.dropFirst().first.flatMap { BridgeError.Code(rawValue: String($0)) } ?? .unreachable
        return .failure(
            code: code, message: String(decoding: replyBody.bytes, as: UTF8.self),
            isRetryable: words.last == "retryable")
    }
}
