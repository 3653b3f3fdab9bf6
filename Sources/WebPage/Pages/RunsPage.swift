internal import Mapping
internal import StoreContract
internal import TextFormats

/// The runs, newest first.
enum RunsPage {
    static func make(_ context: PageContext) async throws -> HTMLPage {
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
            RunChart(runs, rows: rows).view
            table(runs)
        }
    }

    static func table(_ runs: [RunRecord]) -> HTML {
        guard !runs.isEmpty else { return PagePart.quiet("No runs are recorded.") }
        return PagePart.table(
            "Runs",
            [("run", true), ("what", false), ("began", false), ("took", true), ("outcome", false), ("changes", false)],
            runs.map { run in
                [
                    PagePart.link(WebLink("runs", String(run.id)), String(run.id)), HTML(text: what(run)),
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
