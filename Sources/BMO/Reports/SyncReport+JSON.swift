internal import Importer
internal import RecordBatch

extension SyncReport {
    /// The sync's outcome in a word.
    public var outcomeWord: String { wasInterrupted ? "interrupted" : succeeded ? "finished" : "failed" }

    /// The report as one JSON object, the last line of `bmo sync --json`.
    public var json: String {
        RecordBatchWriter.json { writer in
            writer.member("outcome", outcomeWord)
            if let run { writer.member("run", Int(run)) }
            if let shard { writer.member("shard", shard.description) }
            if let conflicts { writer.member("conflicts", conflicts) }
            writer.key("seconds")
            writer.decimal(Self.seconds(duration))
            writer.key("entities")
            writer.array {
                for entity in entities { writer.object { entity.writeMembers(to: writer) } }
            }
        }
    }

    /// Returns seconds with three decimals.
    static func seconds(_ duration: Duration) -> String {
        let parts = duration.components
        let milliseconds = parts.attoseconds / 1_000_000_000_000_000
        return "\(parts.seconds).\(String(1000 + milliseconds).dropFirst())"
    }
}

extension SyncReport.Entity {
    /// The scan's outcome in a word.
    public var outcomeWord: String {
        switch outcome {
        case .finished: "finished"
        case .failed: "failed"
        case .interrupted: "interrupted"
        case .nested: "nested"
        }
    }

    /// The outcome for display, which also shows incomplete listings.
    public var shownOutcome: String {
        if case .finished = outcome, isIncomplete { "incomplete" } else { outcomeWord }
    }

    /// The entity's part of the report as one JSON object.
    public var json: String { RecordBatchWriter.json(writeMembers) }

    func writeMembers(to writer: RecordBatchWriter) {
        writer.member("entity", name)
        writer.member("bridge", bridge)
        writer.member("outcome", outcomeWord)
        if isIncomplete { writer.member("incomplete", true) }
        writer.member("pages", pages)
        if let resumedAfterPage { writer.member("resumed_after_page", resumedAfterPage) }
        writer.member("inserted", counts.inserted)
        writer.member("updated", counts.updated)
        writer.member("unchanged", counts.unchanged)
        writer.member("quarantined", counts.quarantined)
        writer.member("stubs", counts.stubs)
        writer.member("relinked", counts.relinked)
        writer.member("deleted", counts.deleted)
        if let parents { write(parents, to: writer) }
        writer.key("seconds")
        writer.decimal(SyncReport.seconds(duration))
        writer.key("warnings")
        writer.array { for warning in warnings { writer.text(warning) } }
        guard case .failed(let failure) = outcome else { return }
        writer.key("error")
        writer.object {
            writer.member("code", failure.code)
            writer.member("message", failure.message)
            writer.member("remedy", failure.remedy)
            writer.member("location", failure.location)
            writer.member("remote", failure.remote)
            writer.member("page", failure.page)
            if let held = failure.heldDeletions { writer.member("held", held) }
        }
    }

    private func write(_ parents: SyncReport.Parents, to writer: RecordBatchWriter) {
        writer.key("parents")
        writer.object {
            writer.member("walked", parents.scanned)
            writer.member("unchanged", parents.unchanged)
            if parents.spared > 0 { writer.member("spared", parents.spared) }
            writer.member("missing", parents.missing)
            writer.member("failed", parents.failed)
            writer.key("failures")
            writer.array {
                for failure in parents.failures {
                    writer.object {
                        writer.member("parent", failure.parent)
                        writer.member("code", failure.code)
                        writer.member("message", failure.failure.message)
                        writer.member("location", failure.failure.location)
                    }
                }
            }
        }
    }
}
