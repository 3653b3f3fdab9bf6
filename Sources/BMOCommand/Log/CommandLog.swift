internal import BridgeHost
internal import Foundation
internal import Logging
internal import RecordBatch
internal import StoreContract
internal import SystemCalls

/// What this process writes to stderr: text for people, or one JSON object per line for programs.
///
/// Everything that writes to stderr asks here first, so that stderr is either all text or all JSON.
enum CommandLog {
    /// The form of the log.
    enum Format: String, CaseIterable {
        case text, json
    }

    private struct Settings {
        var format = Format.text
        var level: Logger.Level?
        var isVerbose = false
    }

    private static let settings = Mutex(Settings())

    /// Chooses the form for the rest of the process.
    static func choose(_ format: Format) { settings.withLock { $0.format = format } }

    /// Chooses the least level of `--log-level`.
    static func choose(_ level: Logger.Level) { settings.withLock { $0.level = level } }

    /// Includes what `--verbose` shows, unless a level was chosen.
    static func beVerbose() { settings.withLock { $0.isVerbose = true } }

    /// Finds `--log json` before the command line is parsed, so that even a fault in it is reported as JSON.
    static func choose(from arguments: [String]) {
        let words = arguments.prefix { $0 != "--" }
        let isJSON =
            words.contains("--log=json") || zip(words, words.dropFirst()).contains { $0 == "--log" && $1 == "json" }
        if isJSON { choose(.json) }
    }

    /// Whether stderr receives JSON.
    static var isJSON: Bool { settings.withLock { $0.format == .json } }

    /// The least level of what is logged.
    ///
    /// Without options, text shows only the errors of the host and the bridges, because the command's own messages say
    /// the rest.
    static var level: Logger.Level {
        settings.withLock { $0.level ?? ($0.isVerbose ? .debug : $0.format == .json ? .info : .error) }
    }

    /// Whether text shows what only a verbose log does.
    static var showsDetails: Bool { level <= .debug }

    /// The logger of the host and the bridges.
    static var logger: Logger {
        let isJSON = isJSON
        var logger = Logger(label: "bmo") { label -> any LogHandler in
            guard isJSON else { return StreamLogHandler.standardError(label: label) }
            return FunctionLogHandler(logLevel: .info) { event, metadata in
                write(event.level, event.message.description, metadata.merging(event.metadata ?? [:]) { $1 })
            }
        }
        logger.logLevel = level
        return logger
    }

    private static let lines = Mutex(())

    /// Writes a line of JSON if the level is at least that of the log.
    static func write(_ level: Logger.Level, _ message: String, _ facts: Logger.Metadata = [:]) {
        guard level >= self.level else { return }
        let line = LogLine(time: Clock.now(), level: level, message: message, facts: facts)
        // A pipe takes more than 4,096 bytes in parts (pipe(7)): lines of several threads must not mix.
        lines.withLock { _ in _ = try? FileHandle.standardError.write(contentsOf: Data((line.json + "\n").utf8)) }
    }
}
