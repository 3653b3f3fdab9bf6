internal import Model
internal import RecordBatch

extension SyncPlan {
    /// The plan as one JSON object, as `bmo plan --json` prints it.
    public var json: String {
        RecordBatchWriter.json { writer in
            writer.key("walks")
            writer.array { for scan in scans { writer.object { scan.writeMembers(to: writer) } } }
            writer.key("writes")
            writer.array {
                for write in writes { writer.object { write.writeMembers(to: writer) } }
            }
        }
    }
}

extension SyncPlan.Scan {
    fileprivate func writeMembers(to writer: RecordBatchWriter) {
        writer.member("entity", entity)
        if let source { writer.member("source", source) }
        writer.member("bridge", bridge)
        switch extent {
        case .full(let reason):
            writer.member("extent", "full")
            writer.member("reason", reason)
        case .since(let value):
            writer.member("extent", "since")
            writer.member("since", value)
        case .newestFirst(let value):
            writer.member("extent", "newest_first")
            writer.member("until", value)
        case .token(let instant):
            writer.member("extent", "token")
            writer.member("since", instant)
        case .part: writer.member("extent", "part")
        }
        if let resumesAfterPage { writer.member("resumes_after_page", resumesAfterPage) }
        if let parents {
            writer.key("parents")
            writer.object {
                writer.member("entity", parents.entity)
                writer.member("count", parents.count)
                if let due = parents.due { writer.member("due", due) }
                writer.member("concurrency", parents.concurrency)
                writer.key("conditions")
                writer.array { for text in parents.conditions { writer.text(text) } }
                writer.member("example", parents.example)
            }
        }
        writer.key("requests")
        writer.array {
            for request in requests {
                writer.object {
                    writer.member("request", request.text)
                    writer.member("body", request.body)
                }
            }
        }
        if let paging { writer.member("paging", paging) }
        writer.key("conditions")
        writer.array {
            for condition in conditions {
                writer.object {
                    writer.member("condition", condition.text)
                    writer.member("applied_by", condition.isPushed ? "api" : "bmo")
                }
            }
        }
        if let deletes { writer.member("deletes", deletes.mode.rawValue) }
        if let failure { writer.member("failure", failure.description) }
    }
}
