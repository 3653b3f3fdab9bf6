/// A line and a column of a text, both from 1.
struct YAMLMark: Sendable, Hashable, Comparable {
    var line: Int
    var column: Int

    static let start = YAMLMark(line: 1, column: 1)

    static func < (left: YAMLMark, right: YAMLMark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A syntax fault in a text.
struct YAMLFault: Error {
    var mark: YAMLMark
    var message: String
    var remedy: String
}
