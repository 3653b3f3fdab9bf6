internal import BridgeJSON
internal import Inference

/// Totals that a listing has to reach although its paging does not need them.
extension PagingDetector {
    /// Returns the place of a total that the detected paging does not use: it ends by a link, a cursor or a number of pages.
    ///
    /// Some remotes end their pages early. Only a name without another meaning counts, or `total` among the numbers of the
    /// page, and only in an object around the list or in one that describes it: a reply may have other lists.
    func unusedTotal(_ detected: DetectedPaging) -> String? {
        guard isListed, detected["total"] == nil, detected["style"] != "none",
            let segments = records?.segments.dropFirst(recordsNames.count),
            segments.isEmpty || Array(segments) == [.wildcard, .name("node")]
        else { return nil }
        for home in totalHomes {
            let clear = number(PagingVocabulary.total.names(.clear), in: home, least: 1)
            if let clear, !isEstimate(clear, in: home) { return clear.path }
            guard let total = number(["total"], in: home, least: 1),
                number(PagingVocabulary.size.names(.clear), in: home) != nil,
                number((PagingVocabulary.page + PagingVocabulary.offset).names(.member), in: home) != nil
            else { continue }
            return total.path
        }
        return nil
    }

    /// Returns the place of a total that ends links and cursors at a page without records.
    ///
    /// A name such as `count` may also be that of the page's own records.
    func countedTotal(_ detected: DetectedPaging) -> String? {
        guard isListed, let style = detected["style"],
            ["next_url", "link_header", "cursor", "continue"].contains(style)
        else { return nil }
        let totals = totalHomes.lazy.compactMap { home in
            let total = number(PagingVocabulary.total.names(.clear) + ["total"], in: home, least: 1)
            return total.flatMap { isEstimate($0, in: home) ? nil : $0 }
        }
        return totals.first?.path
    }

    /// The object in which YouTube estimates the number of results.
    private static let estimates = "$.pageInfo"

    /// Whether a total counts results that the listing does not return, as Confluence's `totalSize` counts those that the
    /// user may not see.
    func isEstimate(_ total: Number, in home: String) -> Bool {
        total.name == "totalSize" && survey?[ReplySurvey.member(home, "_links")] == .object
    }

    /// The objects around the list, innermost first, each with those in it that describe a list.
    private var totalHomes: [String] {
        around.reversed().flatMap { parent in
            let describing = Self.describing.map { ReplySurvey.member(parent, $0) }
            return [parent]
                + homes.filter { home in
                    !around.contains(home) && describing.contains { home == $0 || home.isPath(inside: $0) }
                }
        }.filter { $0 != Self.estimates }
    }

    /// Names of the usual objects that may hold the records themselves.
    private static let holders: Set<String> = ["response", "result", "d", "data", "hits"]
    /// Names of objects beside a list that describe it and hold no records.
    private static let describing: Set<String> = Set(
        PagingVocabulary.homes.compactMap { names(to: try? JSONPath($0, option: "paging")).first }
    ).subtracting(holders).union(inner)
}
