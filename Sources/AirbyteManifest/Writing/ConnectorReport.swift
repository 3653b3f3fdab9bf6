internal import Model

/// Reports for each stream of a connector whether it was carried over into the configuration.
package struct ConnectorReport: Sendable {
    /// How far a stream was carried over.
    package enum Verdict: String, Sendable, CaseIterable {
        case carried
        case doubtful = "carried with doubts"
        case notCarried = "not carried"
    }

    /// A stream and the reasons for its verdict.
    package struct Stream: Sendable {
        package let name: String
        package let verdict: Verdict
        package let reasons: [String]
    }

    package private(set) var streams: [Stream] = []
    /// What the streams are called where they come from.
    private let noun: String

    init(noun: String = "streams") { self.noun = noun }

    mutating func add(_ name: String, _ verdict: Verdict, _ reasons: [String]) {
        streams.append(Stream(name: name, verdict: verdict, reasons: reasons))
    }

    mutating func add(_ draft: EntityDraft) {
        if draft.isCarried {
            let doubts = Self.doubts(of: draft)
            add(draft.stream, doubts.isEmpty ? .carried : .doubtful, doubts)
        } else {
            add(draft.stream, .notCarried, ConnectorReport.obstacles(of: draft))
        }
    }

    /// The doubts about a stream, and those about which objects its parent has.
    private static func doubts(of draft: EntityDraft) -> [String] {
        guard let parent = draft.parent?.draft else { return draft.doubts }
        return draft.doubts + rowDoubts(of: parent)
    }

    private static func rowDoubts(of draft: EntityDraft) -> [String] {
        let own = draft.doubts.filter(draft.rowDoubts.contains).map { "\(draft.stream): \($0)" }
        return own + (draft.parent.map { rowDoubts(of: $0.draft) } ?? [])
    }

    static func obstacles(of draft: EntityDraft) -> [String] {
        if !draft.obstacles.isEmpty { return draft.obstacles }
        guard let parent = draft.parent?.draft else { return [] }
        return obstacles(of: parent).map { "its parent \(parent.stream) is not carried: \($0)" }
    }

    /// The number of streams with a verdict.
    package func count(_ verdict: Verdict) -> Int { streams.count { $0.verdict == verdict } }

    /// The report as lines: the counts, then each stream with its reasons.
    package var text: String {
        let counts = Verdict.allCases.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", ")
        var lines = ["\(streams.count) \(noun): \(counts)"]
        for stream in streams {
            lines.append("\(stream.verdict.rawValue): \(YAMLText.line(stream.name))")
            for reason in stream.reasons { lines.append("    \(YAMLText.line(reason))") }
        }
        return lines.joined(separator: "\n")
    }
}
