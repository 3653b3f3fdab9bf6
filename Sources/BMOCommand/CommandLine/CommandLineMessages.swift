internal import ArgumentParser
internal import Model

/// The words of a command line before parsing, with its subcommand and the position of `-f`.
///
/// The argument parser assigns an option to the command that it follows: `bmo -f FILE status` and `bmo outbox -f FILE
/// retry` would be errors, the latter about an entity `retry`.
struct CommandLineMessages {
    /// Commands that have subcommands but also take a word that need not be one.
    private static let takesWord: Set<String> = ["outbox", "quarantine", "plugins"]
    private static let fileOptions = ["-f", "--file"]

    /// The arguments, with `-f FILE` moved behind the command's last word.
    private(set) var arguments: [String]

    /// - Throws: ``CommandFailure`` for an unknown subcommand, with the nearest match.
    init(_ arguments: [String], of root: any ParsableCommand.Type) throws {
        self.arguments = arguments
        var command = root
        var names = [root.configuration.commandName ?? ""]
        var words: [String] = []
        var file: [String] = []
        var rest = arguments[...]
        while let word = rest.first {
            if Self.fileOptions.contains(word), rest.count > 1 {
                file += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if word.hasPrefix("--file=") {
                file.append(word)
                rest = rest.dropFirst()
            } else if words.isEmpty, word == "help" {
                // The words after `help` are a command, too.
                words.append(word)
                rest = rest.dropFirst()
            } else if let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word }
            ) {
                command = next
                names.append(word)
                words.append(word)
                rest = rest.dropFirst()
            } else {
                try Self.check(word, before: rest.dropFirst(), of: command, names: names)
                break
            }
        }
        guard !file.isEmpty, !words.isEmpty else { return }
        self.arguments = words + file + rest
    }

    /// - Throws: ``CommandFailure`` when `word` is in the place of a subcommand but is not one.
    private static func check(
        _ word: String, before rest: ArraySlice<String>, of command: any ParsableCommand.Type, names: [String]
    ) throws {
        let valid = Self.names(of: command)
        guard !valid.isEmpty, !word.hasPrefix("-") else { return }
        if let name = names.last, takesWord.contains(name) {
            // A single word is an entity or a plugin. Followed by another word, it must be a mistyped subcommand.
            guard let next = rest.first, !next.hasPrefix("-"), nearest(to: word, among: valid) != nil else { return }
        }
        let hint = suggestion(for: word, among: valid, what: "commands") ?? ""
        throw CommandFailure(
            "there is no command \"\((names + [word]).joined(separator: " "))\"; \(hint)",
            exitCode: CommandFailure.usage)
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        var names: [String] = []
        for subcommand in command.configuration.subcommands {
            let configuration = subcommand.configuration
            if configuration.shouldDisplay, let name = configuration.commandName { names.append(name) }
        }
        return names
    }

    /// Returns the hint that a word may be a mistyped subcommand; empty if none is similar.
    static func hint(_ word: String, of command: any ParsableCommand.Type) -> String {
        let valid = names(of: command)
        guard let name = command.configuration.commandName, let near = nearest(to: word, among: valid) else {
            return ""
        }
        return "; or did you mean `bmo \(name) \(near)`?"
    }
}
