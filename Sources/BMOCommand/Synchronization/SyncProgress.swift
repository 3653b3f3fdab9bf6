internal import BMO
internal import Foundation
internal import Importer
internal import RecordBatch
internal import SystemCalls

/// Shows the progress of a sync: redrawn lines on a terminal, plain lines elsewhere, JSON lines for machines.
final class SyncProgress: Sendable {
    enum Mode {
        case live, lines, json, quiet

        /// The mode of a command: what it prints for people depends on where stderr goes.
        static func fitting(json: Bool, quiet: Bool = false) -> Mode {
            json ? .json : quiet || CommandLog.isJSON ? .quiet : Terminal.errorIsTerminal ? .live : .lines
        }
    }

    private struct State {
        /// The lines of the entities, in the order in which they started.
        var lines: [Line] = []
        var drawn = 0
        var lastDrawn: ContinuousClock.Instant?
        var lastLine: [String: ContinuousClock.Instant] = [:]
    }

    /// The progress of an entity.
    private struct Line {
        let entity: String
        var text: String
        var isOver = false
        var colour: Terminal.Colour?
    }

    private let mode: Mode
    /// Also writes the events, if the log is JSON.
    private let log = CommandLog.isJSON ? SyncLog() : nil
    private let state = Mutex(State())

    init(mode: Mode) {
        self.mode = mode
    }

    /// Shows an event; may be called from any thread.
    func show(_ event: SyncEvent) {
        log?.write(event)
        switch mode {
        case .quiet: break
        case .json: print(Self.json(event))
        case .lines: showLine(event)
        case .live: showLive(event)
        }
    }

    /// Draws the final state, or logs the report.
    func finish(_ report: SyncReport) {
        log?.write(report)
        guard mode == .live else { return }
        state.withLock { Self.draw(&$0) }
    }

    // MARK: Plain lines

    private func showLine(_ event: SyncEvent) {
        switch event {
        case .began(let entity, let bridge, let resumed):
            Terminal.write("\(entity): from \(bridge)\(resumed.map { ", continuing after page \($0)" } ?? "")\n")
        case .page(let page):
            // One line per second is enough for a log.
            let now = ContinuousClock.now
            let isDue = state.withLock { state in
                if let last = state.lastLine[page.entity], now - last < .seconds(1) { return false }
                defer { state.lastLine[page.entity] = now }
                return state.lastLine[page.entity] != nil
            }
            if isDue { Terminal.write("\(page.entity): \(Self.text(page))\n") }
        case .warning(let entity, let message):
            Terminal.error("\(entity): \(message)", prefix: "bmo: warning: ")
        case .note(let entity, let message): Terminal.error("\(entity): \(message)", prefix: "")
        case .detail(let entity, let message):
            if CommandLog.showsDetails { Terminal.error("\(entity): \(message)", prefix: "") }
        case .ended(let entity):
            Terminal.write(
                "\(entity.name): \(entity.shownOutcome), \(Terminal.count(entity.pages, "page", "pages")), \(Self.text(entity.counts))\n"
            )
        }
    }

    // MARK: Terminal

    private func showLive(_ event: SyncEvent) {
        state.withLock { state in
            switch event {
            case .began(let entity, let bridge, let resumed):
                let text = "from \(bridge)\(resumed.map { ", continuing after page \($0)" } ?? "")"
                Self.set(&state, Line(entity: entity, text: text))
            case .page(let page): Self.set(&state, Line(entity: page.entity, text: Self.text(page)))
            case .warning(let entity, let message):
                Self.erase(&state)
                Terminal.error("\(entity): \(message)", prefix: "bmo: warning: ")
            case .note(let entity, let message):
                Self.erase(&state)
                Terminal.error("\(entity): \(message)", prefix: "")
            case .detail(let entity, let message):
                guard CommandLog.showsDetails else { return }
                Self.erase(&state)
                Terminal.error("\(entity): \(message)", prefix: "")
            case .ended(let entity):
                let counts = "\(Terminal.count(entity.pages, "page", "pages")), \(Self.text(entity.counts))"
                var line = Line(entity: entity.name, text: "\(entity.shownOutcome), \(counts)", isOver: true)
                if entity.counts.quarantined > 0 { line.colour = .yellow }
                if case .failed = entity.outcome { line.colour = .red }
                Self.set(&state, line)
            }
            let now = ContinuousClock.now
            if let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            state.lastDrawn = now
            Self.draw(&state)
        }
    }

