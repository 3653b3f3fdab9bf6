package import BMO
internal import BridgeHost
internal import Importer
internal import Model
internal import StoreContract
internal import SystemCalls
internal import TextFormats
package import WebServer

/// The web interface for one configuration: it answers requests.
///
/// ```swift
/// let site = WebSite(workspace, access: .loopback)
/// let server = WebServer(address: .tcp(host: "127.0.0.1", port: 0), handler: site.respond)
/// ```
package final class WebSite: Sendable {
    /// Who may use the web interface, and whether it may change anything.
    package struct Access: Sendable {
        /// The host names that requests may use.
        package var hosts: HostRule
        /// The password that begins a session; nil if only the printed address does.
        ///
        /// Another one in its place ends all sessions.
        package var password: FollowedSecret?
        /// Whether all forms that would change something are refused.
        package var isReadOnly: Bool
        /// Returns false between a change of the configuration's file and the reading of it, when forms are refused.
        package var mayChange: @Sendable () -> Bool
        /// What receives webhooks; nil outside of a watch.
        package var hooks: HookReceiver?
        /// Called with the token of the next address to print, after one was used.
        package var onNewToken: @Sendable (String) -> Void

        /// Creates rules.
        package init(
            hosts: HostRule = .loopback, password: FollowedSecret? = nil, isReadOnly: Bool = false,
            mayChange: @escaping @Sendable () -> Bool = { true }, hooks: HookReceiver? = nil,
            onNewToken: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.hosts = hosts
            self.password = password
            self.isReadOnly = isReadOnly
            self.mayChange = mayChange
            self.hooks = hooks
            self.onNewToken = onNewToken
        }

        /// Returns whether a form may be sent to a path now.
        ///
        /// A changed configuration waits for the end of a sync that was begun in the browser, which can be stopped.
        package func allowsForm(to path: [String]) -> Bool { mayChange() || path == ["sync", "stop"] }
    }

    private let workspace: Workspace
    private let gate: SiteGate
    private let readers: StoreReaders
    private let kept: KeptOverview
    private let activity: Activity
    private let live: LiveSnapshot
    private let events: ProgressEvents
    private let counters: MetricsFile

    /// Creates the web interface; the first request opens the database.
    ///
    /// - Parameter counters: The metrics of this program's syncs and pushes, to which those of the web interface are
    ///   added.
    package convenience init(_ workspace: Workspace, access: Access, counters: MetricsFile? = nil) {
        self.init(workspace, gate: SiteGate(access), counters: counters)
    }

    init(_ workspace: Workspace, gate: SiteGate, counters: MetricsFile? = nil) {
        let counters = counters ?? MetricsFile(version: ProgramVersion.text)
        self.counters = counters
        self.workspace = workspace
        self.gate = gate
        readers = StoreReaders(workspace)
        kept = KeptOverview(workspace, readers)
        activity = Activity(workspace, counters: counters)
        live = LiveSnapshot(workspace, readers, activity)
        events = ProgressEvents(live, activity)
    }

    /// Returns the web interface for a new configuration, in which the sessions of this one go on.
    ///
    /// - Parameter hooks: What receives webhooks from now on.
    package func replacement(for workspace: Workspace, hooks: HookReceiver?) -> WebSite {
        gate.hooks.withLock { $0 = hooks }
        return WebSite(workspace, gate: gate, counters: counters)
    }

    /// Whether a sync or a push of the web interface is running.
    package var isBusy: Bool { activity.isRunning }

    /// The token of the address to print.
    package var loginToken: String { gate.sessions.loginToken }

    /// Counts the rows, so that the first page does not have to.
    ///
    /// That page then shows a failure.
    package func prepare() async { _ = try? await kept.now() }

    /// Stops a running sync and closes the database.
    package func close() async {
        await activity.end()
        readers.close()
        kept.close()
    }

    /// Answers a request.
    package func respond(to request: WebRequest) async -> WebResponse {
        var response = await answer(request)
        response.headers += SecurityHeaders.all
        return response
    }

    private func answer(_ request: WebRequest) async -> WebResponse {
        if let refusal = gate.refusal(of: request) { return refusal }
        guard request.method == "POST" else { return await get(request) }
        if request.path.count == 2, request.path[0] == "hooks" { return hook(request) }
        return await post(request)
    }

    private func context(_ session: Sessions.Session?) -> PageContext {
        PageContext(
            workspace: workspace, readers: readers, kept: kept, activity: activity, live: live,
            isReadOnly: gate.access.isReadOnly, formToken: session?.formToken ?? "")
    }

    // MARK: GET

    private func get(_ request: WebRequest) async -> WebResponse {
        if let response = gate.open(request) { return response }
        if request.path == ["health"] { return await health() }
        // Before the session is found, which prolongs it.
        if request.path == ["events"] { return events(request) }
        let session = gate.session(of: request)
        guard session != nil || gate.hasPassword(request) else { return gate.signIn(401) }
        let context = context(session)
        do {
            if request.path == ["metrics"] { return try await metrics() }
            if request.path.count == 2, request.path[0] == "entity",
                let (entity, format) = EntityExport.name(in: request.path[1])
            {
                return try await EntityExport.response(context, entity: entity, format, request.query)
            }
            let page = try await PageRouter.page(request, context)
            // A HEAD shows no page.
            let notice = request.method == "GET" ? session.flatMap(gate.sessions.takeNotice) : nil
            return SiteGate.html(200, page, path: request.path, notice: notice, context)
        } catch {
            return failed(error, request.path, context)
        }
    }

    private func events(_ request: WebRequest) -> WebResponse {
        // A stream does not prolong its session, or an open page would keep it for ever.
        if let id = gate.validSession(of: request) {
            return events.response { [gate] in gate.isValid(id) }
        }
        return gate.hasPassword(request) ? events.response { true } : gate.signIn(401)
    }

    private func health() async -> WebResponse {
        do {
            _ = try await kept.now()
            return WebResponse(200, type: "application/json", text: "{\"status\":\"ok\"}\n")
        } catch {
            // The reason may name files, so only pages show it.
            return WebResponse(503, type: "application/json", text: "{\"status\":\"unavailable\"}\n")
        }
    }

    private func metrics() async throws -> WebResponse {
        let overview = try await kept.now()
        let text = counters.text(
            overview.entities, cursors: overview.cursors, overview.outbox, conflicts: overview.conflicts)
        return WebResponse(200, type: "text/plain; version=0.0.4; charset=utf-8", text: text)
    }

    // MARK: POST

    private func post(_ request: WebRequest) async -> WebResponse {
        let (session, form): (Sessions.Session, FormFields)
        switch gate.sender(of: request) {
        case .refused(let response): return response
        case .session(let sender, let fields): (session, form) = (sender, fields)
        }
        let context = context(session)
        guard !gate.access.isReadOnly else {
            return failed(PageFailure(403, "bmo serve --read-only refuses all changes."), request.path, context)
        }
        guard gate.access.allowsForm(to: request.path) else {
            let failure = PageFailure(503, "The configuration has changed and is being read. Try again in a moment.")
            return failed(failure, request.path, context)
        }
        do {
            let action = PageAction(context, form)
            let (outcome, isRepeated) = try await gate.sentForms.outcome(of: form) {
                try await action.run(request.path)
            }
            switch outcome {
            case .shows(let page): return SiteGate.html(200, page, path: request.path, notice: nil, context)
            case .leads(let link, let notice):
                gate.sessions.leave(isRepeated ? SentForms.notice : notice, for: session)
                return WebResponse.redirect(to: link.text)
            }
        } catch {
            return failed(error, request.path, context)
        }
    }

    private func hook(_ request: WebRequest) -> WebResponse {
        // The sender tries again, so that nothing is lost while the watch is started with its page.
        gate.hooks.withLock { $0 }?.response(to: request)
            ?? WebResponse(503, text: "Only `bmo watch --serve` receives webhooks, of bridges that have a hook.\n")
    }

    // MARK: Faults

    private func failed(_ error: any Error, _ path: [String], _ context: PageContext) -> WebResponse {
        let (status, text) = PageFault.words(error)
        let page = HTMLPage(status == 404 ? "Not found" : "That did not work") {
            PagePart.notice(.bad) { for line in text.split(separator: "\n") { HTML("p") { String(line) } } }
            HTML("p") { PagePart.link(WebLink(), "Overview") }
        }
        return SiteGate.html(status, page, path: path, notice: nil, context)
    }
}
