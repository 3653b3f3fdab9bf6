package import WebServer

/// Whether a request that changes something comes from this page itself.
package enum OriginRule {
    /// Returns whether a request may change something, by the header fields that browsers send and pages cannot set.
    ///
    /// `Sec-Fetch-Site` decides where it is sent (W3C Fetch Metadata), otherwise `Origin`, which must be the host that was
    /// asked. A request without both does not come from a current browser; its form token decides.
    package static func allows(_ request: WebRequest) -> Bool {
        if request.hasHeader("sec-fetch-site") {
            return ["same-origin", "none"].contains(request.header("sec-fetch-site"))
        }
        guard request.hasHeader("origin") else { return true }
        guard let origin = request.header("origin"), let host = request.header("host"),
            let mark = origin.firstRange(of: "://")
        else { return false }
        return origin[mark.upperBound...].lowercased() == host.lowercased()
    }

    /// Returns whether a request may read: not if another site, or another port of the host, embeds the address.
    ///
    /// Some pages cost work, and a site that embeds their addresses could ask for them again and again. A link from
    /// elsewhere is a navigation, and allowed.
    package static func allowsReading(_ request: WebRequest) -> Bool {
        guard request.hasHeader("sec-fetch-site"), !allows(request) else { return true }
        return request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
    }
}
