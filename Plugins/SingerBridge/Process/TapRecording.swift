internal import BridgeKit

/// A running tap whose output is recorded as the reply to one request.
final class TapRecording: TapRun {
    /// The status of a tap that exceeded the time limit for silence.
    static let silent = "silent"
    /// The header field for the standard error of a tap that failed.
    static let words = "Words"

    private let process: TapProcess
    private let take: ExchangeTape.Take
    private var output: [UInt8] = []
    private var isOver = false

    init(_ process: TapProcess, _ take: ExchangeTape.Take) {
        self.process = process
        self.take = take
    }

    var lastMessage: String? { process.lastMessage }

    func next(within milliseconds: Int) throws -> TapProcess.Event {
        do {
            let event = try process.next(within: milliseconds)
            switch event {
            case .line(let line): output += line + [UInt8(ascii: "\n")]
            case .rest(let rest): output += rest
            case .nothing, .end: break
            }
            return event
        } catch let error as BridgeError {
            try note(error)
            throw error
        }
    }

    func exit() throws -> TapProcess.Exit {
        do {
            let exit = try process.exit()
            try finish(exit.words, failed: exit != .code(0))
            return exit
        } catch let error as BridgeError {
            try note(error)
            throw error
        }
    }

    func cancel() { process.cancel() }

    /// Ends the tap; a tap that was still running is recorded as killed.
    func end() {
        process.end()
        if !isOver { try? finish("signal 9", failed: true) }
    }

    private func note(_ error: BridgeError) throws {
        guard !isOver else { return }
        switch error.code {
        case .cancelled: isOver = true
        case .timeout: try finish(Self.silent, failed: true)
        default:
            isOver = true
            try take.finish(.failure(code: error.code, message: error.message, isRetryable: error.isRetryable))
        }
    }

    private func finish(_ status: String, failed: Bool) throws {
        guard !isOver else { return }
        isOver = true
        // The error output of a successful run contains times and is not needed.
        let headers = failed ? lastMessage.map { [Exchange.Field(Self.words, $0)] } ?? [] : []
        try take.finish(.answer(status: status, headers: headers, body: output))
    }
}
