internal import ArgumentParser
internal import Foundation
internal import Model

/// `bmo init`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a commented bmo.yml to start from.",
        discussion: "Does not overwrite an existing file without --force.")

    @Argument(help: ArgumentHelp("Where to write it.", valueName: "path"))
    var path: String?

    @Option(name: [.short, .long], help: ArgumentHelp("The same, as in other commands.", valueName: "path"))
    var file: String?

    @Option(
        name: [.short, .long], help: ArgumentHelp("The same, as in `bmo introspect`; - is stdout.", valueName: "path"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Write this connector: a name of `bmo connectors`, or the path of a folder or file.", valueName: "name"))
    var from: String?

    @Flag(help: "Write the configuration of the demonstration: three bridges, six entities.")
    var demo = false

    @Option(
        help: ArgumentHelp(
            "With --demo: the root of the JSON API; default: \(Self.demoURLs.rest).", valueName: "url"))
    var rest: String?

    @Option(
        help: ArgumentHelp(
            "With --demo: the WSDL of the SOAP service; default: \(Self.demoURLs.soap).", valueName: "url"))
    var soap: String?

    @Option(help: ArgumentHelp("With --demo: the SMB share; default: \(Self.demoURLs.smb).", valueName: "url"))
    var smb: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @OptionGroup var log: LogOptions

    /// The URLs in `Resources/demo.yml`.
    private static let demoURLs = (
        rest: "http://127.0.0.1:8080", soap: "http://127.0.0.1:8081/gazetteer.wsdl",
        smb: "smb://127.0.0.1:4450/documents"
    )

    /// The demonstration's configuration: three bridges, and entities that refer to each other across them.
    ///
    /// The share's password comes from the environment variable `DEMO_SMB_PASSWORD`.
    private var demonstration: String {
        let urls = Self.demoURLs
        return String(decoding: PackageResources.demo_yml, as: UTF8.self)
            .replacing("url: \(urls.rest)\n", with: "url: \(ConfigurationTemplate.scalar(rest ?? urls.rest))\n")
            .replacing("wsdl: \(urls.soap)\n", with: "wsdl: \(ConfigurationTemplate.scalar(soap ?? urls.soap))\n")
            .replacing("url: \(urls.smb)\n", with: "url: \(ConfigurationTemplate.scalar(smb ?? urls.smb))\n")
    }

    func validate() throws {
        guard [path, file, output].compactMap({ $0 }).count < 2 else {
            throw ValidationError("PATH, --file and --output are the same: give one")
        }
        if from != nil, demo { throw ValidationError("--from and --demo exclude each other") }
        guard demo || [rest, soap, smb].allSatisfy({ $0 == nil }) else {
            throw ValidationError("--rest, --soap and --smb are for --demo; `bmo introspect` examines an API")
        }
    }

    func run() throws {
        let path = path ?? file ?? output ?? "bmo.yml"
        let connector = try from.map(ConnectorCatalog.entry)
        let text = connector?.configuration(for: path) ?? (demo ? demonstration : ConfigurationTemplate.commented())
        guard path != "-" else {
            print(text, terminator: "")
            return
        }
        let options: Data.WritingOptions = force ? [.atomic] : [.withoutOverwriting]
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: options)
        } catch CocoaError.fileWriteFileExists {
            throw CommandFailure(existing: path)
        } catch {
            throw CommandFailure(unwritable: path, error)
        }
        guard let connector else {
            print("wrote \(path); edit it, then: bmo check && bmo sync")
            return
        }
        let unset = connector.variables.filter { ProcessInfo.processInfo.environment[$0] == nil }
        let option = path == "bmo.yml" ? "" : " -f \(path)"
        let first = unset.isEmpty ? "" : "set \(Terminal.printable(unset.joined(separator: ", "))), "
        print("wrote \(path); \(first)then: bmo check\(option) && bmo sync\(option)")
    }
}
