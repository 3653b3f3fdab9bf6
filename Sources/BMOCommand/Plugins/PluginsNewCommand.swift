internal import ArgumentParser
internal import Foundation

/// `bmo plugins new`.
struct PluginsNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write a package for a bridge of your own, which builds and passes its test at once.",
        discussion: """
            The package has a bridge with one entity, a config, conformance.yml, a fixture, a CI file and a README \
            with the next steps.
            """)

    @Argument(
        help: ArgumentHelp(
            "What a config will call the plugin: letters a-z, digits, - and _, such as acme.", valueName: "name"))
    var name: String

    @Option(help: "swift or c.")
    var language = "swift"

    @Option(
        name: [.short, .long], help: ArgumentHelp("The folder to create; default: NAME-bridge.", valueName: "folder"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "bmo's sources, for the kit: a folder or a git address; default: those of this bmo, and for C the installed headers.",
            valueName: "path"))
    var kit: String?

    @OptionGroup var log: LogOptions

    func run() throws {
        guard let language = Scaffold.Language(rawValue: language) else {
            throw ValidationError("--language is swift or c, not \"\(language)\"")
        }
        guard name.wholeMatch(of: /[a-z][a-z0-9_-]{0,31}/) != nil else {
            throw ValidationError(
                "\"\(name)\" is not a valid name for a plugin: use a-z first, then a-z, 0-9, - and _, up to 32")
        }
        guard !["rest", "soap", "smb", "singer"].contains(name) else {
            throw ValidationError("\"\(name)\" is the name of a bridge that comes with bmo: choose another")
        }
        let kit = try kit(for: language)
        let folder = URL(fileURLWithPath: output ?? "\(name)-bridge")
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw CommandFailure(
                "\(folder.path) already exists; choose another with --output", exitCode: CommandFailure.usage)
        }
        let scaffold = Scaffold(name: name, kit: kit)
        do {
            for (path, text) in scaffold.files(language) {
                let file = folder.appendingPathComponent(path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
        } catch {
            throw CommandFailure("\(folder.path) cannot be written: \(error.localizedDescription)")
        }
        print(
            "wrote \(folder.path); next: cd \(output ?? folder.lastPathComponent) && \(scaffold.build(language)) && "
                + "bmo plugins test \(scaffold.library(language))")
    }

    /// Returns the kit: the one that the user gives, this executable's sources, or the headers installed with it.
    private func kit(for language: Scaffold.Language) throws -> Scaffold.Kit {
        if let sources = kit.map(Self.absolute) ?? Self.ownSources { return .sources(sources) }
        guard language == .c else {
            throw ValidationError(
                "this bmo does not run from its source folder: give the folder or git address of a clone with --kit; "
                    + "--language c needs only the headers that are installed with bmo")
        }
        guard let headers = Self.installedHeaders else {
            throw ValidationError(
                "the headers of the kit are not installed: install the Debian package bmo-dev, or give the folder or "
                    + "git address of a clone of bmo's sources with --kit")
        }
        return .headers(headers)
    }

    /// The folder of the headers beside the installed program: `/usr/include/bmo` for `/usr/bin/bmo`.
    private static var installedHeaders: String? {
        let folder = BuildRecord.executable.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("include/bmo")
        let header = folder.appendingPathComponent("bmo_bridge.h")
        return FileManager.default.fileExists(atPath: header.path) ? folder.path : nil
    }

    private static func absolute(_ kit: String) -> String {
        kit.contains("://") || kit.hasPrefix("git@") ? kit : URL(fileURLWithPath: kit).path
    }

    /// The package that this executable was built from.
    private static var ownSources: String? {
        var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let header = folder.appendingPathComponent("Sources/CBridge/include/bmo_bridge.h")
            if FileManager.default.fileExists(atPath: header.path) { return folder.path }
        }
        return nil
    }
}
