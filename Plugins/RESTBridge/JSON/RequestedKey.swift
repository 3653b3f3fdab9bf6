internal import BridgeJSON
internal import BridgeKit

/// The key of the single object that a request asks for, by which it is found in the reply.
struct RequestedKey: Sendable {
    /// The names on the path of each part of the key in the object's record.
    private let paths: [[String]]
    /// What the host knows of the object, as texts: the values of its key are among them, unless a transformation makes
    /// others of them.
    private let known: Set<String>
    /// Whether the request searches a listing: then a member of the reply that has the name of the key may be anything.
    private let isSearch: Bool

    /// The usual places of a single object, outermost first.
    private static let wrappers = ["$.data", "$.result", "$.response", "$.d", "$.value", "$.item", "$.record"]

    /// Returns nil if the request asks for a listing.
    init?(_ request: FetchRequest, isSearch: Bool) {
        guard request.readsOne || request.readsDetails else { return nil }
        let paths = request.keyPaths.isEmpty ? ["id"] : request.keyPaths
        self.paths = paths.map { $0.split(separator: ".").map(String.init) }
        let parent = request.parent
        known = Set((parent?.names ?? []).compactMap { parent?.string($0) })
        self.isSearch = isSearch
    }

    /// Returns the path of the object in a reply; nil if the reply does not show by the key where it is.
    func home(in survey: ReplySurvey) -> String? {
        // The id of a JSON-RPC reply belongs to the request.
        let root = survey["$.jsonrpc"] == .missing ? ["$"] : []
        let homes = root + Self.wrappers.filter { survey[$0] == .object }
        if let home = homes.first(where: { hasValues(survey, $0, known.contains) }) { return home }
        if let wrapper = wrapper(in: survey) { return wrapper }
        return isSearch ? nil : homes.first { hasValues(survey, $0) { _ in true } }
    }

    /// Returns the path of the outermost object under another name that contains all lists of the reply.
    private func wrapper(in survey: ReplySurvey) -> String? {
        let lists = survey.lists
        guard !lists.isEmpty else { return nil }
        return survey.findings.first { finding in
            finding.value == .object && lists.allSatisfy { $0.isPath(inside: finding.path) }
                && hasValues(survey, finding.path, known.contains)
        }?.path
    }

    private func hasValues(_ survey: ReplySurvey, _ home: String, _ fits: (String) -> Bool) -> Bool {
        paths.allSatisfy { path in
            switch survey[path.reduce(home, ReplySurvey.member)] {
            case .number(let text), .text(let text): fits(text)
            case .bool, .missing, .null, .object, .array: false
            }
        }
    }
}
