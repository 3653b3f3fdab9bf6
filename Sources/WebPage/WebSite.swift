package import BMO
internal import BridgeHost
internal import Importer
internal import Model
internal import StoreContract
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
        package var password: String?
        /// Whether all forms that would change something are refused.
        package var isReadOnly: Bool
        /// What receives webhooks; nil outside of a watch.
        package var hooks: HookReceiver?
        /// Called with the token of the next address to print, after one was used.
        package var onNewToken: @Sendable (String) -> Void

        /// Creates rules.
        package init(
            hosts: HostRule = .loopback, password: String? = nil, isReadOnly: Bool = false,
            hooks: HookReceiver? = nil, onNewToken: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.hosts = hosts
            self.password = password
            self.isReadOnly = isReadOnly
            self.hooks = hooks
            self.onNewToken = onNewToken
        }
    }

    /// The name of the session's cookie, unique per process: a browser sends a host's cookies to all of its ports.
    private let cookie = "bmo-session-\(RandomToken.make().prefix(8))"

    private let workspace: Workspace
    private let access: Access
    private let sessions = Sessions()
    private let readers: StoreReaders
    private let kept: KeptOverview
    private let activity: Activity
    private let live: LiveSnapshot
    private let events: ProgressEvents

    /// Creates the web interface; the first request opens the database.
    package init(_ workspace: Workspace, access: Access) {
        self.workspace = workspace
        self.access = access
        readers = StoreReaders(workspace)
        kept = KeptOverview(workspace, readers)
        activity = Activity(workspace)
        live = LiveSnapshot(workspace, readers, activity)
        events = ProgressEvents(live, activity)
    }

    /// The token of the address to print.
    package var loginToken: String { sessions.loginToken }

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

    // MARK: Access

    private func answer(_ request: WebRequest) async -> WebResponse {
        guard let host = request.header("host"), access.hosts.allows(host) else {
            return WebResponse(
                403, text: "bmo serve does not answer under this host name; `bmo serve --host NAME` adds a name.\n")
        }
        switch request.method {
        case "GET", "HEAD":
            guard OriginRule.allowsReading(request) else {
                return WebResponse(403, text: "Another site must not embed this page.\n")
            }
            return await get(request)
        case "POST":
            guard OriginRule.allows(request) else {
                return WebResponse(403, text: "The form was sent from another site.\n")
            }
            if request.path.count == 2, request.path[0] == "hooks" { return hook(request) }
            return await post(request)
        default:
            return WebResponse(405, headers: [("Allow", "GET, HEAD, POST")])
        }
    }

    private func session(of request: WebRequest) -> Sessions.Session? {
        request.cookies[cookie].flatMap(sessions.session)
    }

    /// Returns whether a program without a session sends the password (RFC 6750).
    private func hasPassword(_ request: WebRequest) -> Bool {
        guard let password = access.password, let given = request.header("authorization"),
            given.prefix(7).lowercased() == "bearer "
        else { return false }
        return sessions.accepts(password: String(given.dropFirst(7)), is: password)
    }

    private func welcome(_ session: Sessions.Session) -> WebResponse {
        var response = WebResponse.redirect(to: "/")
        response.headers.append(("Set-Cookie", "\(cookie)=\(session.id); Path=/; HttpOnly; SameSite=Strict"))
        return response
    }

    private func signIn(_ status: Int, fault: String? = nil) -> WebResponse {
        let page = SignInPage.make(hasPassword: access.password != nil, fault: fault)
        return html(status, page, path: ["login"], notice: nil, nil)
    }

    private func context(_ session: Sessions.Session?) -> PageContext {
        PageContext(
            workspace: workspace, readers: readers, kept: kept, activity: activity, live: live,
            isReadOnly: access.isReadOnly, formToken: session?.formToken ?? "")
    }

    // MARK: GET

    private func get(_ request: WebRequest) async -> WebResponse {
        switch request.path {
        case ["style.css"]: return WebResponse(200, type: "text/css; charset=utf-8", text: Stylesheet.text)
        case ["icon.svg"]: return WebResponse(200, type: "image/svg+xml", text: Icon.text)
        case ["health"]: return await health()
        case ["login"]:
            // A program that only probes an address, by HEAD, must not use it up.
            guard request.method == "GET", let token = request.query["token"] else { return signIn(401) }
            guard let session = sessions.begin(token: token) else {
                return signIn(
                    401, fault: "This address has already been used, or it is not the one that was printed last.")
            }
            access.onNewToken(sessions.loginToken)
            return welcome(session)
        default: break
        }
        // Before the session is found, which prolongs it.
        if request.path == ["events"] { return events(request) }
        let session = session(of: request)
        guard session != nil || hasPassword(request) else { return signIn(401) }
        let context = context(session)
        do {
            if request.path == ["metrics"] { return try await metrics() }
            if request.path.count == 2, request.path[0] == "entity",
                let (entity, format) = EntityExport.name(in: request.path[1])
            {
                return try await EntityExport.response(context, entity: entity, format, request.query)
            }
            let page = try await PageRouter.page(request, context)
            return html(200, page, path: request.path, notice: session.flatMap(sessions.takeNotice), context)
        } catch {
            return failed(error, request.path, context)
        }
    }

    private func events(_ request: WebRequest) -> WebResponse {
        // A stream does not prolong its session, or an open page would keep it for ever.
        if let id = request.cookies[cookie], sessions.isValid(id) {
            return events.response { [sessions] in sessions.isValid(id) }
        }
        return hasPassword(request) ? events.response { true } : signIn(401)
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
        let text = MetricsFile.stateText(
            overview.entities, cursors: overview.cursors, overview.outbox, conflicts: overview.conflicts,
            version: ProgramVersion.text)
        return WebResponse(200, type: "text/plain; version=0.0.4; charset=utf-8", text: text)
    }

    // MARK: POST

    private func post(_ request: WebRequest) async -> WebResponse {
        guard let form = request.form else {
            return WebResponse(415, text: "A form must have the type application/x-www-form-urlencoded.\n")
        }
        if request.path == ["login"] { return login(form) }
        guard let session = session(of: request) else { return signIn(401) }
        guard let token = form["token"], ConstantTime.equal(session.formToken, token) else {
            return WebResponse(403, text: "The form does not belong to this session; reload its page.\n")
        }
        if request.path == ["logout"] {
            sessions.end(session)
            return WebResponse.redirect(to: "/login")
        }
        let context = context(session)
        guard !access.isReadOnly else {
            return failed(PageFailure(403, "bmo serve --read-only refuses all changes."), request.path, context)
        }
        do {
            switch try await PageAction(context, form).run(request.path) {
            case .shows(let page): return html(200, page, path: request.path, notice: nil, context)
            case .leads(let link, let notice):
                sessions.leave(notice, for: session)
                return WebResponse.redirect(to: link.text)
            }
        } catch {
            return failed(error, request.path, context)
        }
    }

    private func hook(_ request: WebRequest) -> WebResponse {
        // The sender tries again, so that nothing is lost while the watch is started with its page.
        access.hooks?.response(to: request)
            ?? WebResponse(503, text: "Only `bmo watch --serve` receives webhooks, of bridges that have a hook.\n")
    }

    private func login(_ form: FormFields) -> WebResponse {
        guard let password = access.password else { return signIn(401) }
        switch sessions.begin(password: form["password"] ?? "", is: password) {
        case .began(let session): return welcome(session)
        case .wrong: return signIn(401, fault: "The password is wrong.")
        case .tooMany: return signIn(429, fault: "There were too many wrong passwords; try again in a minute.")
        }
    }

    // MARK: Responses

    private func html(
        _ status: Int, _ page: HTMLPage, path: [String], notice: Notice?, _ context: PageContext?
    ) -> WebResponse {
        let document = PageShell.document(page, path: path, notice: notice, context)
        return WebResponse(
            status, headers: [("Content-Type", "text/html; charset=utf-8")], body: document.bytes)
    }

    private func failed(_ error: any Error, _ path: [String], _ context: PageContext) -> WebResponse {
        let (status, text) = PageFault.words(error)
        let page = HTMLPage(status == 404 ? "Not found" : "That did not work") {
            PagePart.notice(.bad) { for line in text.split(separator: "\n") { HTML("p") { String(line) } } }
            HTML("p") { PagePart.link(WebLink(), "Overview") }
        }
        return html(status, page, path: path, notice: nil, context)
    }
}
