/// A validated configuration file.
public struct Configuration: Sendable, Equatable {
    /// The file's path as the caller gave it.
    public var file: String {
        didSet { directory = FilePath.base(of: file) }
    }
    /// The absolute path of the file's folder; of the process's folder for a file that is a pipe or a device.
    ///
    /// Relative paths of secrets start there.
    public private(set) var directory: String
    /// The version of the file format.
    public var version: Int
    /// The absolute path of the database, or a PostgreSQL database's URI without secrets.
    public var databasePath: String
    /// The bridges, in the order of the file.
    public var bridges: [BridgeConfiguration]
    /// The entities.
    public var model: Model
    /// How long runs and their change log are kept.
    public var history: HistoryRetention
    /// Faults that do not prevent using the file, such as a secret whose variable is not set.
    public var warnings: [Diagnostic]

    /// Creates a configuration without validation.
    public init(
        file: String, version: Int = 1, databasePath: String, bridges: [BridgeConfiguration], model: Model,
        history: HistoryRetention = .usual, warnings: [Diagnostic] = []
    ) {
        self.file = file
        directory = FilePath.base(of: file)
        self.version = version
        self.databasePath = databasePath
        self.bridges = bridges
        self.model = model
        self.history = history
        self.warnings = warnings
    }

    /// Returns the bridge with this name.
    public func bridge(named name: String) -> BridgeConfiguration? {
        bridges.first { $0.name == name }
    }

    /// Returns the form of ``databasePath`` for a path or an address; relative paths start in a folder.
    ///
    /// - Parameter folder: The folder; nil for the process's own.
    package static func location(ofDatabase text: String, relativeTo folder: String? = nil) -> String {
        let folder = folder ?? FilePath.currentDirectory
        return DatabaseURI.isURI(text)
            ? DatabaseURI.absolute(text, relativeTo: folder) : FilePath.absolute(text, relativeTo: folder)
    }
}
