internal import ArgumentParser
internal import Logging

/// The options of all commands that choose the log.
struct LogOptions: ParsableArguments {
    /// The levels of a log, from the least.
    enum Level: String, CaseIterable, ExpressibleByArgument {
        case trace, debug, info, notice, warning, error
    }

    @Option(
        help: ArgumentHelp(
            "The form of the log on stderr: text, or JSON with one object per line.", valueName: "form"))
    var log = CommandLog.Format.text

    @Option(
        help: ArgumentHelp(
            "The least level of the log; default: info with --log json, else error.", valueName: "level"))
    var logLevel: Level?

    /// Chooses the log as soon as the options are known, before the command runs.
    func validate() {
        CommandLog.choose(log)
        if let level = logLevel.flatMap({ Logger.Level(rawValue: $0.rawValue) }) { CommandLog.choose(level) }
    }
}

extension CommandLog.Format: ExpressibleByArgument {}
