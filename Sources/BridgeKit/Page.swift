internal import RecordBatch

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
