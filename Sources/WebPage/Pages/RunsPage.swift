internal import Mapping
internal import StoreContract
internal import TextFormats

/// The runs, newest first.
enum RunsPage {
    /// - Parameter entity: Limits the runs to those that changed rows of this entity; nil for all.
    static func make(_ context: PageContext, entity: String?) async throws -> HTMLPage {
        if let entity { return try await make(context, of: entity) }
        let overview = try await context.kept.now()
        let runs = overview.runs
        // The rows of a sub-entity count for the entity that has the table, too.
        let roots = overview.entities.filter { status in
            context.model.index(of: status.name).map { context.model.entities[$0].root == $0 } ?? false
        }
        let rows = roots.reduce(0) { $0 + $1.rows }
        return HTMLPage("Runs") {
            PagePart.quiet(
                "Every sync, edit, push and undo that changed or reported something, newest first. The newest \(DatabaseOverview.runLimit) "
                    + "are shown.")
            entities(context, nil)
            RunChart(runs, rows: rows).view
            table(runs)
        }
    }

    private static func make(_ context: PageContext, of entity: String) async throws -> HTMLPage {
        let named = try context.layout(entity)
        let layout = context.model.entities[named.root]
        let family = Set(context.model.family(of: layout.index).map { context.model.entities[$0].name })
        let overview = try await context.kept.now()
        let found = try await context.readers.read { store in
            try RunEffect.of(overview.runs, layout, family: family, in: store)
        }
        return HTMLPage("Runs that changed \(layout.name)") {
            PagePart.quiet(
                found.isCut
                    ? "The newest runs that changed rows of \(layout.name), newest first. An older run changed too many rows to "
                        + "count those of one entity, so that the list ends before it."
                    : "Of the newest \(DatabaseOverview.runLimit) runs, those that changed rows of \(layout.name), newest "
                        + "first.")
            entities(context, layout.name)
            RunChart(found.effects, rows: overview.status(of: layout.name)?.rows ?? 0).view
            table(found.effects.map(\.run), entity: layout.name)
        }
    }

    /// Returns the links that limit the runs to those of an entity.
    private static func entities(_ context: PageContext, _ chosen: String?) -> HTML {
        let roots = context.model.entities.filter { $0.root == $0.index }
        guard roots.count > 1 else { return .empty }
        return HTML("nav", .class("row"), .label("Runs of one entity")) {
            HTML("a", .href(WebLink("runs")), chosen == nil ? .current : nil) { "all" }
            for layout in roots {
                HTML(
                    "a", .href(WebLink(["runs"], query: [("entity", layout.name)])),
                    chosen == layout.name ? .current : nil
                ) { layout.name }
            }
        }
    }

    static func table(_ runs: [RunRecord], entity: String? = nil) -> HTML {
        guard !runs.isEmpty else { return PagePart.quiet("No runs are recorded.") }
        return PagePart.table(
            "Runs",
            [("run", true), ("what", false), ("began", false), ("took", true), ("outcome", false), ("changes", false)],
            runs.map { run in
                [
                    PagePart.link(
                        WebLink(["runs", String(run.id)], query: entity.map { [("entity", $0)] } ?? []),
                        String(run.id)),
                    HTML(text: what(run)),
                    ValueView.time(run.started), HTML(text: duration(run)), outcome(run), HTML(text: counts(run)),
                ]
            })
    }

    static func what(_ run: RunRecord) -> String { run.undoes.map { "\(run.kind) of \($0)" } ?? run.kind }

    static func counts(_ run: RunRecord) -> String {
        let parts = run.counts.parts.filter { $0.count > 0 }.map { "\(NumberText.grouped($0.count)) \($0.word)" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    static func outcome(_ run: RunRecord) -> HTML {
        let style = ["finished": "good", "running": "", "failed": "bad"][run.outcome] ?? "warn"
        return HTML("span", .class("tag \(style)")) { run.outcome }
    }

    static func duration(_ run: RunRecord) -> String { milliseconds(run).map(words(milliseconds:)) ?? "" }

    /// Returns how long a run took; nil if it did not end.
    static func milliseconds(_ run: RunRecord) -> Int? {
        guard let start = Timestamp.microseconds(run.started),
            let end = run.finished.flatMap(Timestamp.microseconds)
        else { return nil }
        return max(0, Int((end - start) / 1000))
    }

    static func words(milliseconds: Int) -> String {
        milliseconds < 10_000 ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
    }
}
