internal import BridgeHTTP
internal import BridgeKit

/// Detection of paging outside the body: in a header field that is an object, or in a query's own variables.
extension PagingDetector {
    /// Detects a header field such as `X-Pagination: {"total": 130, "total_pages": 13, "page": 1}`, as sent by
    /// flask-smorest and many ASP.NET services.
    ///
    /// Its members have the same names as in bodies, often capitalized.
    func byHeaderObject() -> Detected? {
        for (name, value) in response.headers where name.lowercased().contains("pag") {
            let text = value.drop(while: \.isWhitespace)
            guard text.first == "{", let inner = ReplySurvey(HTTPExchange.PaddedBody(Array(text.utf8))) else {
                continue
            }
            var names: [String: String] = [:]
            let findings = inner.findings.map { path, value in
                let plain = Self.withSmallInitial(path)
                names[plain] = path
                return (path: plain, value: value)
            }
            let detector = PagingDetector(
                survey: ReplySurvey(isArray: false, findings: findings), response: response, url: url, count: count,
                given: given)
            guard var detected = detector.byURL() ?? detector.byNumber() ?? detector.byCursor() else { continue }
            detected.members = detected.members.map { member, value in
                (member, value.hasPrefix("$.") ? name + (names[value] ?? value).dropFirst() : value)
            }
            return detected
        }
        return nil
    }

    /// Returns the path with lowercase initials: `$.totalPages` for `$.TotalPages`.
    private static func withSmallInitial(_ path: String) -> String {
        guard path.hasPrefix("$."), let initial = path.dropFirst(2).first else { return path }
        return "$." + initial.lowercased() + path.dropFirst(3)
    }

    /// Detects a GraphQL query that takes an offset or a page number.
    ///
    /// For example `query($offset: Int) { users(offset: $offset) { ... } }`.
    func byVariable() -> Detected? {
        for name in openVariables {
            let isOffset = ["offset", "skip", "start", "startIndex", "start_index"].contains(name)
            let isPage = ["page", "pageNumber", "page_number", "pageIndex", "pageNo"].contains(name)
            guard isOffset || isPage else { continue }
            var members =
                isOffset
                ? [("style", "offset"), ("offset_parameter", name)] : [("style", "page"), ("page_parameter", name)]
            if isPage { members.append(("start", "1")) }
            let more = hasMore
            if let told = totalInBody, more != nil || !isOfPage(told, limit: nil) {
                members.append(("total", told.path))
            }
            if let more { members.append(("has_more", more.path)) }
            return isOffset
                ? Detected(members: members, first: .offset(0))
                : Detected(members: members, first: .page(1), isStartUnknown: true)
        }
        return nil
    }
}
