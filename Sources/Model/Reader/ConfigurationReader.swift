/// Converts a YAML document to a ``Configuration`` and collects all faults.
///
/// Reads as much as possible of an invalid part, so that one mistake causes one message and not a cascade.
struct ConfigurationReader {
    static let maxDiagnostics = 100

    let file: String
    /// The folder where the file's relative paths start.
    let directory: String
    /// The installed plugins; nil if unknown, in which case sections and options are not validated.
    let plugins: [String: CompiledPlugin]?
    /// The plugins whose invalid schema was already reported.
    var reportedPlugins: Set<String> = []
    var diagnostics: [Diagnostic] = []
    /// The learned attributes of entities with `attributes: auto`; nil until the first such entity is read.
    var learned: [String: YAMLNode]?

    /// The sections of bridges, by the bridge's name.
    var bridgeSections: [String: BridgeSection] = [:]
    /// Where the sections of bridges have faults that were reported.
    var reportedMarks: Set<YAMLMark> = []

    /// The names of the entities, for hints; empty until all are read.
    var entityNames = ValidNames([])

    /// A member of a mapping with a text key.
    struct Member {
        var name: String
        var key: YAMLNode
        var value: YAMLNode
    }

    init(file: String, plugins: [PluginSchema]?) {
        self.file = file
        directory = FilePath.base(of: file)
        self.plugins = plugins.map { plugins in
            Dictionary(plugins.map { ($0.name, CompiledPlugin($0)) }) { first, _ in first }
        }
    }

    mutating func read(_ root: YAMLNode) -> Configuration? {
        guard let members = members(of: root, "the file", at: root.mark) else { return nil }
        report(unknown: members, valid: FileKeys.shape.names, of: nil)
        let section = Section(members: members, what: "the file")
        for key in FileKeys.shape.keys where section[key] == nil {
            guard let remedy = key.remedy else { continue }
            error(at: root.mark, "missing key \(quoted(key.name))", remedy)
        }

        if let version = section[FileKeys.version], version.value.scalar != .int(1) {
            let given = version.value.scalarText.map { " \(shortened($0))" } ?? ""
            let isQuoted = version.value.scalarText == "1"
            error(
                at: version.value.mark,
                isQuoted ? "the version is a text" : "unknown version\(given) of the format",
                isQuoted ? "write \"version: 1\", without quotes about the number" : "write \"version: 1\"")
        }
        var database = FileKeys.usualDatabase
        if let given = section[FileKeys.database], let location = text(given, of: nil) {
            database = location
            if DatabaseURI.isURI(location) {
                checkURI(location, at: given.value.mark)
            } else {
                if location.utf8.contains(0) || location.hasSuffix("/") {
                    error(at: given.value.mark, "\"database\" is not a file path", "write one, such as bmo.sqlite")
                }
                checkDatabase(location, at: given.value.mark)
            }
        }
        let bridges = section[FileKeys.bridges].map { readBridges($0) } ?? []
        var model = Model()
        if let given = section[FileKeys.entities] {
            let defaults = section[FileKeys.defaults].map { readDefaults($0, bridges: bridges) } ?? EntityDefaults()
            model = readEntities(given, defaults, bridges: bridges)
        }
        return Configuration(
            file: file,
            databasePath: Configuration.location(ofDatabase: database, relativeTo: directory),
            bridges: bridges, model: model, history: section[FileKeys.history].map { history($0) } ?? .usual)
    }
}

extension ConfigurationReader {
    /// Rejects a path where no database can be created; otherwise a first sync would fail only after it began.
    private mutating func checkDatabase(_ path: String, at mark: YAMLMark) {
        let path = FilePath.absolute(path, relativeTo: directory)
        if FilePath.isSame(path, FilePath.absolute(file, relativeTo: FilePath.currentDirectory)) {
            error(at: mark, "\"database\" is this file itself", "name another, such as bmo.sqlite")
        } else if FilePath.isDirectory(path) {
            error(at: mark, "\"database\" is a folder: \(shortened(path))", "name a file in it, such as bmo.sqlite")
        } else if FilePath.isDirectory(directory),
            !FilePath.isDirectory(FilePath.directory(of: path))
        {
            error(
                at: mark, "the folder of \"database\" does not exist: \(shortened(FilePath.directory(of: path)))",
                "create it, or name another")
        }
    }

    /// Rejects a password in an address, which would appear in messages.
    private mutating func checkURI(_ uri: String, at mark: YAMLMark) {
        guard DatabaseURI.hasLiteralPassword(uri) else { return }
        error(
            at: mark, "\"database\" contains a password",
            "write {env:NAME} or {file:PATH} in its place, or use libpq's password file")
    }

    func location(_ mark: YAMLMark) -> SourceLocation {
        SourceLocation(file: file, line: mark.line, column: mark.column)
    }

    mutating func error(at mark: YAMLMark, _ message: String, _ remedy: String?) {
        diagnostics.append(Diagnostic(location: location(mark), message: message, remedy: remedy))
    }

    /// Returns the members of a mapping; an empty value is an empty mapping.
    ///
    /// Reports a fault and returns nil for anything else.
    mutating func members(of node: YAMLNode, _ what: String, at mark: YAMLMark) -> [Member]? {
        if node.isNull { return [] }
        guard case .mapping(let pairs) = node.content else {
            error(at: mark, "\(what) must be a mapping, not \(node.kind.rawValue)", "write \"name: value\" lines")
            return nil
        }
        var members: [Member] = []
        for pair in pairs {
            if let name = pair.key.keyName {
                members.append(Member(name: name, key: pair.key, value: pair.value))
            } else {
                let shown = pair.key.scalarText.map { " \(shortened($0))" } ?? ""
                let kind = pair.key.kind.rawValue
                error(at: pair.key.mark, "the key\(shown) in \(what) is \(kind), not text", "write it in quotes")
            }
        }
        return members
    }

    mutating func report(unknown members: [Member], valid: [String], of what: String?) {
        for member in members where !valid.contains(member.name) {
            error(
                at: member.key.mark, "unknown key \(quoted(member.name))" + (what.map { " of \($0)" } ?? ""),
                suggestion(for: member.name, among: valid))
        }
    }

    /// Returns the text of a member, with numbers and Booleans as written; reports a fault and returns nil for anything
    /// else.
    mutating func text(_ member: Member, of what: String?) -> String? {
        let subject = quoted(member.name) + (what.map { " of \($0)" } ?? "")
        guard let text = member.value.scalarText, !member.value.isNull else {
            error(at: member.value.mark, "\(subject) must be text, not \(member.value.kind.rawValue)", nil)
            return nil
        }
        guard !text.isEmpty else {
            error(at: member.value.mark, "\(subject) is empty", nil)
            return nil
        }
        return text
    }
}
