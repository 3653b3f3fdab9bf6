internal import BridgeHTTP
internal import BridgeKit

/// Detects a login page with a success status in place of an API's reply.
enum LoginPage {
    private static let passwordFields = ["type=\"password\"", "type='password'", "type=password"]
    private static let words: Set<String> = [
        "login", "logon", "signin", "sso", "saml", "saml2", "cas", "oauth", "oauth2", "authorize", "authenticate",
        "auth",
    ]

    /// Returns an error if the reply to a check does not come from the API, or nil if it may.
    ///
    /// - Parameters:
    ///   - asked: The requested URL, before any redirect.
    ///   - start: The beginning of the body.
    static func refusal(of response: HTTPResponse, asked: HTTPURL, start: [UInt8]) -> BridgeError? {
        guard RemoteMessage.isPage(start, mediaType: response.mediaType) else { return nil }
        let page = String(decoding: start, as: UTF8.self).lowercased()
        let isForm = passwordFields.contains(where: page.contains)
        guard let place = HTTPURL(response.url), place.text != asked.text else {
            return isForm ? error("the check is answered with a login page", response, start) : nil
        }
        let path = place.text.prefix { $0 != "?" && $0 != "#" }.lowercased()
        let names = path.split(separator: "/").dropFirst(2).map { $0.filter { $0.isLetter || $0.isNumber } }
        guard isForm || names.contains(where: words.contains) || place.origin != asked.origin else { return nil }
        let isElsewhere = place.origin != asked.origin && !isForm
        return error(
            isElsewhere
                ? "the check is redirected to a web page of another server, to which no credentials are sent"
                : "the check is redirected to a login page", response, start)
    }

    private static func error(_ message: String, _ response: HTTPResponse, _ start: [UInt8]) -> BridgeError {
        BridgeError(
            .authentication, message,
            remedy:
                "check auth; if the API itself accepts the credentials, set check_path to one of its paths that answers with JSON",
            location: response.location,
            remote: RemoteMessage.make(start, mediaType: response.mediaType, redactor: response.redactor))
    }
}
