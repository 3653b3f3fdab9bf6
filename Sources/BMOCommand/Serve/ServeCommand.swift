internal import ArgumentParser

/// `bmo serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a web interface to the database: rows, history, conflicts and other decisions.",
        discussion: """
            The command prints an address that starts a session in one browser, and runs until SIGTERM or Ctrl-C. Each \
            address works once; when it is used, the next one is printed. With --password, sessions start with the \
            password instead, and the printed address lets no one in.

            The server listens on 127.0.0.1 only. Another address needs --password, and a reverse proxy that speaks \
            TLS, because bmo does not.

            docs/serve.md describes the pages, what they cost, and the defences.
            """)

    @OptionGroup var options: WorkspaceOptions

    @OptionGroup var serve: ServeOptions

    @Flag(help: "Show everything and change nothing: refuse all forms.")
    var readOnly = false

    func run() async throws {
        let service = try PageService(serve)
        let workspace = try await options.workspace()
        let isReadOnly = readOnly
        let work = Task { try await service.run(workspace, isReadOnly: isReadOnly) }
        let signals = SignalTrap { work.cancel() }
        let result = await work.result
        signals.cancel()
        try result.get()
        print("stopped")
    }
}
