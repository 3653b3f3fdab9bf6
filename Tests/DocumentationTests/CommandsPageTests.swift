import Foundation
import TestSupport
import Testing

/// Compares docs/commands.md with the help of the built command, in both directions.
@Suite struct CommandsPageTests {
    @Test func `each command of the help has a section on the page, and no other has`() async throws {
        let commands = try await HelpText.commands()
        let sections = try CommandsPage.sections()
        #expect(commands.count > 30)
        #expect(Set(sections.keys) == Set(commands.keys))
    }

    @Test func `each section lists the options that its command has`() async throws {
        let sections = try CommandsPage.sections()
        for (command, options) in try await HelpText.commands() {
            let listed = CommandsPage.options(of: sections[command] ?? "")
            let common = CommandsPage.commonOptions
            #expect(options.subtracting(common).isSubset(of: listed), "docs/commands.md lacks options of \(command)")
            #expect(listed.isSubset(of: options), "docs/commands.md has options that \(command) lacks")
        }
    }

    @Test func `a usage line has the word options where its command has those of most commands`() async throws {
        let sections = try CommandsPage.sections()
        let commands = try await HelpText.commands()
        for (command, options) in commands where !commands.keys.contains(where: { $0.hasPrefix(command + " ") }) {
            let lines = sections[command]?.split(separator: "\n").filter { $0.hasPrefix("    bmo ") } ?? []
            let hasThem = options.isSuperset(of: ["--file", "--verbose", "--allow-unpinned"])
            #expect(lines.contains { $0.contains("[options]") } == hasThem, "\(command)")
        }
    }

    @Test func `each command has the options of the log`() async throws {
        let commands = try await HelpText.commands()
        for (command, options) in commands where !commands.keys.contains(where: { $0.hasPrefix(command + " ") }) {
            #expect(options.isSuperset(of: ["--log", "--log-level"]), "\(command)")
        }
    }

    @Test func `the page lists the options that most commands have`() throws {
        let page = try CommandsPage.text()
        for option in CommandsPage.commonOptions { #expect(page.contains("`\(option)"), "\(option)") }
    }
}

/// docs/commands.md.
private enum CommandsPage {
    /// The options that the page explains once, at its beginning.
    static let commonOptions: Set<String> = [
        "--file", "--verbose", "--allow-unpinned", "--log", "--log-level", "--help", "--version",
    ]

    static func text() throws -> String {
        try String(contentsOfFile: PackageFolder.path + "/docs/commands.md", encoding: .utf8)
    }

    /// The text below each heading that names a command.
    static func sections() throws -> [String: String] {
        var sections: [String: String] = [:]
        var command: String?
        for line in try text().split(separator: "\n") {
            if line.hasPrefix("#") {
                command = line.firstMatch(of: /^### `(bmo [a-z ]+)`$/).map { String($0.1) }
                if let command { sections[command] = "" }
            } else if let command {
                sections[command]? += "\(line)\n"
            }
        }
        return sections
    }

    /// The options in the first column of a section's table.
    static func options(of section: String) -> Set<String> {
        let cells = section.split(separator: "\n").filter { $0.hasPrefix("| `-") }.compactMap { row in
            row.replacing("\\|", with: "/").split(separator: "|").first
        }
        return Set(cells.flatMap { cell in cell.matches(of: /`(--[a-z-]+)/).map { String($0.1) } })
    }
}

/// The help of the built command, as `bmo --experimental-dump-help` prints it.
private struct HelpText: Decodable {
    struct Command: Decodable {
        let commandName: String
        let arguments: [Argument]?
        let subcommands: [Command]?
    }

    struct Argument: Decodable {
        let shouldDisplay: Bool
        let names: [Name]?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }

    let command: Command

    /// The long options of each command, without those that the help hides.
    static func commands() async throws -> [String: Set<String>] {
        let help = try await ProcessRun.run(Products.path(of: "bmo"), ["--experimental-dump-help"])
        try #require(help.exitCode == 0, "\(help)")
        let root = try JSONDecoder().decode(HelpText.self, from: Data(help.output.utf8)).command
        var commands: [String: Set<String>] = [:]
        collect(root.subcommands ?? [], below: root.commandName, into: &commands)
        return commands
    }

    private static func collect(
        _ subcommands: [Command], below path: String, into commands: inout [String: Set<String>]
    ) {
        for command in subcommands where command.commandName != "help" {
            let name = path + " " + command.commandName
            let shown = (command.arguments ?? []).filter(\.shouldDisplay)
            let names = shown.flatMap { $0.names ?? [] }.filter { $0.kind == "long" }
            commands[name] = Set(names.map { "--" + $0.name })
            collect(command.subcommands ?? [], below: name, into: &commands)
        }
    }
}
