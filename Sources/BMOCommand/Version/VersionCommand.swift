internal import ArgumentParser
internal import BridgeHost
internal import Foundation
internal import RecordBatch
internal import TextFormats

/// `bmo version`.
struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version; with --verbose also the build, the plugins and the libraries.",
        discussion: "Include the output of `bmo version --verbose` in a bug report.")

    @Flag(name: [.short, .long], help: "Also print the build, the plugins, and the libraries with their versions.")
    var verbose = false

    @Flag(help: "Print everything as a JSON object.")
    var json = false

    @OptionGroup var log: LogOptions

    func run() async throws {
        guard verbose || json else {
            print("bmo \(ProgramVersion.text)")
            return
        }
        guard json else { return print(await Self.everything()) }
        let plugins = await BridgeHost(logger: CommandLog.logger).plugins()
        // The files first: asking a library for its version may load it.
        let files = LinkedLibraries.files
        print(Self.json(plugins, files, LinkedLibraries.versions))
    }

    /// The text of `bmo version --verbose`.
    static func everything() async -> String {
        let plugins = await BridgeHost(logger: CommandLog.logger).plugins()
        let files = LinkedLibraries.files
        return text(plugins, files, LinkedLibraries.versions)
    }

    private static func text(
        _ plugins: [PluginListing], _ files: [String], _ versions: [(library: String, version: String)]
    ) -> String {
        let build = BuildRecord.own.map { "commit \($0.commit) of \($0.date)" } ?? "from sources, no package"
        let bridges = plugins.map { plugin in
            let state = plugin.refusal.map { "refused: \(Terminal.printable($0))" } ?? "ABI \(plugin.abi)"
            return "  \(plugin.name) \(plugin.version) (\(state)): \(plugin.path)"
        }
        return """
            bmo \(ProgramVersion.text)
            build: \(build)
            program: \(BuildRecord.executable.path)

            plugins:
            \(bridges.joined(separator: "\n"))

            libraries:
            \(versions.map { "  \($0.library): \(Terminal.printable($0.version))" }.joined(separator: "\n"))

            linked:
            \(files.map { "  " + $0 }.joined(separator: "\n"))
            """
    }

    private static func json(
        _ plugins: [PluginListing], _ files: [String], _ versions: [(library: String, version: String)]
    ) -> String {
        RecordBatchWriter.json { writer in
            writer.member("version", ProgramVersion.text)
            writer.member("commit", BuildRecord.own?.commit)
            writer.member("date", BuildRecord.own?.date)
            writer.member("program", BuildRecord.executable.path)
            writer.key("plugins")
            writer.array {
                for plugin in plugins {
                    writer.object {
                        writer.member("name", plugin.name)
                        writer.member("version", plugin.version)
                        writer.member("abi", plugin.abi)
                        writer.member("compiler", plugin.compiler)
                        writer.member("path", plugin.path)
                        writer.member("refusal", plugin.refusal)
                    }
                }
            }
            writer.key("libraries")
            writer.object { for (library, version) in versions { writer.member(library, version) } }
            writer.key("linked")
            writer.array { for file in files { writer.text(file) } }
        }
    }
}
