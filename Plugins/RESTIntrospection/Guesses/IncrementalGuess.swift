internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// A guess at the attribute that records the last change, and at the parameter that filters by it.
enum IncrementalGuess {
    private static let moved = [
        "updatedat", "modifiedat", "lastmodified", "lastmodifiedat", "updated", "modified", "modifiedon", "updatedon",
        "lastupdated", "lastupdatedat", "datemodified", "dateupdated", "lastmodifieddate", "updatetime", "modifieddate",
        "lastmodificationdate", "updateddate", "lastmodifieddatetime", "datelastmodified",
    ]
    private static let since = [
        "since", "updatedsince", "modifiedsince", "updatedafter", "modifiedafter", "updatedatmin", "lastmodifiedafter",
        "updatedfrom", "changedsince", "startdate", "updatedatgte", "fromdate", "updatedatfrom", "minupdated",
        "updatedatafter",
    ]

    static func make(_ fields: [EntityOffer.Field], _ parameters: [QueryParameter]) -> EntityOffer.Proposal? {
        let times = fields.filter { ["timestamp", "date"].contains($0.type) || $0.type == "text" }
        guard
            let field = moved.lazy.compactMap({ name in times.first { NameWords.plain($0.path.last ?? "") == name } })
                .first
        else { return nil }
        let parameter = parameters.first { since.contains(NameWords.plain($0.name)) }
        let words =
            parameter.map { "; the request takes \($0.name): add query: {\($0.name): \"{since}\"}" }
            ?? "; no request parameter that takes it was found"
        let name = field.localName.map { LocalName.make([$0]) } ?? LocalName.make(field.path)
        return EntityOffer.Proposal(
            name: "incremental", value: ["field": .text(name), "lookback": "5m"], isOfSection: false,
            confidence: parameter == nil
                ? .low("\(name) looks like the time of the last change\(words)")
                : .medium("\(name) looks like the time of the last change\(words)"))
    }
}
