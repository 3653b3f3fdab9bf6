internal import BridgeKit
internal import Glibc

/// A tap: its program and the files passed to it.
struct Tap {
    let options: TapOptions
    let context: BridgeContext

    /// The program's name, for messages.
    var name: String { "the tap `\(program(named: options.command[0]))`" }

    /// Returns the last component of a program's path.
    func program(named path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// Returns the error for a tap that has been silent for too long.
    func silence(lastMessage: String?) -> BridgeError {
        BridgeError(
            .timeout, "\(name) has written neither records nor log lines for \(options.silence) s",
            remedy: "raise \"silence\" if it is just slow", remote: lastMessage)
    }

    /// Returns the program's path: found on `PATH`, or relative to the tap's folder if the command has a slash.
    ///
    /// - Throws: ``BridgeError``, `configuration`.
    func program() throws -> String {
        let word = options.command[0]
        if word.contains("/") {
            let path = options.resolved(word)
            if access(path, X_OK) == 0 { return path }
            throw missing("there is no program \(path)")
        }
        for folder in (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":") {
            let path = "\(folder)/\(word)"
            if access(path, X_OK) == 0 { return path }
        }
        throw missing("`\(word)` is not in any folder of PATH")
    }

    private func missing(_ reason: String) -> BridgeError {
        BridgeError(
            .configuration, "\(name) cannot be started: \(reason)",
            remedy:
                "install it (a virtual environment of its own is usual), and give the path of its program in \"command\""
        )
    }

    /// Starts the tap.
    ///
    /// - Parameters:
    ///   - catalog: The catalog's JSON; nil for none.
    ///   - state: The JSON of an earlier run's state; nil for none.
    ///   - flags: Further arguments.
    /// - Throws: ``BridgeError``.
    func start(catalog: String? = nil, state: String? = nil, flags: [String] = []) throws -> TapProcess {
        let program = try program()
        let files = try TapFiles(options.files)
        var arguments = [program] + options.command.dropFirst()
        arguments += ["--config", try files.write(options.config, to: "config.json")]
        if let catalog { arguments += [options.catalogFlag, try files.write(catalog, to: "catalog.json")] }
        if let state { arguments += ["--state", try files.write(state, to: "state.json")] }
        return try TapProcess(
            self, files: files,
            launch: TapLaunch(
                program: program, arguments: arguments + flags, options: options, inherited: files.descriptors))
    }
}
