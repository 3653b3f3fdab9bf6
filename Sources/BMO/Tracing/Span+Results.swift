internal import StoreContract
internal import Tracing

// The spans of bmo's work, for the tracer of the program that embeds the library (swift-distributed-tracing). Without a
// tracer they cost nothing.
//
//     bmo.sync            a sync
//       bmo.entity        the scans of one entity
//         bmo.page        a page, from the wait for its first record to its commit
//           bmo.fetch     a wait for the bridge's next records, which it prepares while others are imported
//     bmo.push            a push
//       bmo.write         one try of one edit

extension Span {
    /// Notes the result of a sync.
    func note(_ report: SyncReport) {
        attributes["bmo.outcome"] = report.outcomeWord
        attributes["bmo.run"] = report.run
        if report.outcomeWord == "failed" { setStatus(SpanStatus(code: .error, message: "an entity failed")) }
    }

    /// Notes the result of an entity's scans.
    func note(_ entity: SyncReport.Entity) {
        attributes["bmo.entity"] = entity.name
        attributes["bmo.bridge"] = entity.bridge
        attributes["bmo.outcome"] = entity.shownOutcome
        attributes["bmo.pages"] = entity.pages
        let counts = entity.counts
        for (name, count) in [
            ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
            ("deleted", counts.deleted), ("quarantined", counts.quarantined),
        ] { attributes["bmo.records.\(name)"] = count }
        if case .failed(let failure) = entity.outcome {
            attributes["error.type"] = failure.code
            setStatus(SpanStatus(code: .error, message: failure.message))
        }
    }

    /// Notes the result of a push.
    func note(_ report: PushReport) {
        attributes["bmo.outcome"] = report.outcomeWord
        attributes["bmo.run"] = report.run
        for kind in EditOutcome.Kind.allCases { attributes["bmo.edits.\(kind.rawValue)"] = report.count(kind) }
    }

    /// Notes the outcome of a try to send an edit.
    func note(_ edit: PushReport.Edit) {
        attributes["bmo.outcome"] = edit.outcome.kind.rawValue
        guard let failure = edit.failure else { return }
        attributes["error.type"] = failure.code
        setStatus(SpanStatus(code: .error, message: failure.message))
    }
}
