internal import ArgumentParser
internal import BridgeHost
internal import Foundation

/// `bmo plugins install`.
struct PluginsInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Check a bridge, copy it to where bmo finds it, and pin it in bmo.lock.",
        discussion: """
            A child process loads the library to describe it; the library is copied to ~/.local/share/bmo/bridges \
            ($XDG_DATA_HOME/bmo/bridges), and its SHA-256 is written into bmo.lock beside the configuration: put that \
            file under version control. From then on a library of that name with other contents is refused.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The library, such as .build/release/libAcmeBridge.so.", valueName: "path"))
    var path: String

    func run() async throws {
        guard let folder = SearchPath.installed?.folder else {
            throw CommandFailure("neither HOME nor XDG_DATA_HOME is set: there is nowhere to install to")
        }
        let host = try options.host
        let source = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let listing = await host.inspect(path: source)
        if let refusal = listing.refusal {
            throw CommandFailure("\(path) is not a bridge: \(refusal)", exitCode: CommandFailure.usage)
        }
        if let winner = await host.plugins().first(where: { $0.name == listing.name && $0.origin == .shipped }) {
            throw CommandFailure(
                "the name `\(listing.name)` belongs to a bridge that comes with bmo (\(winner.path)): "
                    + "ask the plugin's author for another name", exitCode: CommandFailure.usage)
        }
        let target = "\(folder)/lib\(listing.name)Bridge.so"
        if source != target { try Self.copy(source, to: target, in: folder) }
        var pins = try options.pins()
        do {
            try pins.pin(listing.name, file: target)
            try Data(pins.text.utf8).write(to: URL(fileURLWithPath: pins.path), options: .atomic)
        } catch {
            throw CommandFailure("\(pins.path) cannot be written: \(error)")
        }
        print("installed \(listing.name) \(listing.version) (ABI \(listing.abi)): \(target)")
        print("pinned in \(pins.path)")
    }

    /// Copies the file next to the target and renames it, so that a running sync keeps the old file.
    private static func copy(_ source: String, to target: String, in folder: String) throws {
        let files = FileManager.default
        let temporary = "\(target).new-\(ProcessInfo.processInfo.processIdentifier)"
        do {
            try files.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            try files.copyItem(atPath: source, toPath: temporary)
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: temporary)
            guard rename(temporary, target) == 0 else {
                throw CommandFailure(String(cString: strerror(errno)))
            }
        } catch {
            try? files.removeItem(atPath: temporary)
            throw CommandFailure("\(target) cannot be written: \(error)")
        }
    }
}
