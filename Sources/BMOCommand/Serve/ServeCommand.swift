internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Model
internal import Synchronization
internal import WebPage
internal import WebServer

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

    @Option(
        help: ArgumentHelp(
            "Listen on this address: HOST, HOST:PORT or PORT; port 0 chooses a free one.", valueName: "address"))
    var listen = "127.0.0.1:0"

    @Option(help: ArgumentHelp("Listen on a Unix socket instead, for a reverse proxy.", valueName: "path"))
    var socket: String?

    @Flag(help: "Show everything and change nothing: refuse all forms.")
    var readOnly = false

    @Option(
        help: ArgumentHelp(
            "Where to read the password: env:NAME or file:PATH. Programs may send it as a bearer token.",
            valueName: "place"))
    var password: String?

    @Option(
        name: .customLong("host"), parsing: .singleValue,
        help: ArgumentHelp(
            "Also answer under this host name, such as that of a reverse proxy; may be repeated.",
            valueName: "name"))
    var hosts: [String] = []

    func run() async throws {
        let place = try ServePlace(listen: listen, socket: socket)
        if !place.isLocal, password == nil {
            throw CommandFailure(
                "\(listen) can be reached from other machines: give --password env:NAME or --password file:PATH",
                exitCode: CommandFailure.usage)
        }
        let secret = try password.map { try PasswordPlace($0).read() }
        let workspace = try await options.workspace()
        let printer = AddressPrinter(place)
        let site = WebSite(
            workspace,
            access: WebSite.Access(
                hosts: place.hosts(with: hosts), password: secret, isReadOnly: readOnly,
                onNewToken: { printer.print(token: $0) }))
        try place.prepare()
        // Only the user may connect to a socket.
        let mask = socket.map { _ in umask(0o077) }
        let isBound = Atomic(false)
        let work = Task {
            try await WebServer(address: place.address) { await site.respond(to: $0) }.run { port in
                if let mask { umask(mask) }
                isBound.store(true, ordering: .relaxed)
                printer.start(port: port, token: secret == nil ? site.loginToken : nil)
            }
        }
        async let preparation: Void = site.prepare()
        let signals = SignalTrap { work.cancel() }
        let result = await work.result
        signals.cancel()
        await preparation
        await site.close()
        if let socket, isBound.load(ordering: .relaxed) { unlink(socket) }
        do {
            try result.get()
        } catch let failure as WebServer.Failure {
            throw CommandFailure(failure.description, exitCode: CommandFailure.usage)
        }
        print("stopped")
    }
}
