internal import Mapping
internal import Model
internal import StoreContract

/// What needs a decision: conflicts, edits, held deletions, and records in quarantine.
struct DecidePage {
    /// The maximum number of conflicts, of edits and of records that the page shows.
    private static let limit = 100

    private let context: PageContext
    private let overview: DatabaseOverview
    private let content: Content

    private struct Content: Sendable {
        var conflicts: [EditConflict]
        var quarantined: [QuarantineEntry]
    }

    static func make(_ context: PageContext, entity: String?) async throws -> HTMLPage {
        let overview = try await context.kept.now()
        let chosen = try entity.map { try context.layout($0).name }
        let wanted = overview.entities.filter { $0.quarantined > 0 && (chosen ?? $0.name) == $0.name }.map(\.name)
        let content = try await context.readers.read { store in
            var records: [QuarantineEntry] = []
            for name in wanted where records.count < limit {
                records += try store.quarantined(entity: name).prefix(limit - records.count)
            }
            return Content(conflicts: try store.conflicts(), quarantined: records)
        }
        return DecidePage(context: context, overview: overview, content: content).page(chosen)
    }

    private func page(_ chosen: String?) -> HTMLPage {
        HTMLPage("To decide", reloadsAfter: context.activity.isRunning ? 2 : nil) {
            ActivityView.own(context)
            HTML("h2", .id("conflicts")) { "Conflicts" }
            conflicts
            HTML("h2", .id("outbox")) { "Edits" }
            edits
            HTML("h2", .id("held")) { "Held deletions" }
            held
            HTML("h2", .id("quarantine")) { "Quarantine" + (chosen.map { " of \($0)" } ?? "") }
            quarantine(chosen)
        }
    }

    // MARK: Conflicts

    private var conflicts: HTML {
        guard !content.conflicts.isEmpty else { return PagePart.quiet("No value was changed on both sides.") }
        let shown = content.conflicts.prefix(Self.limit)
        return .joined([
            PagePart.table(
                "Conflicts", ["object", "column", "was", "here", "remote", ""], shown.map(row),
                isCards: true),
            content.conflicts.count > shown.count
                ? PagePart.quiet("The first \(shown.count) of \(content.conflicts.count) are shown.") : .empty,
        ])
    }

    private func row(_ conflict: EditConflict) -> [HTML] {
        let layout = context.model.index(of: conflict.entity).map { context.model.entities[$0] }
        let type = conflict.column.flatMap { layout?.type(of: $0) }
        let fields =
            [
                ("entity", conflict.entity), ("column", conflict.column ?? ""),
                (SeenState.field, SeenState.of(conflict)),
            ]
            + ValueText.parts(of: conflict.key).map { ("key", $0) }
        func take(_ words: String, _ side: ConflictSide) -> HTML {
            context.button(words, WebLink("decide", "conflict"), fields + [("take", side.rawValue)])
        }
        let isWhole = conflict.column == nil
        return [
            .joined([HTML(text: conflict.entity + " "), PagePart.object(conflict.entity, conflict.key)]),
            HTML("code") { conflict.column ?? "(the object)" }, ValueView.optional(conflict.base, type),
            HTML("div", .class("new")) {
                isWhole ? HTML(text: "kept or edited") : ValueView.optional(conflict.local, type)
            },
            HTML("div", .class("old")) {
                isWhole && conflict.remote == nil
                    ? HTML(text: "deleted or changed") : ValueView.optional(conflict.remote, type)
            },
            HTML("div", .class("row")) {
                take("Take here", .local)
                take("Take remote", .remote)
            },
        ]
    }

    // MARK: Edits

