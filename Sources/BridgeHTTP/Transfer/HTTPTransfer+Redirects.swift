internal import BridgeKit

/// The target of a redirect, and the parts of the request that follow it.
extension HTTPTransfer {
    /// Follows a redirect (RFC 9110, section 15.4).
    func redirect() -> Outcome {
        guard redirects < Self.maxRedirects else {
            return .done(
                BridgeError(
                    .limit, "more than \(Self.maxRedirects) redirects", remedy: "set the URL that they should lead to",
                    location: location))
        }
        redirects += 1
        noteCookies()
        guard let target = redirectTarget.flatMap({ HTTPURL($0, relativeTo: url) }), !target.hasUserInfo else {
            return .done(
                BridgeError(
                    .malformed,
                    redirectTarget?.isEmpty == true
                        ? "the reply redirects, and its Location is empty"
                        : "the reply redirects to a target that is not an http or https URL",
                    remedy: "set the URL that it means", location: location,
                    remote: redirectTarget.map(redactor.clean(url:))))
        }
        if let redirectHosts, target.origin.host != firstOrigin.host, !redirectHosts.contains(target.origin.host) {
            return .done(
                BridgeError(
                    .permission, "the reply redirects to another host, which is not allowed", location: location,
                    remote: redactor.clean(url: target.text)))
        }
        if redirectStatus < 303, method != "GET", method != "HEAD" {
            if let error = missedSlash(target) { return .done(error) }
            // Browsers change the method to GET, which is a different request: its reply would be mistaken for the
            // answer.
            return .done(
                BridgeError(
                    .malformed,
                    "the server redirects a \(method) with \(redirectStatus), after which only a GET is usual",
                    remedy: "set the URL that it leads to", location: location, remote: redactor.clean(url: target.text)
                ))
        }
        if redirectStatus == 303, method != "HEAD" {
            method = "GET"
            body = nil
        }
        if target.origin != firstOrigin {
            guard body == nil else {
                return .done(
                    BridgeError(
                        .permission, "the reply redirects a \(method) with a body to another origin",
                        remedy: "set that URL in the config if you trust it", location: location,
                        remote: redactor.clean(url: target.text)))
            }
            guard !redactor.holdsSecret(target, named: url) else {
                return .done(
                    BridgeError(
                        .permission, "the reply redirects to another origin with a credential in the URL",
                        remedy: "set that URL in the config if you trust it", location: location,
                        remote: redactor.clean(url: target.text)))
            }
            lostCredentials = lostCredentials || sendsCredentials
            // Once dropped, credentials stay dropped: a stranger must not redirect back to a URL of its choice.
            sendsCredentials = false
        }
        url = target
        return .again
    }

    /// Keeps the cookies of a redirect for a login; those of other origins are not the API's.
    private func noteCookies() {
        guard url.origin == firstOrigin else { return }
        redirectCookies? += received.filter { $0.name.isSameField(as: "set-cookie") }.map(\.value)
    }

    /// Returns the header fields of a reply behind those that set the cookies of the redirects before it.
    ///
    /// Another origin does not replace them.
    func withRedirectCookies(_ fields: ArraySlice<(name: String, value: String)>) -> [(name: String, value: String)] {
        guard let earlier = redirectCookies, !earlier.isEmpty else { return Array(fields) }
        let isOwn = url.origin == firstOrigin
        return earlier.map { (name: "Set-Cookie", value: $0) }
            + fields.filter { isOwn || !$0.name.isSameField(as: "set-cookie") }
    }

    /// Returns the header field with the cookies of the redirects so far.
    ///
    /// Without its cookie, a page would begin another session.
    func redirectCookieField(besides fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        let cookies = LoginCookies(redirectCookies ?? [])
        guard !cookies.isEmpty, !fields.contains(where: { $0.name.isSameField(as: "cookie") }) else { return [] }
        return [(name: "Cookie", value: cookies.field)]
    }

    /// Returns the error for a path that only lacks or has an extra slash at its end: a router checked the path and
    /// ignored the rest.
    private func missedSlash(_ target: HTTPURL) -> BridgeError? {
        let (sent, wanted) = (url.text.prefix { $0 != "?" }, target.text.prefix { $0 != "?" })
        guard sent + "/" == wanted || sent == wanted + "/" else { return nil }
        let (has, lacks) = wanted.hasSuffix("/") ? ("with", "without") : ("without", "with")
        return BridgeError(
            .configuration, "the server redirects a \(method) \(lacks) a slash at the path's end, and has done nothing",
            remedy: "write the path \(has) a slash at its end", location: location,
            remote: redactor.clean(url: target.text))
    }
}
