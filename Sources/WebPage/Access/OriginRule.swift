package import WebServer

/// Decides whether a request comes from a page of this site.
package enum OriginRule {
    /// Returns whether a request may change something, by the header fields that browsers send and pages cannot set.
    ///
    /// If the browser sends `Sec-Fetch-Site` (W3C Fetch Metadata), that decides; otherwise `Origin` must name the
    /// requested host. A request without either does not come from a current browser; only its form token is checked.
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

    /// Returns whether a request may read: false if another site, or another port of the host, embeds the address.
    ///
    /// Some pages are expensive, and a site that embeds their addresses could request them again and again. A link on
    /// another site is allowed, because following it is a navigation.
    package static func allowsReading(_ request: WebRequest) -> Bool {
        guard request.hasHeader("sec-fetch-site"), !allows(request) else { return true }
        return request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
    }
}
