/// A location in a file, in the notation of editors and compilers: `bmo.yml:3:5`.
public struct SourceLocation: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The file's path as the caller gave it.
    public var file: String
    /// The line, from 1; 0 if only the file is known.
    public var line: Int
    /// The column in Unicode scalars, from 1.
    public var column: Int

    /// The location of values built in code.
    public static let unknown = SourceLocation(file: "", line: 0, column: 0)

    /// Creates a location in `file`; `line` and `column` count from 1.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `FILE:LINE:COLUMN`, or `FILE` if the line is unknown.
    public var description: String { line > 0 ? "\(file):\(line):\(column)" : file }

    /// Orders by file, then line, then column.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}
