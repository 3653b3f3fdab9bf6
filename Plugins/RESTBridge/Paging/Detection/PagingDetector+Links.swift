internal import BridgePaging
internal import BridgeHTTP
internal import Inference

/// The rules of links and cursors in the body.
extension PagingDetector {
    private static let linkNames = PagingVocabulary.nextLink.names(.member)
    private static let linkParts = PagingVocabulary.linkParts.names(.member)
    private static let cursors = PagingVocabulary.cursor.flatMap { term in
        term.parameter.map { parameter in term.names.map { (name: $0, parameter: parameter) } } ?? []
    }

    func linkHeader() -> DetectedPaging? {
        let links = response.all("link")
        guard LinkHeader.next(links) != nil || LinkHeader.hasPaging(links) else { return nil }
        return DetectedPaging(members: [("style", "link_header")])
    }

    /// Returns a sign of more records: a Link header that names a next page, but in a form that cannot be read.
    func unreadLink() -> String? {
        guard let text = LinkHeader.unreadable(response.all("link")) else { return nil }
        return "the header Link names a next page in a form that cannot be read (\(response.excerpt(of: text)))"
    }

    func linkMember() -> DetectedPaging? {
        for home in linkHomes {
            for name in Self.linkNames {
                let path = ReplySurvey.member(home, name)
                let places = [path] + Self.linkParts.map { "\(path).\($0)" }
                if let link = places.first(where: { Self.isLink(survey?[$0]) }) { return nextURL(link) }
            }
        }
        return nil
    }

    func linkRelation() -> DetectedPaging? {
        survey?.findings.first { path, value in
            path.contains("[?@.rel=='next'].") && Self.isLink(value)
                && Self.linkParts.contains(path.split(separator: ".").last.map(String.init) ?? "")
        }.map { nextURL($0.path) }
    }

    func linkName() -> DetectedPaging? {
        survey?.findings.first { path, value in
            guard Self.isLink(value), path.count(where: { $0 == "." }) < 3,
                let name = path.split(separator: ".").last?.lowercased()
            else { return false }
            return (name.hasPrefix("next") || name.hasPrefix("more")) && Self.linkParts.contains(where: name.hasSuffix)
        }.map { nextURL($0.path) }
    }

    func noLink() -> DetectedPaging? {
        for home in linkHomes {
            for name in Self.linkNames
            where Self.isURLName(name, home) && survey?[ReplySurvey.member(home, name)] == .null {
                return nextURL(ReplySurvey.member(home, name))
            }
        }
        return nil
    }

    /// Whether null under this name stands for a missing link, and not for a page number or a cursor.
    private static func isURLName(_ name: String, _ home: String) -> Bool {
        name != "nextPage" && name != "next_page" && (name != "next" || home != "$.paging.next")
    }

    func nextURL(_ path: String) -> DetectedPaging {
        let home = path.split(separator: ".").prefix(2).joined(separator: ".")
        let vendor = path == home ? nil : vendor(of: "base", in: home)
        // Some servers link to a next page even on the last one, with a flag for the end beside it.
        return DetectedPaging(
            members: [("style", "next_url"), ("path", path)] + (vendor.map { [$0.member] } ?? []) + moreMember,
            source: vendor?.name)
    }

    private static func isLink(_ value: JSONScalar?) -> Bool {
        if case .text(let text) = value { isURL(text) } else { false }
    }

    static func isURL(_ text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("/") || text.hasPrefix("?")
            || (text.contains("?") && text.contains("="))
    }

    // MARK: Cursors

    func cursorMember() -> DetectedPaging? {
        let hasFlag = hasMore != nil
        for home in linkHomes {
            for (name, usual) in Self.cursors {
                let path = ReplySurvey.member(home, name)
                guard let value = survey?[path], isCursor(value, name, takenBy: usual, besideFlag: hasFlag) else {
                    continue
                }
                let vendor = vendor(of: "parameter", in: home, names: [name])
                // A numeric `next` is a page number.
                let number = if case .number = value, name == "next" { "page" } else { usual }
                let own = known(vendor?.member.value ?? number)
                return DetectedPaging(
                    members: [("style", "cursor"), ("path", path), ("parameter", begun(besides: own) ?? own)]
                        + moreMember, source: vendor?.name)
            }
        }
        return nil
    }

    private func isCursor(_ value: JSONScalar, _ name: String, takenBy parameter: String, besideFlag: Bool) -> Bool {
        let isNext = name.lowercased().contains("next")
        return switch value {
        // A bare `cursor` may be that of this page, if the request already has one.
        case .text where ["cursor", "marker"].contains(name) && !besideFlag && given.contains(parameter): false
        case .text(let text): !text.isEmpty || isNext
        case .number: isNext || name == "endCursor"
        case .bool(false): isNext
        case .null: isNext && name != "next" || name == "endCursor"
        case .bool(true), .object, .array, .missing: false
        }
    }

    /// The parameter with which the request asks for the beginning, such as `from=0`.
    private func begun(besides own: String) -> String? {
        guard !given.contains(own) else { return nil }
        return PagingVocabulary.cursorParameter.names(.begins).first { given.contains($0) && number($0) == 0 }
    }
}