    private var edits: HTML {
        let undecided = overview.undecided
        let waiting = overview.outbox.filter { [.pending, .sending].contains($0.state) }
        return .joined([
            undecided.isEmpty
                ? PagePart.quiet("No edit was refused, and none has an unknown outcome.")
                : OutboxView.table(Array(undecided.prefix(Self.limit)), context),
            waiting.isEmpty
                ? .empty
                : .joined([
                    HTML("p") { NumberText.count(waiting.count, "edit waits", "edits wait") + " to be sent:" },
                    OutboxView.table(Array(waiting.prefix(Self.limit)), context),
                    context.activity.isRunning
                        ? .empty : context.button("Send the edits", WebLink("push"), style: "main"),
                ]),
        ])
    }

    // MARK: Held deletions

    private var held: HTML {
        let held = overview.reports.filter(\.value.isHeld).sorted { $0.key < $1.key }
        guard !held.isEmpty else { return PagePart.quiet("No deletions are held.") }
        return .joined(
            held.map { entity, report in
                PagePart.notice(.bad) {
                    HTML("p") { "\(entity): \(report.message ?? "")" }
                    if let remedy = report.remedy { HTML("p", .class("quiet")) { remedy } }
                    if report.heldDeletions == nil {
                        HTML("p", .class("quiet")) {
                            "An earlier version reported this. After the next sync, the rows can be deleted here."
                        }
                    }
                    HTML("div", .class("row")) {
                        if !context.activity.isRunning {
                            context.button("Preview the deletions", WebLink("sync", "preview"), [("entity", entity)])
                            report.heldDeletions.map { number in
                                context.button(
                                    "Sync and delete", WebLink("sync", "delete"),
                                    [("entity", entity), ("held", String(number))], style: "danger",
                                    title: "Deletes nothing if more than \(number) rows would go.")
                            }
                        }
                    }
                }
            })
    }

    // MARK: Quarantine

    private func quarantine(_ chosen: String?) -> HTML {
        let counted = overview.entities.filter { $0.quarantined > 0 }
        guard !counted.isEmpty else { return PagePart.quiet("No records are in quarantine.") }
        return .joined([
            HTML("div", .class("row")) {
                HTML("nav", .class("row"), .label("Quarantine of one entity")) {
                    HTML("a", .href(WebLink(["decide"], fragment: "quarantine")), chosen == nil ? .current : nil) {
                        "all"
                    }
                    for status in counted {
                        HTML(
                            "a", .href(WebLink(["decide"], query: [("entity", status.name)], fragment: "quarantine")),
                            chosen == status.name ? .current : nil
                        ) { "\(status.name) (\(NumberText.grouped(status.quarantined)))" }
                    }
                }
                context.button(
                    chosen.map { "Try those of \($0) again" } ?? "Try all again", WebLink("decide", "quarantine"),
                    chosen.map { [("entity", $0)] } ?? [],
                    title: "Imports the records with the current configuration; no server is contacted.")
            },
            .joined(content.quarantined.map(record)),
            counted.reduce(0) { $0 + $1.quarantined } > content.quarantined.count
                ? PagePart.quiet("The oldest \(content.quarantined.count) are shown; `bmo quarantine` prints all.")
                : .empty,
        ])
    }

    private func record(_ entry: QuarantineEntry) -> HTML {
        let record = entry.record
        return PagePart.notice(.warn) {
            HTML("p") {
                HTML("strong") { record.entity }
                ": \(record.reason)"
            }
            HTML("p", .class("quiet")) {
                "From \(record.bridge), page \(record.page)"
                record.record.map { ", record \($0)" }
                ", seen "
                ValueView.time(entry.firstSeen)
                " to "
                ValueView.time(entry.lastSeen)
                record.location.map { ", \($0)" }
            }
            HTML("details") {
                HTML("summary") { "The record" }
                HTML("pre") {
                    record.representation.count > 10_000
                        ? "\(record.representation.prefix(10_000))…" : record.representation
                }
                if let size = record.cutFrom {
                    PagePart.quiet("Only the beginning of \(size) bytes is kept, so it cannot be imported again.")
                }
            }
        }
    }
}
