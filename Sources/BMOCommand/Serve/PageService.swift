internal import BMO
internal import Foundation
internal import SystemCalls
internal import WebPage
internal import WebServer

/// The web interface of `bmo serve` and of `bmo watch --serve`.
struct PageService: Sendable {
    private let place: ServePlace
    private let hosts: [String]
    private let output: EventOutput
    private let password: FollowedSecret?

    /// Reads the options, and the password.
    ///
    /// - Parameter output: Where the addresses are printed.
    /// - Throws: ``CommandFailure`` of wrong usage.
    init(_ options: ServeOptions, output: EventOutput) throws {
        self.output = output
        place = try ServePlace(listen: options.listen, socket: options.socket)
        hosts = try options.hosts.map(Self.host)
        if !place.isLocal, options.password == nil {
            throw CommandFailure(
                "\(options.listen ?? ServeOptions.usualAddress) can be reached from other machines: give --password "
                    + "env:NAME or --password file:PATH", exitCode: CommandFailure.usage)
        }
        password = try options.password.map { try PasswordPlace($0).followed() }
    }

    /// Checks a value of `--host`: another one would match no request.
    private static func host(_ text: String) throws -> String {
        guard let name = HostRule.name(of: text) else {
            throw CommandFailure(
                "the value \"\(text)\" of --host is not a host name; use a form like shop.example.org, without scheme, "
                    + "port or path", exitCode: CommandFailure.usage)
        }
        return name
    }

    /// Whether only people on this machine use the web interface, as far as the options say.
    var isForThisMachine: Bool { place.isLocal && hosts.isEmpty }

    /// Serves the web interface until the task is cancelled.
    ///
    /// - Parameters:
    ///   - hooks: What receives webhooks.
    ///   - counters: The metrics of this program's syncs and pushes.
    ///   - json: Whether addresses are printed as JSON.
    ///   - configuration: The followed file; forms are refused while a change of it is being read.
    ///   - reloads: Passes new configurations to the web interface.
    ///   - onStart: Called when the server listens.
    /// - Throws: ``CommandFailure`` of wrong usage if it cannot listen.
    func run(
        _ workspace: Workspace, isReadOnly: Bool = false, hooks: HookReceiver? = nil, counters: MetricsFile? = nil,
        json: Bool = false, configuration: FollowedConfiguration? = nil, reloads: SiteReloads = SiteReloads(),
        onStart: @Sendable () -> Void = {}
    ) async throws {
        let printer = AddressPrinter(place, json: json, output: output)
        var access = access(printer, isReadOnly: isReadOnly, hooks: hooks)
        if let configuration { access.mayChange = { configuration.permits() } }
        let site = WebSite(workspace, access: access, counters: counters)
        reloads.begin(with: site)
        try await serve(
            printer, { await (reloads.site ?? site).respond(to: $0) }, token: site.loginToken, prepare: site.prepare,
            close: reloads.close, onStart: onStart)
    }

    /// Serves the form of a first start, and then the web interface, until the task is cancelled.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage if it cannot listen.
    func runSetup(_ setup: SetupSite.Place) async throws {
        let printer = AddressPrinter(place, json: false, output: output)
        let site = SetupSite(setup, access: access(printer))
        try await serve(
            printer, { await site.respond(to: $0) }, token: site.loginToken, prepare: {}, close: site.close,
            onStart: {})
    }

    private func access(
        _ printer: AddressPrinter, isReadOnly: Bool = false, hooks: HookReceiver? = nil
    ) -> WebSite.Access {
        WebSite.Access(
            hosts: place.hosts(with: hosts), password: password, isReadOnly: isReadOnly, hooks: hooks,
            onNewToken: { printer.print(token: $0) })
    }

    private func serve(
        _ printer: AddressPrinter, _ respond: @escaping @Sendable (WebRequest) async -> WebResponse, token: String,
        prepare: @escaping @Sendable () async -> Void, close: () async -> Void, onStart: @Sendable () -> Void
    ) async throws {
        try place.prepare()
        // Only the user may connect to a socket.
        let mask = place.socket.map { _ in umask(0o077) }
        let isBound = Mutex(false)
        async let preparation: Void = prepare()
        let failure: WebServer.Failure?
        do {
            try await WebServer(address: place.address, handler: respond).run { port in
                if let mask { umask(mask) }
                isBound.withLock { $0 = true }
                printer.start(port: port, token: password == nil ? token : nil)
                onStart()
            }
            failure = nil
        } catch let error as WebServer.Failure {
            failure = error
        }
        await preparation
        await close()
        if let socket = place.socket, isBound.withLock({ $0 }) { unlink(socket) }
        if let failure { throw CommandFailure(failure.description, exitCode: CommandFailure.usage) }
    }
}
