import BMO
import Foundation

/// The app: `Notes [bmo.yml]`, where `NOTES_URL` is the address of the server.
@main
struct Notes {
    static func main() async throws {
        let config = CommandLine.arguments.dropFirst().first ?? "bmo.yml"
        guard let url = ProcessInfo.processInfo.environment["NOTES_URL"] else {
            FileHandle.standardError.write(Data("Notes: set NOTES_URL to the address of the server\n".utf8))
            exit(2)
        }
        let terminal = Terminal()
        await App(terminal, Account(config: config, url: url)).run()
        terminal.restore()
    }
}
