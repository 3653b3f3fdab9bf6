internal import Logging

/// Takes what a bridge says to the host's logger, redacted and on one line.
struct BridgeLog: Sendable {
    let logger: Logger
    let redactor: Redactor
    /// The bridge's name in the configuration.
    let bridge: String

    init(_ logger: Logger, bridge: String, redactor: Redactor) {
        var logger = logger
        logger[metadataKey: "bridge"] = "\(bridge)"
        self.logger = logger
        self.redactor = redactor
        self.bridge = bridge
    }

    /// A message of the bridge's own, with a level of `bmo_log_level`.
    func message(_ level: UInt32, _ text: String) {
        let level: Logger.Level =
            switch level {
            case 0: .debug
            case 1: .info
            case 2: .warning
            default: .error
            }
        guard logger.logLevel <= level else { return }
        logger.log(level: level, "bridge message", metadata: ["message": "\(clean(text, limit: 4000))"])
    }

    /// A line that a bridge printed.
    func printed(_ line: String) {
        guard logger.logLevel <= .debug else { return }
        logger.debug("bridge printed", metadata: ["line": "\(line)"])
    }

    /// Text of a bridge as it may be shown: without secrets, on one line, not endless.
    func clean(_ text: String, limit: Int) -> String {
        redactor.redact(text).onOneLine.cut(to: limit)
    }
}
