internal import BridgeKit
internal import Glibc

/// A tap: the program, and the files that it is given.
struct Tap {
    let options: TapOptions
    let context: BridgeContext

    /// The program's name, for messages.
    var name: String { "the tap `\(program(named: options.command[0]))`" }

    /// The last part of a program's path.
    func program(named path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    /// Why a tap that says nothing more is given up.
    func silence(lastWords: String?) -> BridgeError {
        BridgeError(
            .timeout, "\(name) has neither written nor said anything for \(options.silence) s",
            remedy: "raise \"silence\" if it is just slow", remote: lastWords)
    }

    /// The program's path: on `PATH`, or from the tap's folder on where the command has a slash.
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
        throw missing("`\(word)` is on no folder of PATH")
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
    ///   - state: The JSON of what an earlier run left; nil for none.
    ///   - flags: What else stands on the command line.
    /// - Throws: ``BridgeError``.
    func start(catalog: String? = nil, state: String? = nil, flags: [String] = []) throws -> TapProcess {
        let program = try program()
        let files = try TapFiles()
        var arguments = [program] + options.command.dropFirst()
        arguments += ["--config", try files.write(options.config, to: "config.json")]
        if let catalog { arguments += [options.catalogFlag, try files.write(catalog, to: "catalog.json")] }
        if let state { arguments += ["--state", try files.write(state, to: "state.json")] }
        return try TapProcess(
            self, files: files, launch: TapLaunch(program: program, arguments: arguments + flags, options: options))
    }
}

/// The files of one run of a tap: in a folder and with modes that keep others out, and gone with the run.
final class TapFiles {
    private let folder: String
    private var paths: [String] = []

    init() throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/bmo-tap-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw BridgeError(.internal, "no folder can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        folder = String(cString: made)
    }

    /// The path of a file with this text, which only this user can read.
    func write(_ text: String, to name: String) throws -> String {
        let path = "\(folder)/\(name)"
        let mask = umask(0o077)
        let file = fopen(path, "wxe")
        umask(mask)
        guard let file else {
            throw BridgeError(.internal, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        paths.append(path)
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else {
            throw BridgeError(.internal, "\(path) cannot be written: the disk may be full")
        }
        return path
    }

    deinit {
        for path in paths { unlink(path) }
        rmdir(folder)
    }
}
