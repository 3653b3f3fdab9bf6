internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// A run: what it reported, and what it changed, with old and new values side by side.
enum RunPage {
    /// The maximum number of changed rows that a page shows.
    private static let limit = 200

    private struct Content: Sendable {
        var run: RunRecord
        var shown: FirstChanges
    }

    static func make(_ context: PageContext, id: String, entity: String?) async throws -> HTMLPage {
        guard let number = Int64(id) else { throw PageFailure.missing("\"\(id)\" is not the number of a run.") }
        if let entity { _ = try context.layout(entity) }
        // The overview has already counted the run's changes, unless the run is too old for it.
        let known = try await context.kept.now().runs.first { $0.id == number }
        let content = try await context.readers.read { store in
            guard let run = try known ?? store.runs(id: number).first else {
                throw PageFailure.missing("There is no run \(number), or its record has been deleted.")
            }
            return Content(run: run, shown: try FirstChanges(of: run.id, entity: entity, limit: limit, in: store))
        }
        return page(content, entity, context)
    }

    private static func page(_ content: Content, _ entity: String?, _ context: PageContext) -> HTMLPage {
        let run = content.run
        return HTMLPage("Run \(run.id): \(RunsPage.what(run))") {
            HTML("p") {
                RunsPage.outcome(run)
                " began "
                ValueView.time(run.started)
                if run.finished != nil { ", took \(RunsPage.duration(run))" }
                "; changes: \(RunsPage.counts(run))."
            }
            summary(run)
            if run.counts.total > 0, run.outcome != "running" {
                HTML("div", .class("row")) {
                    context.button("Preview the undo", WebLink("runs", String(run.id), "undo"), [("preview", "1")])
                    HTML("span", .class("quiet")) { "The preview writes nothing." }
                }
            }
            HTML("h2") { "Changes" }
            entities(run, context, entity)
            ChangeView.table(content.shown.changes, context.model)
            if content.shown.hasMore {
                PagePart.quiet(
                    "Only the first \(limit) rows are shown, in the order of entity and key. "
                        + "`bmo diff \(run.id) --json` prints all.")
            }
        }
    }

    /// Returns the links that limit the changes to an entity.
    private static func entities(_ run: RunRecord, _ context: PageContext, _ chosen: String?) -> HTML {
        guard run.counts.total > 0, context.model.entities.count > 1 else { return .empty }
        return HTML("nav", .class("row"), .label("Changes of one entity")) {
            HTML("a", .href(WebLink("runs", String(run.id))), chosen == nil ? .current : nil) { "all" }
            for layout in context.model.entities where layout.root == layout.index {
                HTML(
                    "a", .href(WebLink(["runs", String(run.id)], query: [("entity", layout.name)])),
                    chosen == layout.name ? .current : nil
                ) { layout.name }
            }
        }
    }

    /// Returns what a sync reported about each entity.
    private static func summary(_ run: RunRecord) -> HTML {
        guard let text = run.summary, let batch = try? JSONParser.batch(text), batch.count == 1 else { return .empty }
        return withExtendedLifetime(batch) {
            let entities = batch[0]["entities"]?.elements ?? []
            guard !entities.isEmpty else { return .empty }
            let names = ["pages", "inserted", "updated", "unchanged", "deleted", "quarantined"]
            let rows = entities.map { entity -> [HTML] in
                let name = entity["entity"]?.text ?? ""
                let numbers = names.map { HTML(text: entity[$0]?.json ?? "") }
                let error = entity["error"]
                let words = [error?["message"]?.text, error?["remedy"]?.text].compactMap { $0 }
                let warnings = (entity["warnings"]?.elements ?? []).compactMap(\.text)
                return [PagePart.link(WebLink("entity", name), name), HTML(text: entity["outcome"]?.text ?? "")]
                    + numbers
                    + [
                        .joined(
                            words.map { word in HTML("p", .class("bad")) { word } }
                                + warnings.prefix(20).map { word in HTML("p") { word } })
                    ]
            }
            let columns =
                [("entity", false), ("outcome", false)] + names.map { ($0, true) } + [("messages", false)]
            return PagePart.table("Report", columns.map { (name: $0.0, isNumber: $0.1) }, rows)
        }
    }
}
