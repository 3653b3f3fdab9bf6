internal import BMO
internal import Mapping
internal import StoreContract

/// Prints the outcomes of edits, one per line.
struct PushPrinter: Sendable {
    let json: Bool

    func add(_ edit: PushReport.Edit) { print(json ? edit.json : Self.line(edit)) }

    /// Formats an outcome: `sent      12  Note 31 created (was bmo:6f1c...)`.
    static func line(_ edit: PushReport.Edit) -> String {
        let id = String(edit.entry)
        var text =
            edit.outcome.kind.rawValue.padded(to: 9) + " " + String(repeating: " ", count: max(0, 3 - id.count)) + id
        text += "  \(EditRun.name(edit.entity, edit.key)) \(EditRun.words(edit.operation))"
        if let old = edit.oldKey { text += " (was \(old.map(\.description).joined(separator: " ")))" }
        if let warning = edit.warning { text += "; warning: \(warning)" }
        if let failure = edit.failure { text += ": \(failure.line)" }
        // An unreadable edit leaves nothing to resolve, and its failure states the remedy.
        let isReadable = edit.failure?.remedy?.contains("`bmo outbox retry") != true
        if edit.outcome.kind == .conflict, isReadable { text += "; `bmo conflicts \(edit.entity)` shows it" }
        if let next = edit.next {
            text += edit.outcome.kind == .waits ? "; next try at \(next)" : "; checks again at \(next)"
        }
        return Terminal.printable(text)
    }

    /// Formats the counts: `1 sent, 2 refused`.
    static func summary(_ report: PushReport) -> String {
        let parts = EditOutcome.Kind.allCases.map { ($0, report.count($0)) }.filter { $0.1 > 0 }
        guard !parts.isEmpty else { return "nothing to send" }
        return parts.map { "\($1) \($0.rawValue)" }.joined(separator: ", ")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
