internal import ArgumentParser
internal import BMO
internal import Model
internal import WebPage

/// `bmo serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a web interface to the database: rows, history, conflicts and other decisions.",
        discussion: """
            The command prints an address that starts a session in one browser, and runs until SIGTERM or Ctrl-C. Each \
            address works once; when it is used, the next one is printed. With --password, sessions start with the \
            password instead, and the printed address lets no one in.

            If the configuration does not exist yet, a form has an API examined, shows what was found, and writes it.

            The server listens on 127.0.0.1 only. Another address needs --password, and a reverse proxy that speaks \
            TLS, because bmo does not.

            docs/serve.md describes the pages, what they cost, and the defences.
            """)

    @OptionGroup var options: WorkspaceOptions

    @OptionGroup var serve: ServeOptions

    @Flag(help: "Show everything and change nothing: refuse all forms.")
    var readOnly = false

    func run() async throws {
        let output = EventOutput()
        let service = try PageService(serve, output: output)
        let file = options.configurationFile
        let work: Task<Void, any Error>
        // From other machines, the form would reach servers that only this machine reaches.
        if file.isMissing, !readOnly, service.isForThisMachine {
            let setup = SetupSite.Place(file: options.file, host: try options.host, stores: try Stores.chosen)
            Terminal.error("there is no \(options.file) yet: the page writes one", prefix: "bmo: note: ")
            work = Task { try await service.runSetup(setup) }
        } else {
            let options = options
            let configuration = FollowedConfiguration(
                path: options.file, for: "the web interface", load: { try await options.workspace($0) })
            let workspace = try await configuration.start()
            let isReadOnly = readOnly
            let reloads = SiteReloads()
            work = Task {
                let following = Task { await reloads.follow(configuration) }
                defer { following.cancel() }
                try await service.run(
                    workspace, isReadOnly: isReadOnly, configuration: configuration, reloads: reloads)
            }
        }
        let signals = SignalTrap { work.cancel() }
        let result = await work.result
        signals.cancel()
        try result.get()
        output.print("stopped")
        try output.check()
    }
}
