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

    /// What an earlier finished fetch gave as ``Page/token``: bring only what moved since.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/incremental``.
    public var token: String?
    /// The newest value of the entity's incremental field that was imported, less the config's lookback, as the remote
    /// sent it.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/incremental``.
    public var since: String?
    /// The object whose children are wanted: its values by local names; nil where the entity has no parent.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/parent``.
    public var parent: BridgeOptions?
    /// Conditions that all hold of the records that are wanted; a bridge may leave any of them to the host.
    public var filters: [Filter]
    /// Contact nobody: write one record `{request, body}` per request that the first page would take, and say in
    /// ``Page/pushed`` which filters the remote would apply.
    public var explains: Bool
    /// The members of a record that the host reads: others may be left out, where that spares work; nil is all.
    public var fields: Set<String>?
    /// Bring no records: each ``RecordSource/next(into:)`` waits until something moved, at most so many milliseconds.
    ///
    /// It answers with ``Page/change()`` or ``Page/noChange()``; what moves between two calls counts for the next one. Throw
    /// ``BridgeError/Code/unsupported`` where the remote cannot tell: the host then asks from time to time. Only for a bridge that
    /// can ``BridgeDescriptor/Capability/watch``.
    public var watchMilliseconds: Int?
    /// Contact nobody, not even for a description of the API: return a ``JudgedSource`` with what is wrong with the section.
    ///
    /// Of a parent only the names of its attributes are known: they stand for the values. Only for a bridge that can
    /// ``BridgeDescriptor/Capability/judge``.
    public var judges = false
    /// With ``judges``: the entity's names; nil where the host does not tell them.
    public var names: EntityNames?
    /// With ``judges``: whether the entity's objects are written, too, so that a section that allows no writing is a fault.
    public var isWritable = false

    /// A condition on a record's value.
    public struct Filter: Sendable {
        /// How the record's value stands to the filter's.
        public enum Comparison: String, Sendable {
            case equal = "="
            case notEqual = "!="
            case less = "<"
            case lessOrEqual = "<="
            case greater = ">"
            case greaterOrEqual = ">="
        }

        /// The attribute's local name.
        public var attribute: String
        /// The attribute's path in the remote record, with dots.
        public var path: String
        /// The comparison.
        public var comparison: Comparison
        /// The value as text; nil is null.
        public var value: String?

        /// A condition.
        public init(attribute: String, path: String, comparison: Comparison, value: String?) {
            self.attribute = attribute
            self.path = path
            self.comparison = comparison
            self.value = value
        }

        init?(_ record: BridgeOptions) {
            guard let attribute = record.string("attribute"),
                let comparison = record.string("comparison").flatMap(Comparison.init)
            else { return nil }
            self.init(
                attribute: attribute, path: record.string("path") ?? attribute, comparison: comparison,
                value: record.string("value"))
        }
    }

    /// A request.
    public init(
        entity: String, section: BridgeOptions, cursor: String? = nil, pageSize: Int? = nil, token: String? = nil,
        since: String? = nil, parent: BridgeOptions? = nil, filters: [Filter] = [], explains: Bool = false,
        fields: Set<String>? = nil, watchMilliseconds: Int? = nil
    ) {
        self.entity = entity
        self.section = section
        self.cursor = cursor
        self.pageSize = pageSize
        self.token = token
        self.since = since
        self.parent = parent
        self.filters = filters
        self.explains = explains
        self.fields = fields
        self.watchMilliseconds = watchMilliseconds
    }

    init(_ record: BridgeOptions) {
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        cursor = record.string("cursor")
        pageSize = record.integer("page_size")
        token = record.string("token")
        since = record.string("since")
        parent = record.object("parent")
        filters = record.objects("filters").compactMap(Filter.init)
        explains = record.bool("explain") ?? false
        if record.has("fields") { fields = Set(record.strings("fields")) }
        if record.bool("watch") ?? false { watchMilliseconds = record.integer("wait") ?? 60_000 }
        judges = record.bool("judge") ?? false
        names = record.object("names").map(EntityNames.init)
        isWritable = record.bool("writable") ?? false
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
    /// The object's key, by local names.
    public var key: BridgeOptions
    /// The values to write, in the remote's shape: of an update those that changed.
    public var values: BridgeOptions
    /// All values of the local object, by local names, for paths and conditions.
    public var object: BridgeOptions
    /// The local values of the object's parent, by local names; nil where the entity has none.
    public var parent: BridgeOptions?
    /// The same for each try of one write, for remotes that know such keys.
    public var idempotencyKey: String?

    /// A request.
    public init(
        _ operation: Operation, entity: String, section: BridgeOptions, key: BridgeOptions = .empty,
        values: BridgeOptions = .empty, object: BridgeOptions = .empty, parent: BridgeOptions? = nil,
        idempotencyKey: String? = nil
    ) {
        self.operation = operation
        self.entity = entity
        self.section = section
        self.key = key
        self.values = values
        self.object = object
        self.parent = parent
        self.idempotencyKey = idempotencyKey
    }

    init(_ record: BridgeOptions) throws {
        guard let operation = Operation(rawValue: record.string("operation") ?? "") else {
            throw BridgeError(.unsupported, "unknown write operation \(record.string("operation") ?? "(none)")")
        }
        self.operation = operation
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        key = record.object("key") ?? .empty
        values = record.object("values") ?? .empty
        object = record.object("object") ?? .empty
        parent = record.object("parent")
        idempotencyKey = record.string("idempotency_key")
    }
}