    private static func set(_ state: inout State, _ line: Line) {
        if let index = state.lines.firstIndex(where: { $0.entity == line.entity }) {
            state.lines[index] = line
        } else {
            state.lines.append(line)
        }
    }

    /// Moves up to the first drawn line and clears from there (ECMA-48: CUU, ED).
    private static func erase(_ state: inout State) {
        if state.drawn > 0 { Terminal.write("\u{1B}[\(state.drawn)A\r\u{1B}[J") }
        state.drawn = 0
    }

    private static func draw(_ state: inout State) {
        erase(&state)
        let width = max(20, (Terminal.width(of: STDERR_FILENO) ?? 80) - 1)
        // Lines that have scrolled off cannot be redrawn. If there are too many, drop finished entities first.
        let room = max(1, (Terminal.height(of: STDERR_FILENO) ?? 24) - 1)
        var lines = state.lines
        while lines.count > room {
            lines.remove(at: lines.firstIndex(where: \.isOver) ?? lines.startIndex)
        }
        for line in lines {
            let text = Terminal.printable("\(line.entity): \(line.text)").prefix(width)
            Terminal.write(Terminal.painted(String(text), line.colour, on: STDERR_FILENO) + "\n")
        }
        state.drawn = lines.count
    }

    // MARK: Text

    private static func text(_ page: SyncEvent.PageEvent) -> String {
        var total = page.total.map { " of \($0)" } ?? ""
        if let all = page.total, all > 0, page.records <= all { total += " (\(Int64(page.records) * 100 / all) %)" }
        return "page \(page.page), \(page.records)\(total) records, \(SyncTable.rate(page.records, page.elapsed))/s, "
            + text(page.counts)
    }

    private static func text(_ counts: ImportCounts.Entity) -> String {
        "\(counts.inserted) inserted, \(counts.updated) updated, \(counts.unchanged) unchanged, "
            + (counts.deleted > 0 ? "\(counts.deleted) deleted, " : "") + "\(counts.quarantined) quarantined"
    }

    private static func json(_ event: SyncEvent) -> String {
        switch event {
        case .began(let entity, let bridge, let resumed):
            RecordBatchWriter.json { writer in
                writer.member("event", "began")
                writer.member("entity", entity)
                writer.member("bridge", bridge)
                if let resumed { writer.member("resumed_after_page", resumed) }
            }
        case .page(let page):
            RecordBatchWriter.json { writer in
                writer.member("event", "page")
                writer.member("entity", page.entity)
                writer.member("page", page.page)
                writer.member("records", page.records)
                if let total = page.total { writer.member("total", Int(total)) }
                writer.member("inserted", page.counts.inserted)
                writer.member("updated", page.counts.updated)
                writer.member("unchanged", page.counts.unchanged)
                writer.member("deleted", page.counts.deleted)
                writer.member("quarantined", page.counts.quarantined)
            }
        case .warning(let entity, let message): json("warning", of: entity, message)
        case .note(let entity, let message): json("note", of: entity, message)
        case .detail(let entity, let message): json("detail", of: entity, message)
        case .ended(let entity): "{\"event\":\"ended\",\"result\":\(entity.json)}"
        }
    }

    private static func json(_ event: String, of entity: String, _ message: String) -> String {
        RecordBatchWriter.json { writer in
            writer.member("event", event)
            writer.member("entity", entity)
            writer.member("message", message)
        }
    }
}
