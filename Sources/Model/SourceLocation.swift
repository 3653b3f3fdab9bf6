/// A place in a file, as editors and compilers write it: `bmo.yml:3:5`.
public struct SourceLocation: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The file's path as the caller gave it.
    public var file: String
    /// The line, counted from 1; 0 where only the file is known.
    public var line: Int
    /// The column, counted from 1 in Unicode scalars.
    public var column: Int

    /// A place that no file has: of values built in code.
    public static let unknown = SourceLocation(file: "", line: 0, column: 0)

    /// A place in `file`; `line` and `column` count from 1.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `FILE:LINE:COLUMN`, or `FILE` alone where the line is not known.
    public var description: String { line > 0 ? "\(file):\(line):\(column)" : file }

    /// Orders by file, then line, then column.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}
