internal import BMO
internal import Mapping
internal import Model
internal import StoreContract

/// An object: its values with their sources, its relationships, its history, and the form to edit it.
struct ObjectPage {
    private let context: PageContext
    private let content: ObjectContent

    static func make(_ context: PageContext, entity: String, key parts: [String]) async throws -> HTMLPage {
        let layout = try context.layout(entity)
        let quarantined = try await context.kept.now().status(of: entity)?.quarantined ?? 0
        let workspace = context.workspace
        let content = try await context.readers.read { store in
            try ObjectContent(layout, parts: parts, quarantined: quarantined, workspace, in: store)
        }
        return ObjectPage(context: context, content: content).page
    }

    private var layout: EntityLayout { content.layout }
    private var history: RowHistory { content.history }

    private var page: HTMLPage {
        let label = history.values.flatMap { RowLabels.label(of: $0, layout) }
        return HTMLPage("\(layout.name) \(ValueText.key(content.key))" + (label.map { ": \($0)" } ?? "")) {
            HTML("p", .class("quiet")) {
                PagePart.link(WebLink("entity", layout.name), "All of \(layout.name)")
                ". "
                state
            }
            pending
            quarantined
            if let values = history.values { columns(values) }
            related
            events
            if let values = history.values { EditForm(context, content, values).view }
        }
    }

    private var state: String {
        if history.values == nil { return "The database does not have this object." }
        if history.isStub { return "A stub: other objects refer to it, but only its key is known." }
        return history.isListed ? "" : "Known only from other entities' records or other sources."
    }

    // MARK: Pending edit and quarantine

    private var pending: HTML {
        .joined([
            content.conflicts.isEmpty
                ? .empty
                : PagePart.notice(.bad) {
                    HTML("p") {
                        "Changed both here and on the remote: "
                        content.conflicts.map { $0.column ?? "the whole object" }.joined(separator: ", ")
                        ". "
                        PagePart.link(WebLink(["decide"], fragment: "conflicts"), "Decide")
                    }
                },
            content.entries.isEmpty
                ? .empty
                : PagePart.notice(.warn) {
                    HTML("p") { "Edited here, and not yet confirmed by the remote:" }
                    OutboxView.table(content.entries, context)
                },
        ])
    }

    private var quarantined: HTML {
        .joined(
            history.quarantined.map { entry in
                PagePart.notice(.bad) {
                    HTML("p") { "A record of this object could not be imported: \(entry.record.reason)" }
                    HTML("p") {
                        PagePart.link(
                            WebLink(["decide"], query: [("entity", entry.record.entity)], fragment: "quarantine"),
                            "Look at the record")
                    }
                }
            })
    }

    // MARK: Columns

    private func columns(_ values: [StoredValue]) -> HTML {
        let rows = zip(layout.columns, values).map { field, value in
            [HTML("code") { field.name }, cell(field, value, values), source(of: field.name)]
        }
        return PagePart.table("Values", ["column", "value", "source"], rows)
    }

    private func cell(_ field: EntityLayout.Field, _ value: StoredValue, _ values: [StoredValue]) -> HTML {
        let mark =
            content.pendingFields.contains(field.name)
            ? HTML("span", .class("tag warn")) { "edited here" } : HTML.empty
        if let relationship = field.relationship {
            let one = layout.toOne[relationship]
            if let key = RowLabels.reference(one, in: values, layout) {
                let label = content.labels.label(one.target, key).map { "\($0) (\(ValueText.key(key)))" }
                return .joined([
                    PagePart.object(context.model.entities[one.target].name, key, label: label), HTML(text: " "), mark,
                ])
            }
        }
        return .joined([ValueView.value(value, field.type, isWhole: true), HTML(text: " "), mark])
    }

    /// Returns where a column's value came from.
    private func source(of column: String) -> HTML {
        guard let group = history.groups.last(where: { $0.columns.contains(column) }) else { return .empty }
        return .joined([
            HTML("span") {
                group.isListing ? "\(group.bridge), its own listing" : "\(group.bridge), in the scan of \(group.scan)"
            },
            group.lastRun.map { run in
                HTML("span") {
                    ", "
                    PagePart.link(WebLink("runs", String(run)), "run \(run)")
                }
            } ?? .empty,
            group.location.map { location in HTML("div", .class("quiet mono")) { location } } ?? .empty,
        ])
    }

    // MARK: Relationships

    private var related: HTML {
        guard !content.related.isEmpty else { return .empty }
        let rows = content.related.map { related in
            [
                HTML("code") { related.name }, PagePart.link(WebLink("entity", related.entity), related.entity),
                targets(related),
            ]
        }
        return .joined([
            HTML("h2") { "Relationships" },
            PagePart.table("Relationships", ["relationship", "entity", "objects"], rows, isCards: true),
        ])
    }

    private func targets(_ related: ObjectContent.Related) -> HTML {
        guard !related.objects.isEmpty else { return HTML("span", .class("quiet")) { "none" } }
        let links = related.objects.enumerated().flatMap { index, object in
            [
                index > 0 ? HTML(text: ", ") : .empty,
                PagePart.object(
                    related.entity, object.key, label: object.label.map { "\($0) (\(ValueText.key(object.key)))" }),
            ]
        }
        let rest: HTML =
            !related.hasMore
            ? .empty
            : related.conditions.isEmpty
                ? HTML(text: " and more")
                : .joined([
                    HTML(text: ", "),
                    PagePart.link(
                        WebLink(["entity", related.entity], query: related.conditions.map { ("where", $0) }), "all"),
                ])
        return .joined(links + [rest])
    }

    // MARK: History

    private var events: HTML {
        guard !layout.key.isEmpty else { return .empty }
        let rows = history.events.flatMap { event -> [[HTML]] in
            let head = [
                PagePart.link(WebLink("runs", String(event.run)), String(event.run)), HTML(text: event.kind),
                ValueView.time(event.started), HTML(text: event.change.kind.rawValue),
            ]
            return ChangeView.lines(event.change, context.model).enumerated().map {
                ($0 == 0 ? head : [.empty, .empty, .empty, .empty]) + $1
            }
        }
        return .joined([
            HTML("h2") { "History" },
            rows.isEmpty
                ? PagePart.quiet("No changes of this object are recorded.")
                : PagePart.table(
                    "History", ["run", "what", "began", "change", "column", "old", "new"], rows, isCards: true),
        ])
    }
}
