internal import Model
internal import SystemCalls

/// What the files of a configuration contain: its own and that of the learned attributes.
struct ConfigurationContent: Equatable, Sendable {
    /// Nil for a file that cannot be read, or that is a pipe and can be read only once.
    var file: [UInt8]?
    var learned: [UInt8]?

    init(file: [UInt8]?, learned: [UInt8]?) {
        self.file = file
        self.learned = learned
    }

    /// Reads the files of the configuration at a path.
    init(path: String) {
        self.init(file: Self.read(path), learned: Self.read(LearnedAttributes.path(beside: path)))
    }

    static func read(_ path: String) -> [UInt8]? {
        try? BoundedFile.read(path, limit: ConfigurationFile.largest, kind: .regular)
    }
}

/// Whether the content of a configuration has changed since it was loaded.
struct ConfigurationState {
    /// What a look at the files finds.
    enum Finding: Equatable {
        /// It is the one that was loaded.
        case same
        /// It is the one that was loaded again, after another one.
        case restored
        /// It has just changed, and may be incomplete yet.
        case unsettled
        /// It has changed.
        case changed
        /// It has changed, and it was refused before.
        case refused
    }

    private let loaded: ConfigurationContent
    private var seen: ConfigurationContent
    private var refused: ConfigurationContent?

    init(_ loaded: ConfigurationContent) {
        self.loaded = loaded
        seen = loaded
    }

    /// Whether work may go on as it was loaded.
    ///
    /// Not after a change, until the new content was loaded or refused: another program may have adapted the database
    /// to it.
    func permits(_ now: ConfigurationContent) -> Bool { now == loaded || now == refused }

    /// Whether the files have a content that was refused.
    var isRefused: Bool { refused != nil }

    /// Notes the content of the files, which is compared with that of the last look.
    mutating func look(at now: ConfigurationContent) -> Finding {
        defer { seen = now }
        if now == loaded {
            let wasOther = seen != loaded
            refused = nil
            return wasOther ? .restored : .same
        }
        if now == refused { return .refused }
        return now == seen ? .changed : .unsettled
    }

    /// Notes that a content cannot be used.
    mutating func refuse(_ content: ConfigurationContent) { refused = content }
}
