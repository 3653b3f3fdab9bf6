public import Mapping
internal import RecordBatch
public import SQLiteStore

/// What a push did.
public struct PushReport: Sendable {
    /// What became of one edit.
    public struct Edit: Sendable {
        /// Where the edit stands now.
        public enum Outcome: String, Sendable, CaseIterable {
            /// The remote has it.
            case sent
            /// It is to be sent later.
            case waits
            /// The remote does not want it.
            case refused
            /// The remote's object was changed too.
            case conflict
            /// Nobody knows whether the remote has it.
            case unknown
            /// It was given up: the remote's object was changed too, and the entity's `conflicts` lets that count.
            case dropped
        }

        /// The number of its outbox entry.
        public var entry: Int64
        /// The object's entity.
        public var entity: String
        /// The object's key as it is now.
        public var key: [StoredValue]
        /// The temporary key that the remote's took the place of.
        public var oldKey: [StoredValue]?
        /// What was done with the object.
        public var operation: OutboxEntry.Operation
        /// Where the edit stands.
        public var outcome: Outcome
        /// Why it was not sent.
        public var failure: OutboxFailure?
        /// When it is tried again, as ISO 8601.
        public var next: String?

        init(_ entry: OutboxEntry, _ outcome: Outcome, _ failure: OutboxFailure? = nil) {
            self.entry = entry.id
            entity = entry.entity
            key = entry.key
            operation = entry.operation
            self.outcome = outcome
            self.failure = failure
        }
    }

    /// The edits that were sent or tried, in the order in which that was over, then those that were not.
    public var edits: [Edit]
    /// How long it took.
    public var duration: Duration
    /// Whether it was stopped before its end.
    public var wasInterrupted: Bool
    /// The number under which the database keeps what it did; nil when it changed no row.
    public var run: Int64?

    /// How many edits have an outcome.
    public func count(_ outcome: Edit.Outcome) -> Int { edits.count { $0.outcome == outcome } }

    /// Whether nothing stays behind.
    public var succeeded: Bool {
        edits.allSatisfy { $0.outcome == .sent || $0.outcome == .dropped } && !wasInterrupted
    }

    /// How the push ended, in a word.
    public var outcomeWord: String { wasInterrupted ? "interrupted" : succeeded ? "finished" : "failed" }

    /// The report as one JSON object.
    public var json: String {
        RecordBatchWriter.json { writer in
            writer.member("outcome", outcomeWord)
            if let run { writer.member("run", Int(run)) }
            writer.key("seconds")
            writer.decimal(SyncReport.seconds(duration))
            for outcome in Edit.Outcome.allCases { writer.member(outcome.rawValue, count(outcome)) }
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
        writer.member("outcome", outcome.rawValue)
        if let next { writer.member("next", next) }
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
