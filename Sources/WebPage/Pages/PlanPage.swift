internal import BMO
internal import Model
internal import StoreContract

/// What the next sync would request, and what a push would send.
enum PlanPage {
    /// The maximum number of edits that the page shows.
    private static let limit = 200

    static func make(_ context: PageContext) async throws -> HTMLPage {
        let workspace = context.workspace
        let store = try await context.readers.run { () -> (any Store)? in
            workspace.stores.exists(workspace.configuration.databasePath) ? try workspace.openStoreForReading() : nil
        }
        defer { try? store?.close() }
        let plan = try await workspace.scanPlan(in: store)
        let (writes, total) = try await context.readers.run {
            try workspace.plannedWrites(of: nil, in: store, limit: Self.limit)
        }
        return HTMLPage("Plan") {
            PagePart.quiet(
                "What a sync would request now. bmo does not send these requests; it may only fetch the description of "
                    + "a SOAP service.")
            if plan.scans.isEmpty { PagePart.quiet("No entity has a listing.") }
            for scan in plan.scans { section(scan) }
            HTML("h2") { "Edits that a push would send" }
            table(writes, total)
        }
    }

    private static func section(_ scan: SyncPlan.Scan) -> HTML {
        .joined([
            HTML("h2") {
                PagePart.link(WebLink("entity", scan.entity), scan.entity)
                scan.source.map { ", source \($0)" }
                " from \(scan.bridge)"
            },
            HTML("ul") {
                HTML("li") { words(scan.extent) }
                if let page = scan.resumesAfterPage {
                    HTML("li") { "It continues after page \(page) of an interrupted scan." }
                }
                if let parents = scan.parents { HTML("li") { words(parents) } }
                if let paging = scan.paging { HTML("li") { "Paging: \(paging)" } }
                if let deletes = scan.deletes { words(deletes).map { words in HTML("li") { words } } }
            },
            .joined(
                scan.requests.map { request in
                    HTML("pre") { request.text + (request.body.map { "\n\n\($0.prefix(4000))" } ?? "") }
                }),
            scan.failure.map { failure in PagePart.notice(.bad) { HTML("p") { failure.description } } } ?? .empty,
        ])
    }

    private static func words(_ extent: SyncPlan.Extent) -> String {
        switch extent {
        case .full(let reason): "Everything (\(reason))."
        case .since(let value): "What changed since \(value)."
        case .newestFirst(let value): "The newest first, until all that follow are older than \(value)."
        case .token(let instant): "What changed since the token of the scan of \(instant)."
        case .part: "The records that meet the conditions."
        }
    }

    private static func words(_ parents: SyncPlan.Parents) -> String {
        let which = parents.conditions.isEmpty ? "" : " with " + parents.conditions.joined(separator: ", ")
        let count = parents.count.map { "each of \(NumberText.grouped($0))" } ?? "each"
        let example = parents.example.map { "; here for \($0)" } ?? ""
        let due = parents.due.map { ", of which \(NumberText.grouped($0)) \($0 == 1 ? "is" : "are") due" } ?? ""
        return "Once for \(count) \(parents.entity)\(which)\(due), \(parents.concurrency) at a time\(example)."
    }

    private static func words(_ deletes: DeletePolicy) -> String? {
        switch deletes.mode {
        case .hard: "Rows that a complete listing lacks are deleted."
        case .soft: "Rows that a complete listing lacks are marked as deleted."
        case .ignore: nil
        }
    }

    private static func table(_ writes: [PlannedWrite], _ total: Int) -> HTML {
        guard !writes.isEmpty else { return PagePart.quiet("No edit is waiting.") }
        let rows = writes.map { write -> [HTML] in
            let state = write.state == .pending ? "" : " (\(write.state.rawValue))"
            return [
                HTML(text: String(write.entry)),
                .joined([HTML(text: write.entity + " "), PagePart.object(write.entity, write.key)]),
                HTML(text: write.operation.rawValue + state), content(write),
            ]
        }
        return .joined([
            PagePart.table("Edits", ["edit", "object", "what", "values as they are sent"], rows),
            total > writes.count
                ? PagePart.quiet(
                    "The first \(NumberText.grouped(writes.count)) of \(NumberText.grouped(total)) are shown.")
                : .empty,
        ])
    }

    private static func content(_ write: PlannedWrite) -> HTML {
        if let fault = write.fault { return HTML("span", .class("bad")) { "cannot be sent: \(fault)" } }
        return .joined([
            HTML("code") { write.shortValues },
            write.waits.map { waits in HTML("p", .class("quiet")) { "not sent now: \(waits)" } } ?? .empty,
        ])
    }
}
