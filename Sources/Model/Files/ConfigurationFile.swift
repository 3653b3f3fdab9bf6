/// Reads configuration files, whose format is documented in `docs/configuration.md`.
public enum ConfigurationFile {
    /// The maximum size of a file, in bytes.
    static let largest = 1 << 20

    /// Reads and validates the file at `path`.
    ///
    /// Does not connect to a remote or read a secret.
    ///
    /// - Parameters:
    ///   - path: The file. A relative path starts at the working directory, and messages show it as given.
    ///   - plugins: The installed plugins, whose schemas validate options and sections; nil if unknown.
    ///   - environment: The variables by name. If given, a warning reports each secret whose variable is not set.
    /// - Returns: The configuration, with warnings.
    /// - Throws: All faults, in the order of the file.
    public static func load(
        path: String, plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws(ConfigurationErrors) -> Configuration {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try FilePath.read(path, limit: largest)
        } catch {
            let place = SourceLocation(file: path, line: 0, column: 0)
            let remedy = error.code == .missing ? "\"bmo init\" writes one" : error.remedy
            throw ConfigurationErrors(
                diagnostics: [Diagnostic(location: place, message: "the file \(error.reason)", remedy: remedy)])
        }
        return try load(bytes: bytes, path: path, plugins: plugins, environment: environment)
    }

    /// Validates `text` as if it were the content of the file `path`, which need not exist.
    ///
    /// - Throws: All faults, in the order of the text.
    public static func load(
        text: String, path: String, plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws(ConfigurationErrors) -> Configuration {
        try load(bytes: Array(text.utf8), path: path, plugins: plugins, environment: environment)
    }

    private static func load(
        bytes: [UInt8], path: String, plugins: [PluginSchema]?, environment: [String: String]?
    ) throws(ConfigurationErrors) -> Configuration {
        var reader = ConfigurationReader(file: path, plugins: plugins)
        var configuration: Configuration?
        if bytes.count > largest {
            reader.error(at: .start, "the file is larger than 1 MiB", "check that it is the right file")
        } else if let text = decode(bytes, &reader) {
            let (root, faults) = YAMLParser.parse(text)
            for fault in faults { reader.error(at: fault.mark, fault.message, fault.remedy) }
            if let root, !root.isNull {
                configuration = reader.read(root)
            } else if faults.isEmpty {
                reader.error(at: .start, "the file is empty", "\"bmo init\" writes one to start from")
            }
        }
        guard var configuration, reader.diagnostics.isEmpty else {
            throw ConfigurationErrors(diagnostics: sorted(reader.diagnostics))
        }
        if let environment {
            let text = String(decoding: bytes, as: UTF8.self)
            configuration.warnings =
                SecretWarnings(configuration, environment: environment).diagnostics
                + LiteralSecrets(configuration, ConfigurationPlaces(file: path, text: text)).diagnostics
                + AppendWarnings(configuration).diagnostics + TreeWarnings(configuration).diagnostics
                + ListingWarnings(configuration).diagnostics + SourceWarnings(configuration).diagnostics
        }
        return configuration
    }

    private static func decode(_ bytes: [UInt8], _ reader: inout ConfigurationReader) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            reader.error(at: .start, "the file is UTF-16", "save it as UTF-8")
            return nil
        }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // The bytes stop being UTF-8 where the decoder first fails.
        var line = 1
        var column = 1
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            column = scalar == "\n" ? 1 : column + 1
            line += scalar == "\n" ? 1 : 0
        }
        reader.error(at: YAMLMark(line: line, column: column), "the file is not UTF-8", "save it as UTF-8")
        return nil
    }

    private static func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        let most = ConfigurationReader.mostDiagnostics
        let ordered = FollowUpFaults.behindCauses(
            diagnostics.enumerated().sorted {
                ($0.element.location, $0.offset) < ($1.element.location, $1.offset)
            }.map(\.element))
        guard ordered.count > most, let last = ordered.last else { return ordered }
        let more = Diagnostic(
            location: last.location, message: "\(ordered.count - most) more faults are not shown",
            remedy: "correct those above first")
        return Array(ordered.prefix(most)) + [more]
    }
}

extension ConfigurationFile {
    /// Returns the value of a YAML text without validation; nil for a text that is empty or not YAML.
    package static func value(ofYAML text: String) -> ConfigValue? {
        YAMLParser.parse(text).root.map { NaturalValue.of($0) }
    }

    /// Returns the syntax faults of a YAML text, with their locations in `file`.
    package static func faults(ofYAML text: String, file: String) -> [Diagnostic] {
        YAMLParser.parse(text).faults.map { fault in
            Diagnostic(
                location: SourceLocation(file: file, line: fault.mark.line, column: fault.mark.column),
                message: fault.message, remedy: fault.remedy)
        }
    }
}
