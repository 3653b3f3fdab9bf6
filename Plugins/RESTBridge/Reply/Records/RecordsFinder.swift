internal import BridgeJSON
internal import BridgeKit

/// Finds the records of a reply if the section does not configure their place.
enum RecordsFinder {
    /// The usual places, most specific first.
    private static let usual = [
        "$.data", "$.items", "$.results", "$.records", "$.value", "$['hydra:member']", "$.member", "$.entries",
        "$.content", "$.rows", "$.values", "$.objects", "$.documents", "$.docs", "$.list", "$.elements", "$.features",
        "$.Resources", "$.resources", "$.d.results", "$.d", "$.hits.hits", "$.response.docs", "$.response.results",
        "$.result.records", "$.result.results", "$.result", "$.response", "$.nodes",
    ]
    /// Names of lists that hold something other than records.
    private static let nonRecordNames: Set<String> = [
        "links", "link", "_links", "errors", "warnings", "included", "facets", "aggregations", "fields", "columns",
        "notices",
        "messages", "extensions",
    ]

    /// Returns the path of the records.
    ///
    /// - Parameter key: The key of the object that the request asks for; nil if it asks for a listing.
    /// - Throws: ``BridgeError`` if a person has to choose.
    static func path(
        _ survey: ReplySurvey, asked: String, location: String?, hasColumns: Bool = false, key: RequestedKey? = nil
    ) throws -> String {
        if survey.isArray { return "$" }
        let isBundle = survey["$.resourceType"] == .text("Bundle")
        if !isBundle, let object = key?.home(in: survey) { return object }
        if hasColumns {
            let tables = survey.tables
            if let table = usual.first(where: tables.contains) ?? (tables.count == 1 ? tables[0] : nil) { return table }
        }
        let lists = survey.lists.filter { !nonRecordNames.contains(name(of: $0)) && !$0.contains("[?") }
        // An object with an id may be a record with lists of its own. The id of a JSON-RPC reply belongs to the
        // request.
        let mayBeRecord = survey["$.id"] != .missing && survey["$.jsonrpc"] == .missing
        let safe = mayBeRecord ? Array(usual.prefix(5)) : usual
        if isBundle { return "$.entry[*].resource" }
        if let found = safe.first(where: lists.contains) { return found }
        if !hasColumns, let table = safe.first(where: survey.tables.contains) {
            throw BridgeError(
                .configuration,
                "\(asked): the records at \(table) are arrays whose values have no names",
                remedy: "set columns to where the reply has the names, such as $.columns, or to a list of names; "
                    + "or records: \(table) to take each row as it is, or $ if the reply is one record",
                location: location)
        }
        if !mayBeRecord || survey["$.data"] == .object {
            if let found = connection(lists) { return found }
            for parent in ["$.data", "$._embedded", "$.response", "$.result"] where survey[parent] == .object {
                let inner = lists.filter { $0.isPath(inside: parent) }
                let near = inner.filter { depth($0) == 2 }
                if near.count == 1 { return near[0] }
                if near.isEmpty, inner.count == 1 { return inner[0] }
                if let named = usual.lazy.map({ parent + $0.dropFirst() }).first(where: inner.contains) { return named }
                if parent == "$.data", inner.isEmpty { return parent }
            }
        }
        if !mayBeRecord {
            let near = lists.filter { depth($0) == 1 }
            if near.count == 1 { return near[0] }
            let nested = lists.filter { depth($0) == 2 }
            if near.isEmpty, nested.count == 1 { return nested[0] }
        }
        if !mayBeRecord, let map = map(survey) { return map }
        if !mayBeRecord, lists.isEmpty, let values = values(survey) { return values }
        if lists.filter({ depth($0) < 3 }).isEmpty { return "$" }
        throw BridgeError(
            .configuration,
            "\(asked): the reply is an object with lists, and the option records does not say which to take",
            remedy: "set records to one of: \(lists.joined(separator: ", ")); "
                + "or to $ if the object itself is the record", location: location)
    }

