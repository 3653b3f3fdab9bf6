internal import StoreContract

/// The progress of the running sync or push, or the result of the last one that was started here.
enum ActivityView {
    /// Returns empty markup if nothing is running, and nothing was started here.
    static func view(_ context: PageContext, _ live: LiveProgress.State) -> HTML {
        switch live {
        case .running(let progress) where !progress.isHere: return other(progress)
        case .reserved(let holder):
            return .joined([
                PagePart.quiet("Workers share the syncs of this database, and wait for their next round: \(holder)."),
                own(context),
            ])
        case .unknown(let reason):
            return .joined([
                PagePart.notice(.warn) { HTML("p") { "It is not known whether a sync is running: \(reason)" } },
                own(context),
            ])
        case .running, .idle: return own(context)
        }
    }

    /// Shows what was started here.
    static func own(_ context: PageContext) -> HTML {
        let state = context.activity.state
        guard let title = state.title else { return .empty }
        return HTML("section", .class("notice"), .label("Progress")) {
            HTML("div", .class("row")) {
                HTML("strong") { state.isRunning ? "\(title) is running" : "\(title): \(state.outcome)" }
                if state.isRunning {
                    context.button("Stop", WebLink("sync", "stop"))
                    reloads
                }
            }
            list(state.lines)
            if !state.changes.isEmpty {
                HTML("h2") { "What would change" }
                ChangeView.table(state.changes, context.model)
            }
        }
    }

    /// Shows what another process is doing.
    private static func other(_ live: LiveProgress) -> HTML {
        HTML("section", .class("notice"), .label("Progress")) {
            HTML("div", .class("row")) {
                HTML("strong") {
                    live.place == .watch ? "This watch is writing: " : "Another process is writing: "
                    live.title
                }
                reloads
            }
            list(live.lines)
        }
    }

    private static var reloads: HTML {
        HTML("span", .class("quiet")) { "This page reloads every two seconds." }
    }

    private static func list(_ lines: [String]) -> HTML {
        guard !lines.isEmpty else { return .empty }
        return HTML("ul") { for line in lines { HTML("li") { line } } }
    }
}
