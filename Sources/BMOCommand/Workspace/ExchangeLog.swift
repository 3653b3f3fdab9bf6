internal import Foundation
internal import Logging

/// The host's log while a fixture runs; it also records retries in the run's report.
struct ExchangeLog: LogHandler {
    private var base: any LogHandler
    private let report: String

    static func logger(over logger: Logger, report: String) -> Logger {
        var other = logger
        let level = logger.logLevel
        other.handler = ExchangeLog(base: logger.handler, report: report, shown: level)
        return other
    }

    private let shown: Logger.Level
    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }
    /// The level of the messages that the report needs.
    var logLevel = Logger.Level.info

    private init(base: any LogHandler, report: String, shown: Logger.Level) {
        self.base = base
        self.report = report
        self.shown = shown
        logLevel = min(shown, .info)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        if event.message == "fetch is tried again", let file = fopen(report, "ae") {
            let entity = event.metadata?["entity"].map { "\($0)" } ?? ""
            fputs("retry \(entity)\n", file)
            fclose(file)
        }
        if event.level >= shown { base.log(event: event) }
    }
}