    /// Returns the path of a map whose values are similar objects, each a record with its name as the key.
    ///
    /// Accepts a usual place, or else the only map one level deeper with numbers as names, such as MediaWiki's
    /// `query.pages`. Names such as home and work may be two addresses of a single record.
    private static func map(_ survey: ReplySurvey) -> String? {
        let usual = ["$", "$.data", "$.results", "$.items", "$.result"]
        if let home = usual.first(where: { ($0 == "$" || survey[$0] == .object) && isMap($0, survey) }) {
            return home + ".*"
        }
        let deeper = survey.findings.filter { $0.value == .object && depth($0.path) == 2 }.map(\.path)
        let maps = deeper.filter { isMap($0, survey, isNumbered: true) }
        return maps.count == 1 ? maps[0] + ".*" : nil
    }

    private static func isMap(_ home: String, _ survey: ReplySurvey, isNumbered: Bool = false) -> Bool {
        var names: [String: Set<String>] = [:]
        let above = depth(home)
        var last: String?
        // The survey of a large reply is complete only at its beginning.
        for (path, value) in survey.findings.prefix(ReplySurvey.whole) {
            guard path.hasPrefix(home), let segments = try? JSONPath(path, option: "records").segments,
                case let own = Array(segments.dropFirst(above)), let first = own.first, case .name(let key) = first,
                path.dropFirst(home.count).first.map({ ".[".contains($0) }) ?? false
            else { continue }
            if own.count == 1 {
                guard value == .object else { return false }
                names[key] = []
                last = key
            } else if own.count == 2, case .name(let member) = own[1] {
                names[key]?.insert(member)
            }
        }
        if survey.findings.count >= ReplySurvey.whole, names.count > 2, let last { names[last] = nil }
        guard names.count > 1, let common = names.values.max(by: { $0.count < $1.count }), !common.isEmpty else {
            return false
        }
        // Names such as home1 and home2 are numbered, but are not ids.
        if isNumbered, !names.keys.allSatisfy({ $0.first.map { $0.isNumber || $0 == "-" } ?? false }) { return false }
        return names.values.allSatisfy { $0.intersection(common).count * 2 >= common.count }
    }

    /// Returns the path of a list of plain values, if the reply contains nothing else.
    private static func values(_ survey: ReplySurvey) -> String? {
        let lists = survey.findings.filter { finding in
            guard case .array(let first) = finding.value, !["{", ""].contains(first) else { return false }
            return depth(finding.path) == 1 && !nonRecordNames.contains(name(of: finding.path))
        }.map(\.path)
        let members = survey.findings.filter { depth($0.path) == 1 }
        guard lists.count == 1, let only = lists.first else { return nil }
        let isRecord = members.contains { ["name", "title", "key", "code", "type"].contains(name(of: $0.path)) }
        return usual.contains(only) && !isRecord || members.count == 1 ? only : nil
    }

    /// Whether the whole reply is, or appears to be, a single record.
    static func isSingle(
        _ survey: ReplySurvey, asked: String, location: String?, key: RequestedKey? = nil
    ) throws -> Bool {
        try path(survey, asked: asked, location: location, key: key) == "$"
    }

    /// Returns the path of a GraphQL connection's nodes, or of its edges' nodes.
    private static func connection(_ lists: [String]) -> String? {
        let near = lists.sorted { depth($0) < depth($1) }
        if let nodes = near.first(where: { $0.hasSuffix(".nodes") }) { return nodes }
        return near.first { $0.hasSuffix(".edges") }.map { $0 + "[*].node" }
    }

    private static func depth(_ path: String) -> Int {
        (try? JSONPath(path, option: "records"))?.segments.count ?? 0
    }

    private static func name(of path: String) -> String {
        guard case .name(let name)? = (try? JSONPath(path, option: "records"))?.segments.last else { return "" }
        return name
    }
}
