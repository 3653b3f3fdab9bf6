internal import StoreContract

/// What needs a decision: one line each, with a button or a link to the page for it.
struct TodoList {
    /// A line.
    struct Line {
        let kind: Notice.Kind
        let text: String
        let action: HTML
    }

    let lines: [Line]

    init(_ overview: DatabaseOverview, _ context: PageContext) {
        var lines: [Line] = []
        func add(_ kind: Notice.Kind, _ text: String, _ action: HTML) {
            lines.append(Line(kind: kind, text: text, action: action))
        }
        if overview.conflicts > 0 {
            add(
                .bad,
                NumberText.count(overview.conflicts, "value was", "values were")
                    + " changed both here and on the remote.",
                PagePart.link(WebLink(["decide"], fragment: "conflicts"), "Decide"))
        }
        for (state, words) in [
            (OutboxEntry.State.refused, "refused by the remote"),
            (.unknown, "sent, but with an unknown outcome"),
        ] {
            let count = overview.outbox.count { $0.state == state }
            guard count > 0 else { continue }
            add(
                state == .refused ? .bad : .warn, "\(NumberText.count(count, "edit", "edits")): \(words).",
                PagePart.link(WebLink(["decide"], fragment: "outbox"), "Decide"))
        }
        for (entity, report) in overview.reports.sorted(by: { $0.key < $1.key }) where report.code != nil {
            add(
                .bad,
                report.isHeld
                    ? "\(entity): the sync would have deleted too many rows, so it deleted none."
                    : "\(entity): the last sync failed: \(report.message ?? report.code ?? "")",
                report.isHeld
                    ? PagePart.link(WebLink(["decide"], fragment: "held"), "Decide")
                    : PagePart.link(WebLink("runs", String(report.run)), "Show"))
        }
        for status in overview.entities where status.quarantined > 0 {
            add(
                .warn,
                "\(status.name): \(NumberText.count(status.quarantined, "record", "records")) could not be imported.",
                PagePart.link(WebLink(["decide"], query: [("entity", status.name)], fragment: "quarantine"), "Look"))
        }
        for (entity, report) in overview.reports.sorted(by: { $0.key < $1.key }) where report.isIncomplete {
            add(
                .warn, "\(entity): the last listing was incomplete, so nothing was deleted.",
                PagePart.link(WebLink("runs", String(report.run)), "Show"))
        }
        if let last = overview.runs.first, ["killed", "interrupted"].contains(last.outcome) {
            add(
                .warn, "The last run, a \(last.kind), was \(last.outcome) before it ended.",
                context.button("Sync all", WebLink("sync")))
        }
        self.lines = lines
    }
}
