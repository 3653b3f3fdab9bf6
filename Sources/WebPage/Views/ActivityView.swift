internal import StoreContract

/// The progress of the sync or push that was started here, or the result of the last one.
enum ActivityView {
    /// Returns empty markup if none was started here.
    static func view(_ context: PageContext) -> HTML {
        let state = context.activity.state
        guard let title = state.title else { return .empty }
        return HTML("section", .class("notice"), .label("Progress")) {
            HTML("div", .class("row")) {
                HTML("strong") { state.isRunning ? "\(title) is running" : "\(title): \(state.outcome)" }
                if state.isRunning {
                    context.button("Stop", WebLink("sync", "stop"))
                    HTML("span", .class("quiet")) { "This page reloads every two seconds." }
                }
            }
            if !state.lines.isEmpty {
                HTML("ul") { for line in state.lines { HTML("li") { line } } }
            }
            if !state.changes.isEmpty {
                HTML("h2") { "What would change" }
                ChangeView.table(state.changes, context.model)
            }
        }
    }
}
