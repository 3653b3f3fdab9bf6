internal import BridgeHTTP

/// The cursor of a scan with detected paging; it includes the detection, so that a resumed scan does not guess again.
struct AutomaticCursor: Equatable {
    var members: [(name: String, value: String)]
    var records: String?
    var position: String

    static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    init(members: [(name: String, value: String)], records: String?, position: String) {
        self.members = members
        self.records = records
        self.position = position
    }

    /// - Returns: nil if the text is not such a cursor.
    init?(_ text: String) {
        guard text.hasPrefix("auto:"), let bar = text.firstIndex(of: " ") else { return nil }
        members = []
        position = String(text[text.index(after: bar)...])
        for pair in text[..<bar].dropFirst(5).split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            let value = HTTPURL.decode(String(halves[1]))
            if halves[0] == "records" { records = value } else { members.append((String(halves[0]), value)) }
        }
    }

    /// The cursor as text, such as `auto:style=next_url&path=%24.next&records=%24.items url:https://...`.
    var text: String {
        let all = members + (records.map { [(name: "records", value: $0)] } ?? [])
        return "auto:" + all.map { "\($0.name)=\(HTTPURL.encode($0.value))" }.joined(separator: "&") + " " + position
    }
}
