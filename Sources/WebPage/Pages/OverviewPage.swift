internal import BMO
internal import Mapping
internal import Model
internal import StoreContract

/// The first page: what needs a decision, and the state of each entity.
struct OverviewPage {
    private let context: PageContext
    private let overview: DatabaseOverview
    private let live: LiveProgress.State

    static func make(_ context: PageContext) async throws -> HTMLPage {
        let live = await context.live.state()
        do {
            let overview = try await context.kept.now()
            return OverviewPage(context: context, overview: overview, live: live).page
        } catch let failure as PageFailure where failure.status == 404 {
            return withoutDatabase(failure.description, context, live)
        } catch let error as StoreError where error.code == .schema {
            // The model changed: the next sync migrates the database.
            return withoutDatabase(PageFault.words(error).text, context, live)
        }
    }

    private static func withoutDatabase(
        _ words: String, _ context: PageContext, _ live: LiveProgress.State
    ) -> HTMLPage {
        HTMLPage("Overview", reloadsAfter: live.progress == nil ? nil : 2) {
            HTML("p") { words }
            ActivityView.view(context, live)
            if live.isFree { context.button("Sync now", WebLink("sync"), style: "main") }
        }
    }

    private init(context: PageContext, overview: DatabaseOverview, live: LiveProgress.State) {
        self.context = context
        self.overview = overview
        self.live = live
    }

    private var page: HTMLPage {
        HTMLPage("Overview", reloadsAfter: live.progress == nil && !overview.isCounting ? nil : 2) {
            HTML("p", .class("quiet")) {
                "Database "; HTML("code") { context.workspace.configuration.databasePath }
                if overview.isCounting { "; the rows are being counted again" }
            }
            todo
            ActivityView.view(context, live)
            HTML("div", .class("row")) {
                if live.isFree { context.button("Sync all", WebLink("sync"), style: "main") }
                // A push does not need the lock that another process's sync holds.
                if live.progress?.isHere != true, overview.outbox.contains(where: { $0.state == .pending }) {
                    context.button("Send the edits", WebLink("push"))
                }
            }
            table
            lastRuns
        }
    }

    // MARK: What needs a decision

    private var todo: HTML {
        let lines = TodoList(overview, context).lines
        guard !lines.isEmpty else {
            return HTML("p", .class("good")) { "Nothing needs a decision." }
        }
        return HTML("ul", .class("todo"), .label("What needs a decision")) {
            for line in lines {
                HTML("li", .class("notice \(line.kind.rawValue)")) {
                    HTML("span") { line.text }
                    line.action
                }
            }
        }
    }

    // MARK: Entities

    private var table: HTML {
        let columns: [(String, Bool)] = [
            ("entity", false), ("rows", true), ("stubs", true), ("quarantined", true), ("edits", true),
            ("last recorded sync", false), ("last changed", false), ("position", false), ("", false),
        ]
        return PagePart.table("Entities", columns, zip(overview.entities, overview.cursors).map(row), isCards: true)
    }

    private func row(_ status: EntityStatus, _ cursor: ScanCursor?) -> [HTML] {
        let edits = overview.outbox.count { $0.entity == status.name }
        let isScanned = context.model.model.entity(named: status.name)?.isScanned ?? false
        return [
            PagePart.link(WebLink("entity", status.name), status.name),
            HTML(text: NumberText.grouped(status.rows)),
            HTML(text: status.stubs > 0 ? NumberText.grouped(status.stubs) : ""),
            status.quarantined > 0
                ? PagePart.link(
                    WebLink(["decide"], query: [("entity", status.name)], fragment: "quarantine"),
                    NumberText.grouped(status.quarantined)) : .empty,
            edits > 0
                ? PagePart.link(WebLink(["decide"], fragment: "outbox"), NumberText.grouped(edits)) : .empty,
            report(of: status), ValueView.time(status.lastChanged), position(status, cursor),
            isScanned && live.isFree
                ? context.button("Sync", WebLink("sync"), [("entity", status.name)], title: "Sync \(status.name)")
                : .empty,
        ]
    }

    private func report(of status: EntityStatus) -> HTML {
        guard let report = overview.reports[status.name] else { return .empty }
        let run = PagePart.link(WebLink("runs", String(report.run)), "run \(report.run)")
        let (style, words) =
            report.outcome == "finished" && report.isIncomplete
            ? ("warn", "incomplete") : (report.code == nil ? "good" : "bad", report.isHeld ? "held" : report.outcome)
        return .joined([HTML("span", .class("tag \(style)")) { words }, HTML(text: " "), run])
    }

    private func position(_ status: EntityStatus, _ cursor: ScanCursor?) -> HTML {
        .joined([
            status.interrupted.map { scan in
                HTML("span", .class("warn")) {
                    "stopped after page \(scan.page)" + (scan.isFresh ? "" : ", too old to continue") + ". "
                }
            } ?? .empty,
            cursor?.newest.map { newest in
                HTML("span") {
                    "newest "
                    HTML("bdi") { newest.remote }
                    if let age = ValueText.age(newest.local.description) { " (\(age))" }
                    ". "
                }
            } ?? .empty,
            cursor.map { cursor in
                HTML("span", .class("quiet")) { "listed in full \(ValueText.age(cursor.fullAt) ?? cursor.fullAt)" }
            } ?? .empty,
        ])
    }

    private var lastRuns: HTML {
        .joined([
            HTML("h2") { "Last runs" },
            RunsPage.table(Array(overview.runs.prefix(5))),
            HTML("p") { PagePart.link(WebLink("runs"), "All runs") },
        ])
    }
}
