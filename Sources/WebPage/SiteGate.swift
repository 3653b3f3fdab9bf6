internal import StoreContract
internal import SystemCalls
internal import WebServer

/// What each request passes before a page or an action sees it: host names, origins, sessions and passwords.
///
/// The site and the form of a first start share one, so that a session outlives the change from one to the other.
final class SiteGate: Sendable {
    /// The sender of a form.
    enum Sender {
        /// The reply to a request that does not come from a form of a session.
        case refused(WebResponse)
        /// A session, with the fields of its form.
        case session(Sessions.Session, FormFields)
    }

    let access: WebSite.Access
    /// What receives webhooks now; a new configuration may have others.
    let hooks: Mutex<HookReceiver?>
    let sessions = Sessions()
    let sentForms = SentForms()
    /// The password with which the sessions began.
    private let sessionPassword: Mutex<String?>

    /// The name of the session's cookie, unique per process: a browser sends a host's cookies to all of its ports.
    private let cookie = "bmo-session-\(RandomToken.make().prefix(8))"

    init(_ access: WebSite.Access) {
        self.access = access
        hooks = Mutex(access.hooks)
        sessionPassword = Mutex(access.password?.value)
    }

    /// Returns the password as it is now, or nil if there is none; another one than before ends all sessions.
    @discardableResult
    private func password() -> String? {
        guard let password = access.password?.value else { return nil }
        let isNew = sessionPassword.withLock { known in
            defer { known = password }
            return known != password
        }
        if isNew { sessions.endAll() }
        return password
    }

    /// Returns the reply to a request that no page may see; nil for one that goes on.
    func refusal(of request: WebRequest) -> WebResponse? {
        password()
        guard let host = request.header("host"), access.hosts.allows(host) else {
            return WebResponse(
                403, text: "bmo serve does not answer under this host name; `bmo serve --host NAME` adds a name.\n")
        }
        switch request.method {
        case "GET", "HEAD":
            return OriginRule.allowsReading(request)
                ? nil : WebResponse(403, text: "Another site must not embed this page.\n")
        case "POST":
            return OriginRule.allows(request)
                ? nil : WebResponse(403, text: "The form was sent from another site.\n")
        default: return WebResponse(405, headers: [("Allow", "GET, HEAD, POST")])
        }
    }

    /// Returns the reply to a GET that needs no session; nil for any other.
    func open(_ request: WebRequest) -> WebResponse? {
        switch request.path {
        case ["style.css"]: return WebResponse(200, type: "text/css; charset=utf-8", text: Stylesheet.text)
        case ["icon.svg"]: return WebResponse(200, type: "image/svg+xml", text: Icon.text)
        case ["login"]:
            // A program that only probes an address, by HEAD, must not use it up.
            guard request.method == "GET", let token = request.query["token"] else { return signIn(401) }
            guard let session = sessions.begin(token: token) else {
                return signIn(
                    401, fault: "This address has already been used, or it is not the one that was printed last.")
            }
            access.onNewToken(sessions.loginToken)
            return welcome(session)
        default: return nil
        }
    }

    /// Returns the session of a request, which this prolongs.
    func session(of request: WebRequest) -> Sessions.Session? {
        request.cookies[cookie].flatMap(sessions.session)
    }

    /// Returns the id of a request's session, which this does not prolong.
    func validSession(of request: WebRequest) -> String? {
        request.cookies[cookie].flatMap { sessions.isValid($0) ? $0 : nil }
    }

    /// Returns whether a session still exists, without prolonging it.
    func isValid(_ id: String) -> Bool {
        password()
        return sessions.isValid(id)
    }

    /// Returns whether a program without a session sends the password (RFC 6750).
    func hasPassword(_ request: WebRequest) -> Bool {
        guard let password = password(), let given = request.header("authorization"),
            given.prefix(7).lowercased() == "bearer "
        else { return false }
        return sessions.accepts(password: String(given.dropFirst(7)), is: password)
    }

    /// Returns who sent a form; signing in and out is done here.
    func sender(of request: WebRequest) -> Sender {
        guard let form = request.form else {
            return .refused(WebResponse(415, text: "A form must have the type application/x-www-form-urlencoded.\n"))
        }
        if request.path == ["login"] { return .refused(login(form)) }
        guard let session = session(of: request) else { return .refused(signIn(401)) }
        guard let token = form["token"], ConstantTime.equal(session.formToken, token) else {
            return .refused(WebResponse(403, text: "The form does not belong to this session; reload its page.\n"))
        }
        if request.path == ["logout"] {
            sessions.end(session)
            return .refused(WebResponse.redirect(to: "/login"))
        }
        return .session(session, form)
    }

    private func login(_ form: FormFields) -> WebResponse {
        guard let password = password() else { return signIn(401) }
        switch sessions.begin(password: form["password"] ?? "", is: password) {
        case .began(let session): return welcome(session)
        case .wrong: return signIn(401, fault: "The password is wrong.")
        case .tooMany: return signIn(429, fault: "There were too many wrong passwords; try again in a minute.")
        }
    }

    private func welcome(_ session: Sessions.Session) -> WebResponse {
        var response = WebResponse.redirect(to: "/")
        response.headers.append(("Set-Cookie", "\(cookie)=\(session.id); Path=/; HttpOnly; SameSite=Strict"))
        return response
    }

    /// Returns the page for a browser without a session.
    func signIn(_ status: Int, fault: String? = nil) -> WebResponse {
        let page = SignInPage.make(hasPassword: access.password != nil, fault: fault)
        return Self.html(status, page, path: ["login"], notice: nil, nil)
    }

    /// Returns a page as a response.
    static func html(
        _ status: Int, _ page: HTMLPage, path: [String], notice: Notice?, _ context: PageContext?
    ) -> WebResponse {
        let document = PageShell.document(page, path: path, notice: notice, context)
        return WebResponse(
            status, headers: [("Content-Type", "text/html; charset=utf-8")], body: document.bytes)
    }
}
