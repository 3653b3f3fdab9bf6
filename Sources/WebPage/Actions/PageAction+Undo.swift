internal import BMO
internal import StoreContract
internal import WebServer

/// The maximum number of changed rows that the preview of an undo shows.
private let maxPreviewed = 200

extension PageAction {
    /// What an undo changed, or why it was refused.
    private struct Undone: Sendable {
        var run: Int64?
        var shown = FirstChanges()
        var lost: [String] = []
        var refusal: UndoRefusal?
    }

    /// Reverts a run, or shows what that would change.
    func undo(_ id: String) async throws -> Outcome {
        guard let run = Int64(id) else { throw PageFailure.missing("\"\(id)\" is not the number of a run.") }
        let isPreview = form["preview"] == "1"
        let store = try await context.workspace.openLockedStore(
            command: "bmo serve, undo of run \(run)", rehearsing: isPreview)
        let undone = try await context.readers.run {
            defer { try? store.close() }
            return try Self.undo(run, in: store)
        }
        if isPreview { return .shows(preview(run, undone)) }
        if let refusal = undone.refusal { throw PageFailure(409, refusal.description) }
        return .leads(
            to: undone.run.map { WebLink("runs", String($0)) } ?? WebLink("runs"),
            Notice(.good, "Run \(run) is undone by run \(undone.run ?? 0)."))
    }

    private static func undo(_ run: Int64, in store: any Store) throws -> Undone {
        var undone = Undone()
        guard try !store.runs(id: run).isEmpty else { throw PageFailure.missing("Run \(run) is no longer recorded.") }
        undone.lost = try store.columnsWithoutHistory(undoing: run)
        do {
            let number = try store.undo(run: run)
            undone.run = number
            undone.shown = try FirstChanges(of: number, limit: maxPreviewed, in: store)
        } catch let refusal as UndoRefusal {
            undone.refusal = refusal
        }
        return undone
    }

    private func preview(_ run: Int64, _ undone: Undone) -> HTMLPage {
        HTMLPage("Undo of run \(run)") {
            if let refusal = undone.refusal {
                PagePart.notice(.bad) {
                    HTML("p") { "\(refusal)." }
                    HTML("ul") { for conflict in refusal.conflicts.prefix(50) { HTML("li") { conflict.description } } }
                }
            } else {
                HTML("p") { "This is what the undo would change. Nothing has been written; the remote stays as it is." }
                if !undone.lost.isEmpty {
                    PagePart.notice(.warn) {
                        HTML("p") {
                            "bmo did not create \(undone.lost.joined(separator: ", ")) and does not know the values: they "
                                + "will be empty in the rows that the undo restores."
                        }
                    }
                }
                HTML("div", .class("row")) {
                    context.button("Undo run \(run)", WebLink("runs", String(run), "undo"), style: "danger")
                    PagePart.link(WebLink("runs", String(run)), "Back to the run")
                }
                ChangeView.table(undone.shown.changes, context.model)
                if undone.shown.hasMore { PagePart.quiet("Only the first \(maxPreviewed) rows are shown.") }
            }
        }
    }
}
