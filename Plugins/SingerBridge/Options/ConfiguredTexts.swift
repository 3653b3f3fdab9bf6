internal import RecordBatch

/// The texts of a tap's configuration, which may be secrets: what is shown of its output does not end within one.
///
/// The host replaces secrets in a message, but it knows a piece of one only by its form.
struct ConfiguredTexts: Sendable {
    /// Of shorter secrets, the host does not look for pieces.
    private static let shortest = 12
    /// The fewest bytes of a text that a line's end has to split.
    private static let shortestPiece = 8
    private let texts: [[UInt8]]

    init(_ texts: [String]) {
        self.texts = Set(texts).map { Array($0.utf8) }.filter { $0.count >= Self.shortest }
    }

    /// Returns the texts in a value, at any depth.
    static func all(in value: BatchValue) -> [String] {
        switch value.tag {
        case .text: [value.string]
        case .array: value.elements.flatMap { all(in: $0) }
        case .object: value.members.flatMap { all(in: $0.value) }
        default: []
        }
    }

    /// Returns how many bytes at the end may be the beginning of a configured text.
    func begun(atEndOf bytes: ArraySlice<UInt8>) -> Int { splits(atEndOf: bytes).map(\.count).max() ?? 0 }

    /// Returns at most this many bytes from the beginning, without the beginning of a configured text at the cut.
    func prefix(_ bytes: [UInt8], _ limit: Int) -> ArraySlice<UInt8> {
        let head = bytes.prefix(limit)
        return head.count == bytes.count ? head : head.dropLast(begun(atEndOf: head))
    }

    /// Whether a configured text is split by the end of a line.
    func areSplit(_ line: [UInt8], _ next: [UInt8]) -> Bool {
        splits(atEndOf: line[...]).contains { count, text in
            let rest = text[count...]
            let shared = min(rest.count, next.count)
            return shared > 0 && count + shared >= Self.shortestPiece
                && rest.prefix(shared).elementsEqual(next.prefix(shared))
        }
    }

    /// Returns the texts that may begin at the end, each with the number of its bytes that are there.
    private func splits(atEndOf bytes: ArraySlice<UInt8>) -> [(count: Int, text: [UInt8])] {
        var found: [(count: Int, text: [UInt8])] = []
        for text in texts {
            let most = min(text.count - 1, bytes.count)
            guard most > 0 else { continue }
            for count in 1...most {
                let start = bytes.endIndex - count
                if bytes[start] == text[0], bytes[start...].elementsEqual(text[..<count]) {
                    found.append((count, text))
                }
            }
        }
        return found
    }
}
