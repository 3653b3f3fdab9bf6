internal import ArgumentParser
internal import Foundation
internal import Model

/// `bmo init`.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a commented bmo.yml to start from.",
        discussion: "Writes nothing over a file that is there, unless --force is given.")

    @Argument(help: ArgumentHelp("Where to write it.", valueName: "path"))
    var path: String?

    @Option(name: [.short, .long], help: ArgumentHelp("The same, as other commands have it.", valueName: "path"))
    var file: String?

    @Flag(help: "Write the configuration of the demonstration: three bridges, six entities.")
    var demo = false

    @Option(help: ArgumentHelp("With --demo: the root of the JSON API.", valueName: "url"))
    var rest = "http://127.0.0.1:8080"

    @Option(help: ArgumentHelp("With --demo: the WSDL of the SOAP service.", valueName: "url"))
    var soap = "http://127.0.0.1:8081/gazetteer.wsdl"

    @Option(help: ArgumentHelp("With --demo: the SMB share.", valueName: "url"))
    var smb = "smb://127.0.0.1:4450/documents"

    @Flag(help: "Replace the file if it is there.")
    var force = false

    func validate() throws {
        if path != nil, file != nil { throw ValidationError("PATH and --file are the same: give one") }
    }

    func run() throws {
        let path = path ?? file ?? "bmo.yml"
        let text =
            demo
            ? ConfigurationTemplate.demo(restURL: rest, soapWSDL: soap, smbURL: smb) : ConfigurationTemplate.commented()
        let options: Data.WritingOptions = force ? [.atomic] : [.withoutOverwriting]
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: options)
        } catch CocoaError.fileWriteFileExists {
            throw CommandFailure("\(path) is there already; --force replaces it", exitCode: CommandFailure.usage)
        } catch {
            throw CommandFailure(unwritable: path, error)
        }
        print("wrote \(path); edit it, then: bmo check && bmo sync")
    }
}
