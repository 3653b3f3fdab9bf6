internal import BridgeKit
internal import RecordBatch

/// A run of a tap: a process, or its recorded output in a fixture.
///
/// One thread reads; any thread may cancel.
protocol TapRun: AnyObject {
    /// The last lines of the tap's standard error.
    var lastMessage: String? { get }

    /// Returns the next line, waiting for at most this number of milliseconds.
    func next(within milliseconds: Int) throws -> TapProcess.Event

    /// Returns how the tap ended, once its output has ended.
    func exit() throws -> TapProcess.Exit

    /// Makes current and later calls of ``next(within:)`` throw, and ends the tap.
    func cancel()

    /// Ends the tap at once if it is still running.
    func end()
}

extension TapProcess: TapRun {}

extension Tap {
    /// The purpose of a run.
    enum Purpose {
        case discovery
        /// - Parameters:
        ///   - catalog: The catalog's JSON with the stream selected; nil for a tap without one.
        ///   - state: The JSON of an earlier run's state; nil for none.
        case stream(TapSection, catalog: String?, state: String?)
    }

    /// Starts the tap, or replays its recorded output.
    ///
    /// - Throws: ``BridgeError``.
    func run(_ purpose: Purpose) throws -> any TapRun {
        guard let tape = context.exchange else { return try start(purpose) }
        let request = exchange(purpose)
        if tape.isReplaying { return TapReplay(self, try tape.replay(request)) }
        let take = tape.begin(request)
        if let fault = take.fault { return TapReplay(self, fault.replayed) }
        do {
            return TapRecording(try start(purpose), take)
        } catch let error as BridgeError {
            try take.finish(.failure(code: error.code, message: error.message, isRetryable: error.isRetryable))
            throw error
        }
    }

    private func start(_ purpose: Purpose) throws -> TapProcess {
        switch purpose {
        case .discovery: try start(flags: ["--discover"])
        case .stream(_, let catalog, let state): try start(catalog: catalog, state: state)
        }
    }

    /// Returns the request as recorded: without the folders of this machine, and without the catalog, which another run
    /// returns.
    private func exchange(_ purpose: Purpose) -> Exchange.Request {
        let writer = RecordBatchWriter()
        func copy(_ name: String, _ json: String?) {
            guard let json, let batch = try? JSONParser.batch(json) else { return }
            writer.key(name)
            writer.copy(batch[0])
        }
        var words = [program(named: options.command[0])] + options.command.dropFirst()
        writer.object {
            switch purpose {
            case .discovery: words.append("--discover")
            case .stream(let section, _, let state):
                words.append(section.stream)
                writer.member("stream", section.stream)
                if let method = section.replication { writer.member("replication", method.rawValue) }
                if let key = section.replicationKey { writer.member("replication_key", key) }
                copy("state", state)
            }
            copy("config", options.config)
        }
        let body = (try? writer.finish()).map { Array($0.json(0).utf8) } ?? []
        return Exchange.Request(method: "RUN", target: words.joined(separator: " "), body: body)
    }
}

extension TapProcess.Exit {
    /// The notation in a recording: `exit 0`, `signal 9`.
    var words: String {
        switch self {
        case .code(let code): "exit \(code)"
        case .signal(let signal): "signal \(signal)"
        }
    }

    /// Parses the notation of a recording; a lone number is an exit code.
    init?(words: String) {
        let parts = words.split(separator: " ")
        guard let number = parts.last.flatMap({ CInt($0) }), number >= 0 else { return nil }
        switch (parts.count, parts.first) {
        case (1, _), (2, "exit"): self = .code(min(number, 255))
        case (2, "signal"): self = .signal(min(number, 64))
        default: return nil
        }
    }
}
