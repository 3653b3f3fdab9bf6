internal import TextFormats

/// A configuration file, read and parsed once, whose format is documented in `docs/configuration.md`.
///
/// The parsed tree serves every later question: a draft without plugins, the validated configuration, and the locations
/// of faults that are found later.
///
/// ```swift
/// let file = ConfigurationFile(path: "bmo.yml")
/// let configuration = try file.configuration(plugins: schemas)
/// ```
public struct ConfigurationFile: Sendable {
    /// The maximum size of a file, in bytes.
    package static let largest = 1 << 20

    /// The file's path as the caller gave it.
    public let path: String
    /// The faults found by reading and parsing, in the order of the file.
    package let faults: [Diagnostic]
    /// Whether there is no file at the path.
    package let isMissing: Bool
    let root: YAMLNode?

    /// Reads and parses the file at `path`; ``configuration(plugins:environment:)`` reports any fault.
    ///
    /// - Parameter path: The file. A relative path starts at the working directory, and messages show it as given.
    public init(path: String) {
        do throws(FileError) {
            self.init(bytes: try FilePath.read(path, limit: Self.largest), path: path)
        } catch {
            let isMissing = error.code == .missing
            let fault = Diagnostic(
                location: SourceLocation(file: path, line: 0, column: 0), message: "the file \(error.reason)",
                remedy: isMissing ? "\"bmo init\" writes one" : error.remedy)
            self.init(path: path, root: nil, faults: [fault], isMissing: isMissing)
        }
    }

    /// Parses `text` as if it were the content of the file `path`, which need not exist.
    public init(text: String, path: String) {
        self.init(bytes: Array(text.utf8), path: path)
    }

    private init(bytes: [UInt8], path: String) {
        do throws(YAMLFault) {
            let (root, faults) = YAMLParser.parse(try Self.decode(bytes))
            self.init(path: path, root: root, faults: faults.map { Diagnostic($0, in: path) })
        } catch {
            self.init(path: path, root: nil, faults: [Diagnostic(error, in: path)])
        }
    }

    private init(path: String, root: YAMLNode?, faults: [Diagnostic], isMissing: Bool = false) {
        self.path = path
        self.root = root
        self.faults = faults
        self.isMissing = isMissing
    }

    /// Returns the absolute path of the folder where a file's relative paths start; see ``Configuration/directory``.
    package static func directory(of path: String) -> String { FilePath.base(of: path) }

    /// The content without validation; nil for a file that is empty or not YAML.
    package var value: ConfigValue? { root.map { NaturalValue.of($0) } }

    private static func decode(_ bytes: [UInt8]) throws(YAMLFault) -> String {
        if bytes.count > largest {
            throw YAMLFault(
                mark: .start, message: "the file is larger than 1 MiB", remedy: "check that it is the right file")
        }
        // The mark of little-endian UTF-32 begins with that of UTF-16.
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
            throw YAMLFault(mark: .start, message: "the file is UTF-32", remedy: "save it as UTF-8")
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw YAMLFault(mark: .start, message: "the file is UTF-16", remedy: "save it as UTF-8")
        }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        if let text = String(validUTF8: bytes) { return text }
        // The bytes stop being UTF-8 where the decoder first fails.
        var mark = YAMLMark.start
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            mark.column = scalar == "\n" ? 1 : mark.column + 1
            mark.line += scalar == "\n" ? 1 : 0
        }
        throw YAMLFault(mark: mark, message: "the file is not UTF-8", remedy: "save it as UTF-8")
    }
}

extension Diagnostic {
    /// Creates a fault from a syntax fault of the file at `path`.
    init(_ fault: YAMLFault, in path: String) {
        self.init(
            location: SourceLocation(file: path, line: fault.mark.line, column: fault.mark.column),
            message: fault.message, remedy: fault.remedy)
    }
}
