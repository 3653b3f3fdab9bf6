extension ConfigurationFile {
    /// Validates the file without connecting to a remote or reading a secret.
    ///
    /// - Parameters:
    ///   - plugins: The installed plugins, whose schemas validate options and sections; nil if unknown.
    ///   - environment: The variables by name. If given, a warning reports each secret whose variable is not set.
    /// - Returns: The configuration, with warnings.
    /// - Throws: All faults, in the order of the file.
    public func configuration(
        plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws(ConfigurationErrors) -> Configuration {
        var reader = ConfigurationReader(file: path, plugins: plugins)
        reader.diagnostics = faults
        var configuration: Configuration?
        if let root, !root.isNull {
            configuration = reader.read(root)
        } else if faults.isEmpty {
            reader.error(at: .start, "the file is empty", "\"bmo init\" writes one to start from")
        }
        guard var configuration, reader.diagnostics.isEmpty else {
            throw ConfigurationErrors(diagnostics: Self.sorted(reader.diagnostics))
        }
        if let environment {
            configuration.warnings =
                SecretWarnings(configuration, environment: environment).diagnostics
                + LiteralSecrets(configuration, self).diagnostics
                + AppendWarnings(configuration).diagnostics + TreeWarnings(configuration).diagnostics
                + ListingWarnings(configuration).diagnostics + SourceWarnings(configuration).diagnostics
                + KeyWarnings(configuration).diagnostics
        }
        return configuration
    }

    private static func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        let most = ConfigurationReader.maxDiagnostics
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
    /// Reads and validates the file at `path`; see ``configuration(plugins:environment:)``.
    public static func load(
        path: String, plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws(ConfigurationErrors) -> Configuration {
        try ConfigurationFile(path: path).configuration(plugins: plugins, environment: environment)
    }

    /// Validates `text` as the content of the file `path`, which need not exist; see
    /// ``configuration(plugins:environment:)``.
    public static func load(
        text: String, path: String, plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws(ConfigurationErrors) -> Configuration {
        try ConfigurationFile(text: text, path: path).configuration(plugins: plugins, environment: environment)
    }
}
