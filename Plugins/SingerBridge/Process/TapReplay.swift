internal import TextFormats
internal import BridgeKit
internal import RecordBatch
internal import SystemCalls

/// The recorded output of a tap, with the faults that a fixture simulates.
final class TapReplay: TapRun {
    private enum Ending {
        case exit(TapProcess.Exit)
        case failure(BridgeError)
    }

    private let tap: Tap
    private var lines: ArraySlice<[UInt8]> = []
    /// The bytes after the last line's end.
    private var rest: [UInt8]?
    private let ending: Ending
    private let isCancelled = Mutex(false)
    let lastMessage: String?

    init(_ tap: Tap, _ replayed: ExchangeTape.Replayed) {
        self.tap = tap
        var body: [UInt8] = []
        var said: String?
        var ending: Ending
        let silence = Ending.failure(tap.silence(lastMessage: nil))
        switch replayed.reply {
        case .failure(let code, let message, let isRetryable):
            ending = .failure(BridgeError(code, message, isRetryable: isRetryable))
        case .answer(let status, let headers, let bytes):
            body = bytes
            said = headers.first { $0.name == TapRecording.words }?.value
            ending = TapProcess.Exit(words: status).map { .exit($0) } ?? silence
        }
        switch replayed.fault {
        case nil, .answer: break
        case .timeout: (body, ending) = ([], silence)
        case .reset: (body, ending) = ([], .exit(.signal(9)))
        case .truncated: (body, ending) = (Array(body.prefix(body.count / 2)), .exit(.signal(9)))
        case .slow(let seconds): if seconds > Double(tap.options.silence) { (body, ending) = ([], silence) }
        }
        lastMessage = said
        self.ending = ending
        // In a recording, a single message may span several lines.
        if let text = String(validUTF8: body), let batch = try? JSONParser.batch(text) {
            lines = [Array(batch.json(0).utf8)]
        } else {
            lines = body.split(separator: UInt8(ascii: "\n")).map(Array.init)[...]
            if !body.isEmpty, body.last != UInt8(ascii: "\n") { rest = lines.popLast() }
        }
    }

    func next(within milliseconds: Int) throws -> TapProcess.Event {
        if isCancelled.withLock({ $0 }) { throw BridgeError(.cancelled, "\(tap.name) was told to stop") }
        if let line = lines.popFirst() { return .line(line) }
        if let bytes = rest {
            rest = nil
            return .rest(bytes)
        }
        if case .failure(let error) = ending { throw error }
        return .end
    }

    func exit() throws -> TapProcess.Exit {
        switch ending {
        case .exit(let exit): return exit
        case .failure(let error): throw error
        }
    }

    func cancel() { isCancelled.withLock { $0 = true } }

    func end() {}
}
