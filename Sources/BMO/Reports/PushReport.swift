public import BridgeHost
public import Mapping
internal import RecordBatch
public import StoreContract

/// The result of a push.
public struct PushReport: Sendable {
    /// The result of one edit.
    public struct Edit: Sendable {
        /// The number of its outbox entry.
        public var entry: Int64
        /// The object's entity.
        public var entity: String
        /// The object's current key.
        public var key: [StoredValue]
        /// The temporary key that the remote's key replaced.
        public var oldKey: [StoredValue]?
        /// The operation on the object.
        public var operation: OutboxEntry.Operation
        /// What became of it.
        public var outcome: EditOutcome
        /// When a push looks for an edit whose outcome is unknown, and sends it again if it is missing, as ISO 8601.
        public var nextLook: String?
        /// An unwanted side effect on the remote; the edit itself was sent.
        public var warning: String?

        init(_ entry: OutboxEntry, _ outcome: EditOutcome) {
            self.entry = entry.id
            entity = entry.entity
            key = entry.key
            operation = entry.operation
            self.outcome = outcome
            guard case .sent(let key?) = outcome else { return }
            oldKey = entry.key
            self.key = key
        }

        /// Why it was not sent.
        public var failure: OutboxFailure? { outcome.failure }

        /// When a push will try it again, or look for it, as ISO 8601.
        public var next: String? {
            guard case .waits(let until, _) = outcome else { return nextLook }
            return until
        }
    }

    /// The edits that were sent or tried, in order of completion, then the others.
    public var edits: [Edit]
    /// The duration of the push.
    public var duration: Duration
    /// Whether it was stopped before its end.
    public var wasInterrupted: Bool
    /// The number of the run in the database; nil when it changed no row.
    public var run: Int64?
    /// The requests that the bridges have reported, by the bridges' names; empty for a bridge that reports none.
    public var requests: [String: RequestCounts] = [:]

    /// The outcomes by outbox entry.
    var outcomes: [Int64: EditOutcome] {
        Dictionary(edits.map { ($0.entry, $0.outcome) }, uniquingKeysWith: { $1 })
    }

    /// Adds a later push of the same edits.
    mutating func add(_ later: PushReport) {
        let again = Set(later.edits.map(\.entry))
        edits = edits.filter { !again.contains($0.entry) } + later.edits
        duration += later.duration
        wasInterrupted = later.wasInterrupted
        run = later.run ?? run
        for (bridge, counts) in later.requests { requests[bridge, default: RequestCounts()] += counts }
    }

    /// Returns how many edits have an outcome of a kind.
    public func count(_ kind: EditOutcome.Kind) -> Int { edits.count { $0.outcome.kind == kind } }

    /// Whether every edit was sent or dropped, and the push was not interrupted.
    public var succeeded: Bool {
        count(.sent) + count(.dropped) == edits.count && !wasInterrupted
    }

    /// The push's outcome in a word.
    public var outcomeWord: String { wasInterrupted ? "interrupted" : succeeded ? "finished" : "failed" }

    /// The report as one JSON object.
    public var json: String {
        RecordBatchWriter.json { writer in
            writer.member("outcome", outcomeWord)
            if let run { writer.member("run", Int(run)) }
            writer.key("seconds")
            writer.decimal(SyncReport.seconds(duration))
            for kind in EditOutcome.Kind.allCases { writer.member(kind.rawValue, count(kind)) }
            writer.key("edits")
            writer.array { for edit in edits { writer.object { edit.writeMembers(to: writer) } } }
        }
    }
}

extension PushReport.Edit {
    /// The edit as one JSON object.
    public var json: String { RecordBatchWriter.json(writeMembers) }

    func writeMembers(to writer: RecordBatchWriter) {
        func key(_ name: String, _ values: [StoredValue]) {
            writer.key(name)
            writer.array { for value in values { OutgoingValue.plain(value).write(to: writer) } }
        }
        writer.member("entry", Int(entry))
        writer.member("entity", entity)
        key("key", self.key)
        if let oldKey { key("old_key", oldKey) }
        writer.member("operation", operation.rawValue)
        writer.member("outcome", outcome.kind.rawValue)
        if let next { writer.member("next", next) }
        if let warning { writer.member("warning", warning) }
        guard let failure else { return }
        writer.key("error")
        writer.object {
            writer.member("code", failure.code)
            writer.member("message", failure.message)
            writer.member("remedy", failure.remedy)
            writer.member("remote", failure.remote)
        }
    }
}

extension OutboxFailure {
    /// The failure on one line.
    public var line: String {
        var text = "\(code): \(message)"
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }
}
