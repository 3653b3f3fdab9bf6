internal import BridgePaging
internal import BridgeHTTP

/// The rules of header fields.
extension PagingDetector {
    /// Returns the first of some header fields that the reply has.
    private func header(_ names: [String]) -> (name: String, value: String)? {
        names.lazy.compactMap { name in response.header(name).map { (name, $0) } }.first
    }

    func nextHeader(_ names: [String], _ parameter: String) -> DetectedPaging? {
        guard let (name, value) = header(names) else { return nil }
        if Self.isURL(value) { return DetectedPaging(members: [("style", "next_url"), ("header", name)]) }
        return DetectedPaging(members: [("style", "cursor"), ("header", name), ("parameter", known(parameter))])
    }

    func pagesHeader(_ names: [String]) -> DetectedPaging? {
        guard let (name, value) = header(names), Int(value) != nil else { return nil }
        return DetectedPaging(
            members: [("style", "page"), ("page_parameter", known("page")), ("pages", name)], first: .page(1))
    }

    func openRange() -> DetectedPaging? {
        guard let range = response.header("content-range"), range.hasSuffix("/*"),
            range.dropLast(2).last?.isNumber == true, !given.contains("offset")
        else { return nil }
        return DetectedPaging(members: [("style", "offset"), ("offset_parameter", "offset")], first: .offset(0))
    }

    func countedRange() -> DetectedPaging? {
        guard let range = response.header("content-range"), range.contains("/"),
            range.first?.isNumber == true || range.contains(" "), let total = HeaderNumber.total(range),
            total > count() ?? 0
        else { return nil }
        return DetectedPaging(
            members: [("style", "offset"), ("offset_parameter", known("offset")), ("total", "Content-Range")],
            first: .offset(0))
    }

    /// Detects a header field such as `X-Pagination: {"total": 130, "total_pages": 13, "page": 1}`, as sent by
    /// flask-smorest and many ASP.NET services.
    ///
    /// Its members have the same names as in bodies, often capitalized.
    func headerObject() -> DetectedPaging? {
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
            let signatures = PagingSignature.nextLinks + PagingSignature.numbers + PagingSignature.cursors
            guard var detected = detector.detect(signatures) else { continue }
            detected.members = detected.members.map { member, value in
                (member, value.hasPrefix("$.") ? name + (names[value] ?? value).dropFirst() : value)
            }
            detected.source = nil
            return detected
        }
        return nil
    }

    /// Returns the path with lowercase initials: `$.totalPages` for `$.TotalPages`.
    private static func withSmallInitial(_ path: String) -> String {
        guard path.hasPrefix("$."), let initial = path.dropFirst(2).first else { return path }
        return "$." + initial.lowercased() + path.dropFirst(3)
    }
}
