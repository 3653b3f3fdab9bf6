internal import BMO
internal import Foundation
internal import Importer
internal import RecordBatch
internal import Synchronization

/// Shows a sync while it runs: lines that redraw on a terminal, plain lines elsewhere, JSON lines for machines.
final class SyncProgress: Sendable {
    enum Mode {
        case live, lines, json, quiet
    }

    private struct State {
        /// What each entity's line says, in the order in which they began.
        var lines: [(entity: String, text: String)] = []
        var drawn = 0
        var lastDrawn: ContinuousClock.Instant?
        var lastLine: [String: ContinuousClock.Instant] = [:]
    }

    private let mode: Mode
    private let state = Mutex(State())

    init(mode: Mode) {
        self.mode = mode
    }

    /// Called from any thread.
    func show(_ event: SyncEvent) {
        switch mode {
        case .quiet: break
        case .json: print(Self.json(event))
        case .lines: showLine(event)
        case .live: showLive(event)
        }
    }

    /// Draws the last state.
    func finish() {
        guard mode == .live else { return }
        state.withLock { Self.draw(&$0) }
    }

    // MARK: plain lines

    private func showLine(_ event: SyncEvent) {
        switch event {
        case .began(let entity, let bridge, let resumed):
            Terminal.write("\(entity): from \(bridge)\(resumed.map { ", going on after page \($0)" } ?? "")\n")
        case .page(let page):
            // A line a second is enough for a log.
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
        case .ended(let entity):
            Terminal.write(
                "\(entity.name): \(entity.shownOutcome), \(Terminal.count(entity.pages, "page", "pages")), \(Self.text(entity.counts))\n"
            )
        }
    }

    // MARK: a terminal

    private func showLive(_ event: SyncEvent) {
        state.withLock { state in
            switch event {
            case .began(let entity, let bridge, let resumed):
                Self.set(&state, entity, "from \(bridge)\(resumed.map { ", going on after page \($0)" } ?? "")")
            case .page(let page): Self.set(&state, page.entity, Self.text(page))
            case .warning(let entity, let message):
                Self.erase(&state)
                Terminal.error("\(entity): \(message)", prefix: "bmo: warning: ")
            case .note(let entity, let message):
                Self.erase(&state)
                Terminal.error("\(entity): \(message)", prefix: "")
            case .ended(let entity):
                Self.set(
                    &state, entity.name,
                    "\(entity.shownOutcome), \(Terminal.count(entity.pages, "page", "pages")), \(Self.text(entity.counts))"
                )
            }
            let now = ContinuousClock.now
            if let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            state.lastDrawn = now
            Self.draw(&state)
        }
    }

    private static func set(_ state: inout State, _ entity: String, _ text: String) {
        if let index = state.lines.firstIndex(where: { $0.entity == entity }) {
            state.lines[index].text = text
        } else {
            state.lines.append((entity, text))
        }
    }

    /// Moves up over the lines that were drawn and clears them (ECMA-48: CUU, ED).
    private static func erase(_ state: inout State) {
        if state.drawn > 0 { Terminal.write("\u{1B}[\(state.drawn)A\r\u{1B}[J") }
        state.drawn = 0
    }

    private static func draw(_ state: inout State) {
        erase(&state)
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20
        let width = isKnown ? Int(size.ws_col) - 1 : 79
        for line in state.lines {
            Terminal.write(Terminal.printable("\(line.entity): \(line.text)").prefix(width) + "\n")
        }
        state.drawn = state.lines.count
    }

    // MARK: words

    private static func text(_ page: SyncEvent.PageEvent) -> String {
        let total = page.total.map { " of \($0)" } ?? ""
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
        case .warning(let entity, let message):
            RecordBatchWriter.json { writer in
                writer.member("event", "warning")
                writer.member("entity", entity)
                writer.member("message", message)
            }
        case .note(let entity, let message):
            RecordBatchWriter.json { writer in
                writer.member("event", "note")
                writer.member("entity", entity)
                writer.member("message", message)
            }
        case .ended(let entity): "{\"event\":\"ended\",\"result\":\(entity.json)}"
        }
    }
}
