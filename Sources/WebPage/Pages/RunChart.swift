internal import StoreContract

/// A chart of the runs over time: the rows after each run, its changes and its duration, as bars in three panels.
struct RunChart {
    /// A run in the chart.
    struct Bar: Equatable {
        let run: Int64
        let title: String
        let isBad: Bool
        let rows: Int
        let changes: Int
        /// Nil while the run is running, and for one that died.
        let milliseconds: Int?
    }

    /// A panel: a value of each run.
    private struct Panel {
        let title: String
        let values: [Int?]
        let words: (Int) -> String

        var most: Int { values.compactMap { $0 }.max() ?? 0 }
    }

    private static let width = 960
    private static let panelHeight = 84
    private static let headHeight = 26
    private static let left = 2
    private static let widestBar = 40

    /// The bars, oldest first.
    let bars: [Bar]
    private let began: String
    private let ended: String

    /// - Parameters:
    ///   - runs: The runs, newest first.
    ///   - rows: The number of rows after the newest one.
    init(_ runs: [RunRecord], rows: Int) { self.init(runs.map { RunEffect(of: $0) }, rows: rows) }

    /// - Parameters:
    ///   - effects: What the runs did, newest first.
    ///   - rows: The number of rows after the newest one.
    init(_ effects: [RunEffect], rows: Int) {
        var rows = rows
        var bars: [Bar] = []
        for effect in effects {
            let run = effect.run
            bars.append(
                Bar(
                    run: run.id, title: "run \(run.id), \(RunsPage.what(run)), \(ValueText.time(run.started))",
                    isBad: !["finished", "running"].contains(run.outcome), rows: max(0, rows), changes: effect.changes,
                    milliseconds: RunsPage.milliseconds(run)))
            rows -= effect.growth
        }
        self.bars = bars.reversed()
        began = effects.last.map { ValueText.time($0.run.started) } ?? ""
        ended = effects.first.map { ValueText.time($0.run.started) } ?? ""
    }

    /// The chart as SVG; empty markup for fewer than two runs.
    var view: HTML {
        guard bars.count > 1 else { return .empty }
        let panels = [
            Panel(title: "Rows after the run", values: bars.map(\.rows), words: NumberText.grouped),
            Panel(title: "Changes", values: bars.map(\.changes), words: NumberText.grouped),
            Panel(title: "Duration", values: bars.map(\.milliseconds), words: RunsPage.words(milliseconds:)),
        ]
        let height = panels.count * (Self.panelHeight + Self.headHeight) + 18
        return HTML("div", .class("scroll"), .role("region"), .label("Chart of the runs"), .focusable) {
            HTML(
                "svg", .class("chart"), .viewBox(Self.width, height), .svg("width", Self.width),
                .svg("height", height), .role("img"), .label("Runs over time. \(summary(panels))")
            ) {
                HTML("title") { "Runs over time" }
                HTML("desc") { summary(panels) }
                for (index, panel) in panels.enumerated() {
                    drawing(panel, top: index * (Self.panelHeight + Self.headHeight))
                }
                HTML("text", .class("small"), .svg("x", Self.left), .svg("y", height - 5)) {
                    "\(began) to \(ended), one bar for each run, oldest first; the table has the numbers"
                }
            }
        }
    }

    /// The chart in words.
    private func summary(_ panels: [Panel]) -> String {
        let parts = panels.map { panel in
            let last = panel.values.last.flatMap { $0 }.map(panel.words) ?? "unknown"
            return "\(panel.title): at most \(panel.words(panel.most)), at last \(last)."
        }
        return "\(NumberText.count(bars.count, "run", "runs")) from \(began) to \(ended). "
            + parts.joined(separator: " ")
    }

    private func drawing(_ panel: Panel, top: Int) -> HTML {
        let base = top + Self.headHeight + Self.panelHeight
        let step = min(Self.widestBar, (Self.width - 2 * Self.left) / max(1, bars.count))
        return HTML("g") {
            HTML("text", .svg("x", Self.left), .svg("y", top + 17)) {
                "\(panel.title), at most \(panel.words(panel.most))"
            }
            for (index, bar) in bars.enumerated() {
                if let value = panel.values[index] {
                    // A bar that is not zero is always visible.
                    let size = panel.most == 0 ? 0 : max(value > 0 ? 1 : 0, Self.height(value, of: panel.most))
                    HTML(
                        "rect", .class(bar.isBad ? "bar failed" : "bar"), .svg("x", Self.left + index * step),
                        .svg("y", base - size), .svg("width", max(1, step - 2)), .svg("height", size)
                    ) {
                        HTML("title") { "\(bar.title): \(panel.words(value))" }
                    }
                }
            }
            HTML(
                "rect", .class("axis"), .svg("x", Self.left), .svg("y", base),
                .svg("width", Self.width - 2 * Self.left), .svg("height", 1))
        }
    }

    private static func height(_ value: Int, of most: Int) -> Int {
        Int(Double(value) / Double(most) * Double(panelHeight - 4))
    }
}
