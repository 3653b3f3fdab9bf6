internal import Mapping
internal import Model
internal import StoreContract

/// Local edits that the remote has not confirmed, with buttons to retry or drop them.
enum OutboxView {
    static func table(_ entries: [OutboxEntry], _ context: PageContext) -> HTML {
        PagePart.table(
            "Edits", ["edit", "object", "what", "state", "values", ""], entries.map { row($0, context) },
            isCards: true)
    }

    private static func row(_ entry: OutboxEntry, _ context: PageContext) -> [HTML] {
        let style = [OutboxEntry.State.refused: "bad", .conflict: "bad", .unknown: "warn"][entry.state] ?? ""
        return [
            HTML(text: String(entry.id)),
            .joined([HTML(text: entry.entity + " "), PagePart.object(entry.entity, entry.key)]),
            HTML(text: entry.operation.rawValue),
            .joined([
                HTML("span", .class("tag \(style)")) { entry.state.rawValue }, nextTry(entry),
                entry.failure.map { failure in
                    HTML("div") {
                        HTML("p") { failure.message }
                        if let remote = failure.remote { HTML("p") { "The remote's answer: \(remote)" } }
                        if let remedy = failure.remedy { HTML("p", .class("quiet")) { remedy } }
                    }
                } ?? .empty,
            ]),
            values(entry, context), actions(entry, context),
        ]
    }

    /// Returns when a push tries an edit again that waits for that.
    private static func nextTry(_ entry: OutboxEntry) -> HTML {
        guard entry.state == .pending, let next = entry.notBefore, next > Clock.now() else { return .empty }
        return HTML("p") { "Next try at \(ValueText.time(next))." }
    }

    private static func values(_ entry: OutboxEntry, _ context: PageContext) -> HTML {
        let layout = context.model.index(of: entry.entity).map { context.model.entities[$0] }
        return .joined(
            entry.changes.prefix(20).map { change in
                let type = layout?.type(of: change.name)
                return HTML("div") {
                    HTML("code") { change.name }
                    ": "
                    ValueView.optional(change.old, type)
                    " → "
                    ValueView.optional(change.new, type)
                }
            }
                + entry.links.map { link in
                    HTML("div") {
                        HTML("code") { link.relationship }
                        ": [\(link.new.map(ValueText.key).joined(separator: ", "))]"
                    }
                })
    }

    private static func actions(_ entry: OutboxEntry, _ context: PageContext) -> HTML {
        guard entry.state != .sending else { return .empty }
        let fields = [("id", String(entry.id)), (SeenState.field, SeenState.of(entry))]
        return HTML("div", .class("row")) {
            if [.refused, .unknown].contains(entry.state) {
                context.button(
                    "Retry", WebLink("decide", "outbox"), fields + [("do", "retry")],
                    title: "The next push sends it again; if its outcome is unknown, after checking the remote.")
            }
            context.button(
                "Drop", WebLink("decide", "outbox"), fields + [("do", "drop")], style: "danger",
                title: "Roll back the edit here.")
        }
    }
}
