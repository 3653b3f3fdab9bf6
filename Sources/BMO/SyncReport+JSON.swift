internal import RecordBatch

extension SyncReport {
    /// How the sync ended, in a word.
    public var outcomeWord: String { wasInterrupted ? "interrupted" : succeeded ? "finished" : "failed" }

    /// The report as one JSON object: what `bmo sync --json` ends with.
    public var json: String {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("outcome")
            writer.text(outcomeWord)
            writer.key("seconds")
            writer.decimal(Self.seconds(duration))
            writer.key("entities")
            writer.array { for entity in entities { entity.write(to: writer) } }
        }
        // Only memory can fail here, and a report without its details is better than none.
        return (try? writer.finish())?[0].json ?? "{\"outcome\":\"\(outcomeWord)\"}"
    }

    /// Seconds with three decimals.
    static func seconds(_ duration: Duration) -> String {
        let parts = duration.components
        let milliseconds = parts.attoseconds / 1_000_000_000_000_000
        return "\(parts.seconds).\(String(1000 + milliseconds).dropFirst())"
    }
}

extension SyncReport.Entity {
    /// How the walk ended, in a word.
    public var outcomeWord: String {
        switch outcome {
        case .finished: "finished"
        case .failed: "failed"
        case .interrupted: "interrupted"
        case .nested: "nested"
        }
    }

    /// The entity's part of the report as one JSON object.
    public var json: String {
        let writer = RecordBatchWriter()
        write(to: writer)
        return (try? writer.finish())?[0].json ?? "{}"
    }

    func write(to writer: RecordBatchWriter) {
        func integer(_ name: String, _ value: Int) {
            writer.key(name)
            writer.int64(Int64(value))
        }
        func text(_ name: String, _ value: String?) {
            writer.key(name)
            if let value { writer.text(value) } else { writer.null() }
        }
        writer.object {
            text("entity", name)
            text("bridge", bridge)
            text("outcome", outcomeWord)
            integer("pages", pages)
            if let resumedAfterPage { integer("resumed_after_page", resumedAfterPage) }
            integer("inserted", counts.inserted)
            integer("updated", counts.updated)
            integer("unchanged", counts.unchanged)
            integer("quarantined", counts.quarantined)
            integer("stubs", counts.stubs)
            integer("relinked", counts.relinked)
            writer.key("seconds")
            writer.decimal(SyncReport.seconds(duration))
            writer.key("warnings")
            writer.array { for warning in warnings { writer.text(warning) } }
            if case .failed(let failure) = outcome {
                writer.key("error")
                writer.object {
                    text("code", failure.code)
                    text("message", failure.message)
                    text("remedy", failure.remedy)
                    text("location", failure.location)
                    text("remote", failure.remote)
                    writer.key("page")
                    if let page = failure.page { writer.int64(Int64(page)) } else { writer.null() }
                }
            }
        }
    }
}
