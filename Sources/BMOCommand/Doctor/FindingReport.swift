internal import RecordBatch

/// Prints findings as they arrive, as text or as a JSON array of objects.
struct FindingReport {
    private let json: Bool
    private var array = JSONArrayPrinter()
    private var counts: [Finding.State: Int] = [:]
    /// What was reported.
    private(set) var findings: [Finding] = []

    init(json: Bool) { self.json = json }

    /// Whether something is in the state `error`.
    var hasErrors: Bool { counts[.error, default: 0] > 0 }

    mutating func add(_ finding: Finding) {
        counts[finding.state, default: 0] += 1
        findings.append(finding)
        guard json else { return print(Self.text(finding, isPainted: true)) }
        array.add(
            RecordBatchWriter.json { writer in
                writer.member("subject", finding.subject)
                writer.member("state", finding.state.rawValue)
                writer.member("message", finding.message)
                writer.member("remedy", finding.remedy)
            })
    }

    mutating func add(_ findings: [Finding]) {
        for finding in findings { add(finding) }
    }

    /// Ends the array, or prints the sum.
    func finish() {
        guard !json else { return array.finish() }
        let errors = Terminal.count(counts[.error, default: 0], "error", "errors")
        let warnings = Terminal.count(counts[.warning, default: 0], "warning", "warnings")
        print("\(errors), \(warnings)")
    }

    /// Returns a finding as text.
    ///
    /// - Parameter isPainted: Whether its state has a colour on a terminal.
    static func text(_ finding: Finding, isPainted: Bool) -> String {
        let colour: Terminal.Colour? =
            switch finding.state {
            case .error: .red
            case .warning: .yellow
            case .ok, .skipped: nil
            }
        let state = finding.state.rawValue
        let padding = String(repeating: " ", count: Finding.State.skipped.rawValue.count - state.count)
        let line =
            (isPainted ? Terminal.painted(state, colour, on: 1) : state) + padding
            + "  \(finding.subject): \(Terminal.printable(finding.message))"
        return finding.remedy.map { "\(line)\n         remedy: \(Terminal.printable($0))" } ?? line
    }
}
