/// The parts of a request that must match a recorded exchange.
///
/// The order of header fields and parameters may differ.
struct ExchangeKey: Hashable {
    private let method: String
    private let path: String
    private let query: [Substring]
    private let headers: [String: String]
    private let body: ExchangeFile.Body

    /// Header fields of the transport and of this program.
    private static let ignored: Set<String> = ["user-agent", "host", "content-length", "accept-encoding", "expect"]

    init(_ file: ExchangeFile) {
        method = file.method
        let parts = file.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? parts[1].split(separator: "&").sorted() : []
        headers = Dictionary(
            file.headers.filter { !Self.ignored.contains($0.name.lowercased()) }
                .map { ($0.name.lowercased(), $0.value) },
            uniquingKeysWith: { "\($0), \($1)" })
        body = file.body
    }

    /// Describes the differences in words, and weighs them.
    ///
    /// - Parameter describes: Whether words are made, which takes the longest.
    func differences(from recorded: ExchangeKey, describes: Bool = true) -> (weight: Int, words: String) {
        var weight = 0
        var words: [String] = []
        func note(_ what: String, _ asked: String, _ recorded: String, _ cost: Int) {
            guard asked != recorded else { return }
            weight += cost
            if describes { words.append("\(what) is \(Self.shown(asked)), recorded \(Self.shown(recorded))") }
        }
        note("the method", method, recorded.method, 20)
        if path != recorded.path {
            let common = zip(path.utf8, recorded.path.utf8).prefix { $0 == $1 }.count
            note("the path", path, recorded.path, 30 + max(path.utf8.count, recorded.path.utf8.count) - common)
        }
        let (mine, theirs) = (Self.members(query), Self.members(recorded.query))
        for name in Set(mine.keys).union(theirs.keys).sorted() {
            note("the parameter \(name)", mine[name] ?? "absent", theirs[name] ?? "absent", 3)
        }
        for name in Set(headers.keys).union(recorded.headers.keys).sorted() {
            note("the header \(name)", headers[name] ?? "absent", recorded.headers[name] ?? "absent", 2)
        }
        if body != recorded.body {
            weight += 5
            if describes { words.append(Self.difference(body, recorded.body)) }
        }
        return (weight, words.joined(separator: "; "))
    }

    private static func members(_ query: [Substring]) -> [String: String] {
        Dictionary(
            query.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }, uniquingKeysWith: { "\($0), \($1)" })
    }

    private static func shown(_ text: String) -> String {
        text.isEmpty ? "empty" : text.count > 160 ? "\(text.prefix(160))..." : text
    }

    /// Returns the first line in which two bodies differ.
    private static func difference(_ asked: ExchangeFile.Body, _ recorded: ExchangeFile.Body) -> String {
        guard case .text(let mine) = asked, case .text(let theirs) = recorded else {
            return "the body has \(asked.bytes.count) bytes, recorded \(recorded.bytes.count)"
        }
        let lines = (
            mine.split(separator: "\n", omittingEmptySubsequences: false),
            theirs.split(separator: "\n", omittingEmptySubsequences: false)
        )
        let same = zip(lines.0, lines.1).prefix { $0 == $1 }.count
        func line(_ lines: [Substring]) -> String {
            same < lines.count ? shown(lines[same].drop { $0 == " " }.description) : "nothing more"
        }
        return "the body's line \(same + 1) is \(line(lines.0)), recorded \(line(lines.1))"
    }
}
