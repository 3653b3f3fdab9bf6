internal import RecordBatch

/// What the host asks a walk for.
public struct FetchRequest: Sendable {
    /// The entity's name in the config, for messages.
    public var entity: String
    /// The entity's own section of the config.
    public var section: BridgeOptions
    /// A resume point that an earlier page of the same walk gave; nil begins at the beginning.
    public var cursor: String?
    /// How many records a page should have, if the host has a wish.
    public var pageSize: Int?

    /// A request.
    public init(entity: String, section: BridgeOptions, cursor: String? = nil, pageSize: Int? = nil) {
        self.entity = entity
        self.section = section
        self.cursor = cursor
        self.pageSize = pageSize
    }

    init(_ record: BridgeOptions) {
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        cursor = record.string("cursor")
        pageSize = record.integer("page_size")
    }
}

/// What the host asks to change on the remote.
public struct WriteRequest: Sendable {
    /// What to do with the object.
    public enum Operation: String, Sendable {
        case create, update, delete
    }

    /// What to do.
    public var operation: Operation
    /// The entity's name in the config, for messages.
    public var entity: String
    /// The entity's own section of the config.
    public var section: BridgeOptions
    /// The object's key, by remote names.
    public var key: BridgeOptions
    /// The values to write, by remote names.
    public var values: BridgeOptions

    init(_ record: BridgeOptions) throws {
        guard let operation = Operation(rawValue: record.string("operation") ?? "") else {
            throw BridgeError(.unsupported, "unknown write operation \(record.string("operation") ?? "(none)")")
        }
        self.operation = operation
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        key = record.object("key") ?? .empty
        values = record.object("values") ?? .empty
    }
}

/// Where a walk stands after a call of ``RecordSource/next(into:)``.
public struct Page: Sendable {
    /// Where a later fetch continues after this page; nil where it can't.
    public var cursor: String?
    /// These records end a page: the host may commit.
    public var isPageEnd: Bool
    /// The walk is over; no more calls come.
    public var isEnd: Bool
    /// With `isEnd`: the walk listed everything that was asked for, and the remote's listing was stable.
    public var isComplete: Bool
    /// How many records the API says there are.
    public var total: Int64?
    /// URL or path, without secrets, for messages.
    public var location: String?
    /// Records that could not even be represented; they go to quarantine.
    public var rejected: [Rejected]
    /// What the user should know, a sentence each.
    public var warnings: [String]
    /// What else the API said about the reply.
    public var metadata: [String: String]

    /// A record that could not be represented.
    public struct Rejected: Sendable {
        /// Its number in the page, from 0, if known.
        public var index: Int?
        /// What is wrong with it.
        public var reason: String
        /// The record as the remote sent it, as far as it goes.
        public var representation: String

        /// A rejected record.
        public init(index: Int?, reason: String, representation: String) {
            self.index = index
            self.reason = reason
            self.representation = representation
        }
    }

    /// A page's state.
    public init(
        cursor: String? = nil, isPageEnd: Bool, isEnd: Bool, isComplete: Bool = false, total: Int64? = nil,
        location: String? = nil, rejected: [Rejected] = [], warnings: [String] = [], metadata: [String: String] = [:]
    ) {
        self.cursor = cursor
        self.isPageEnd = isPageEnd
        self.isEnd = isEnd
        self.isComplete = isComplete
        self.total = total
        self.location = location
        self.rejected = rejected
        self.warnings = warnings
        self.metadata = metadata
    }

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("cursor", cursor)
            writer.member("page_end", isPageEnd)
            writer.member("end", isEnd)
            writer.member("complete", isComplete)
            writer.member("total", total.map(Int.init))
            writer.member("location", location)
            writer.key("rejected")
            writer.array {
                for record in rejected {
                    writer.object {
                        writer.member("index", record.index)
                        writer.member("reason", record.reason)
                        writer.member("representation", record.representation)
                    }
                }
            }
            writer.key("warnings")
            writer.array { for warning in warnings { writer.text(warning) } }
            writer.key("metadata")
            writer.object { for (name, value) in metadata { writer.member(name, value) } }
        }
    }
}
