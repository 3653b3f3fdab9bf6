internal import BMO
package import BridgeHost
internal import Model
package import StoreContract
internal import SystemCalls
package import WebServer

/// The site of a first start: without a configuration, a form has an API examined and writes one; then it is the web
/// interface for it.
///
/// The requests pass the same checks as those of ``WebSite``. A form names only a URL; what is written is what the
/// examination found, never a text from a request, to the one file that the command line names, which must not exist.
package final class SetupSite: Sendable {
    /// What the site needs.
    package struct Place: Sendable {
        /// The file that is written.
        package var file: String
        /// The host that finds plugins.
        package var host: BridgeHost
        /// The kind of database.
        package var stores: any StoreProvider

        /// Creates a place.
        package init(file: String, host: BridgeHost, stores: any StoreProvider) {
            self.file = file
            self.host = host
            self.stores = stores
        }
    }

    private struct State {
        var site: WebSite?
        var isLooking = false
        var finding: SetupFinding?
    }

    /// How long an examination may take.
    private static let timeout: Duration = .seconds(60)

    private let place: Place
    private let gate: SiteGate
    private let state = Mutex(State())

    /// Creates the site.
    package init(_ place: Place, access: WebSite.Access) {
        self.place = place
        gate = SiteGate(access)
    }

    /// The token of the address to print.
    package var loginToken: String { gate.sessions.loginToken }

    /// Ends the web interface, if it has begun.
    package func close() async { await state.withLock { $0.site }?.close() }

    /// Answers a request.
    package func respond(to request: WebRequest) async -> WebResponse {
        if let site = state.withLock({ $0.site }) { return await site.respond(to: request) }
        var response = await answer(request)
        response.headers += SecurityHeaders.all
        return response
    }

    private func answer(_ request: WebRequest) async -> WebResponse {
        if let refusal = gate.refusal(of: request) { return refusal }
        guard request.method == "POST" else { return get(request) }
        switch gate.sender(of: request) {
        case .refused(let response): return response
        case .session(let session, let form):
            switch request.path {
            case ["setup"]: return await look(session, form)
            case ["setup", "write"]: return await write(session, form)
            default: return page(404, session, fault: "There is no such action.")
            }
        }
    }

    private func get(_ request: WebRequest) -> WebResponse {
        if let response = gate.open(request) { return response }
        if request.path == ["health"] {
            return WebResponse(503, type: "application/json", text: "{\"status\":\"unconfigured\"}\n")
        }
        guard let session = gate.session(of: request) else { return gate.signIn(401) }
        return request.path.isEmpty
            ? page(200, session) : page(404, session, fault: "There is no such page before there is a configuration.")
    }

    /// Examines what a form names, one at a time.
    private func look(_ session: Sessions.Session, _ form: FormFields) async -> WebResponse {
        let source: SetupSource
        do throws(PageFailure) {
            source = try SetupSource(form)
        } catch {
            return page(error.status, session, form, fault: error.description)
        }
        let isFirst = state.withLock { state in
            guard !state.isLooking else { return false }
            state.isLooking = true
            return true
        }
        guard isFirst else { return page(409, session, form, fault: "Another API is being examined; try again.") }
        defer { state.withLock { $0.isLooking = false } }
        do {
            let finding = try await finding(of: source)
            state.withLock { $0.finding = finding }
            return SiteGate.html(
                200, SetupPage.shows(finding, file: place.file, token: session.formToken), path: [], notice: nil, nil)
        } catch {
            return page(422, session, form, fault: Self.words(error))
        }
    }

    private func finding(of source: SetupSource) async throws -> SetupFinding {
        let host = place.host
        let introspection = try await withThrowingTaskGroup(of: Introspection?.self) { group in
            group.addTask {
                try await Introspection.run(
                    host: host, plugin: source.plugin, source: source.source, options: source.options,
                    database: "bmo.sqlite", command: source.command)
            }
            group.addTask {
                try await Task.sleep(for: Self.timeout)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let introspection else {
            let seconds = Self.timeout.components.seconds
            throw PageFailure(504, "The server did not describe itself within \(seconds) seconds.")
        }
        return SetupFinding(
            id: RandomToken.make(), url: source.url, text: introspection.text, ready: introspection.readyCount,
            incomplete: introspection.incompleteCount)
    }

    /// Writes what was found last, and becomes the web interface for it.
    private func write(_ session: Sessions.Session, _ form: FormFields) async -> WebResponse {
        let finding = state.withLock { $0.finding }
        guard let finding, let id = form["finding"], ConstantTime.equal(finding.id, id) else {
            return page(409, session, fault: "Something else was examined since this page was shown; look again.")
        }
        guard finding.ready > 0 else {
            return page(400, session, fault: "No entity can be synced as it stands: copy the text and complete it.")
        }
        do {
            try NewFile.write(finding.text, to: place.file)
        } catch {
            return page(409, session, fault: error.description)
        }
        do {
            let workspace = try await Workspace.load(path: place.file, host: place.host, stores: place.stores)
            workspace.takeSecrets()
            let site = WebSite(workspace, gate: gate)
            state.withLock { if $0.site == nil { $0.site = site } }
        } catch {
            return page(500, session, fault: "\(place.file) was written, but cannot be used yet: \(Self.words(error))")
        }
        gate.sessions.leave(
            Notice(.good, "\(place.file) was written. The first sync creates the database."), for: session)
        return WebResponse.redirect(to: "/")
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as IntrospectionError: error.description
        default: PageFault.words(error).text
        }
    }

    private func page(
        _ status: Int, _ session: Sessions.Session, _ form: FormFields? = nil, fault: String? = nil
    ) -> WebResponse {
        SiteGate.html(
            status, SetupPage.form(file: place.file, token: session.formToken, form, fault: fault), path: [],
            notice: nil, nil)
    }
}