/// Where a walk stands after a call of ``RecordSource/next(into:)``.
public struct Page {
    /// Where a later fetch continues after this page; nil where it can't.
    public var cursor: String?
    /// These records end a page: the host may commit.
    public var isPageEnd: Bool
    /// The walk is over; no more calls come.
    public var isEnd: Bool
    /// With `isEnd`: the walk listed everything that was asked for, from the request's cursor on, and the remote's
    /// listing was stable: the host takes what did not come for gone.
    ///
    /// With `since`: all that moved has come. With a token: all that is there has come, but what is spared; a walk that
    /// answers a token with changes is never complete.
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
    /// With `isEnd`: what a later fetch gets as ``FetchRequest/token``, for what moved since this one.
    public var token: String?
    /// With `isEnd`: the remote says that nothing moved since the token or `since`; such a walk deletes nothing.
    public var isUnchanged = false
    /// The objects that the remote says are gone: each in the shape of a record, of which the key suffices.
    public var deleted: [BridgeOptions] = []
    /// Objects that the walk did not look at: that they did not come says nothing, even where `isComplete` is true.
    public var spared: [Spared] = []
    /// With `isComplete`: the pages were told apart by position, so that what was added or removed meanwhile may have moved
    /// a record past the walk.
    ///
    /// Before it deletes anything, the host walks once more.
    public var isPositional = false
    /// Which of the request's filters the remote applies, by their places in the list.
    public var pushed: [Int] = []

    /// Objects that a walk did not look at, by a remote field of theirs.
    public struct Spared: Sendable {
        /// The path of the field in the remote record, with dots.
        public var field: String
        /// What the field is, or begins with.
        public var match: Match

        /// How the field's value is told.
        public enum Match: Sendable {
            /// The whole value.
            case equals(String)
            /// How the value begins.
            case prefix(String)
        }

        /// All objects: the walk brought what there is to bring, and says nothing about the rest.
        public static let everything = Spared(field: "", .prefix(""))

        /// Objects whose `field` matches.
        public init(field: String, _ match: Match) {
            self.field = field
            self.match = match
        }
    }

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

    /// The answer to a watch when something moved.
    public static func change() -> Page { Page(isPageEnd: true, isEnd: false) }

    /// The answer to a watch when nothing moved in its time.
    public static func noChange() -> Page {
        var page = Page(isPageEnd: true, isEnd: false)
        page.isUnchanged = true
        return page
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
            writeIncrementalMembers(to: writer)
        }
    }

    /// The members that ABI 1.1 added, where there is something to say.
    private func writeIncrementalMembers(to writer: RecordBatchWriter) {
        if let token { writer.member("token", token) }
        if isUnchanged { writer.member("unchanged", true) }
        if isPositional { writer.member("positional", true) }
        if !deleted.isEmpty {
            writer.key("deleted")
            writer.array { for object in deleted { object.write(to: writer) } }
        }
        if !spared.isEmpty {
            writer.key("spared")
            writer.array {
                for objects in spared {
                    writer.object {
                        writer.member("field", objects.field)
                        switch objects.match {
                        case .equals(let value): writer.member("equals", value)
                        case .prefix(let value): writer.member("prefix", value)
                        }
                    }
                }
            }
        }
        if !pushed.isEmpty {
            writer.key("pushed")
            writer.array { for index in pushed { writer.int64(Int64(index)) } }
        }
    }
}
