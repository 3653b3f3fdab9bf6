internal import Logging

/// Passes a bridge's messages to the host's logger, redacted and on one line.
struct BridgeLog: Sendable {
    let logger: Logger
    let redactor: Redactor
    /// The bridge's name in the configuration.
    let bridge: String
    private let budget = LogBudget()
    /// What the bridge has measured.
    let meter = RequestMeter()

    /// A pseudo-level: the text is a secret to redact from now on, and is not logged.
    static let secret: UInt32 = 0xFFFF
    /// A pseudo-level: the text is a measurement, as `RequestMeter` writes it.
    static let measurement: UInt32 = 0xFFFE

    init(_ logger: Logger, bridge: String, redactor: Redactor) {
        var logger = logger
        logger[metadataKey: "bridge"] = "\(bridge)"
        self.logger = logger
        self.redactor = redactor
        self.bridge = bridge
    }

    /// Logs a message from the bridge with a level of `bmo_log_level`.
    func message(_ level: UInt32, _ text: String) {
        if level == Self.secret { return redactor.learn(text) }
        if level == Self.measurement { return meter.add(text) }
        let level: Logger.Level =
            switch level {
            case 0: .debug
            case 1: .info
            case 2: .warning
            default: .error
            }
        guard logger.logLevel <= level else { return }
        switch budget.take(min(text.utf8.count, 4000)) {
        case .allowed: break
        case .exceeded:
            logger.warning(
                "bridge logs too much: the rest of this minute is dropped", metadata: ["limit": "\(LogBudget.size)"])
            return
        case .silenced: return
        }
        logger.log(level: level, "bridge message", metadata: ["message": "\(clean(text, limit: 4000))"])
    }

    /// Logs a line that the bridge printed.
    func printed(_ line: String) {
        guard logger.logLevel <= .debug else { return }
        logger.debug("bridge printed", metadata: ["line": "\(line)"])
    }

    /// Returns a bridge's text ready to show: without secrets, on one line, truncated.
    func clean(_ text: String, limit: Int) -> String {
        redactor.mask(text).onOneLine.cut(to: limit)
    }
}
