package import Logging

/// A log handler that passes each event to a function, with the metadata of its logger.
package struct FunctionLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let write: @Sendable (LogEvent, Logger.Metadata) -> Void

    /// Creates a handler.
    package init(logLevel: Logger.Level, _ write: @escaping @Sendable (LogEvent, Logger.Metadata) -> Void) {
        self.logLevel = logLevel
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { write(event, metadata) }
}
