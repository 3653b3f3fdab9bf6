internal import BridgeJSON
internal import Inference

/// The objects of a reply that may describe its page, and the flags in them.
extension PagingDetector {
    /// The usual objects, and the objects around the list of records with the usual ones in them, as far as the reply has
    /// them.
    var homes: [String] {
        guard let survey else { return [] }
        let around = parents.flatMap { parent in
            [parent] + (["meta", "pagination", "paging"] + Self.inner).map { ReplySurvey.member(parent, $0) }
        }
        return (Self.usualHomes + around.filter { !PagingVocabulary.homes.contains($0) }).filter(survey.mayHaveMembers)
    }

    /// The usual objects, and those at the root that describe a list, in any reply.
    private static let usualHomes =
        PagingVocabulary.homes
        + inner.map { ReplySurvey.member("$", $0) }.filter { !PagingVocabulary.homes.contains($0) }

    /// Names of objects beside a list that describe it.
    static let inner = ["header", "head", "@attr", "result_info", "resultInfo", "pager", "paginator"]

    /// Whether an object is named after pages.
    static func isOfPages(_ home: String) -> Bool {
        home.split(separator: ".").last.map { $0.lowercased().hasPrefix("pag") } ?? false
    }

    /// Returns the objects around the list of records, from the root to the one with the list.
    ///
    /// - Parameter names: The names of the members that lead to the list.
    static func objects(around names: [String]) -> [String] {
        (0..<max(1, names.count)).map { path(names.prefix($0)) }
    }

    /// The objects around the list of records, from the root to the one with the list.
    var around: [String] { Self.objects(around: recordsNames) }

    /// The same below the root.
    private var parents: [String] { Array(around.dropFirst()) }

    /// The page infos of GraphQL connections, that of the records first.
    private var connectionHomes: [String] {
        guard let survey else { return [] }
        let all = survey.findings.compactMap {
            $0.value == .object && $0.path.hasSuffix(Self.connection) ? $0.path : nil
        }
        let own = ownConnections
        return own + all.filter { !own.contains($0) }
    }

    /// The page infos in the objects around the list of records, innermost first.
    var ownConnections: [String] {
        guard let survey else { return [] }
        return around.reversed().map { $0 + Self.connection }.filter { survey[$0] == .object }
    }

    private static let connection = ".pageInfo"

    /// All objects that may contain a link, a cursor or a flag for more records.
    var linkHomes: [String] { homes + connectionHomes }

    /// The member names on the path to the list of records.
    var recordsNames: [String] { Self.names(to: records) }

    /// Returns the member names at the beginning of a path.
    static func names(to records: JSONPath?) -> [String] {
        var names: [String] = []
        for segment in records?.segments ?? [] {
            guard case .name(let name) = segment else { break }
            names.append(name)
        }
        return names
    }

    /// Whether the records are inside the reply, instead of being the reply itself.
    ///
    /// Otherwise, the values beside the records don't describe the listing.
    var isListed: Bool { survey?.isArray == false && !recordsNames.isEmpty }

    /// Returns the object and the name of a member in one of the ``homes``, by its path.
    func place(of path: String, in homes: Set<String>) -> (home: String, name: String)? {
        guard let segments = try? JSONPath(path, option: "paging").segments, case .name(let name)? = segments.last
        else { return nil }
        let names = segments.dropLast().compactMap { if case .name(let name) = $0 { name } else { nil } }
        let home = Self.path(names)
        return names.count + 1 == segments.count && homes.contains(home) ? (home, name) : nil
    }

    // MARK: Flags

    /// The flag for more records.
    var hasMore: (path: String, value: Bool)? { flag(PagingVocabulary.more.names(.member), in: linkHomes) }

    /// The flag that is true only on the last page.
    var isLast: (path: String, value: Bool)? { flag(PagingVocabulary.done.names(.clear), in: homes) }

    func flag(_ names: [String], in homes: [String]) -> (path: String, value: Bool)? {
        guard let survey else { return nil }
        for home in homes {
            for name in names {
                let path = ReplySurvey.member(home, name)
                switch survey[path] {
                case .bool(let value): return (path, value)
                // Some APIs send their flags as texts.
                case .text("true"): return (path, true)
                case .text("false"): return (path, false)
                default: continue
                }
            }
        }
        return nil
    }

    /// The member `has_more` or `done` of the rule, for the reply's flag.
    var moreMember: [DetectedPaging.Member] {
        hasMore.map { [("has_more", $0.path)] } ?? isLast.map { [("done", $0.path)] } ?? []
    }

    // MARK: Paths

    static func path(_ names: some Sequence<String>) -> String { names.reduce("$") { ReplySurvey.member($0, $1) } }
}
