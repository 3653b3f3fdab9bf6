/// The outcomes of a step's pushed edits, parsed from the command's output, without parts that vary between runs.
enum PushLines {
    /// Returns the lines in the order of the edits: `edit 1: refused, Note 31 updated`, `edit 1 failed: REASON`.
    static func lines(of output: String) -> [String] {
        var found: [(entry: Int, lines: [String])] = []
        for line in output.split(separator: "\n") {
            guard
                let match = line.firstMatch(
                    of:
                        /^(sent|waits|refused|conflict|unknown) +([0-9]+)  (.*? (?:created|updated|deleted))( \(was [^)]*\))?(?:: (.*))?(?:;.*)?$/
                ), let entry = Int(match.2)
            else { continue }
            var lines = ["edit \(entry): \(match.1), \(steady(match.3))"]
            if let reason = match.5 { lines.append("edit \(entry) failed: \(steady(reason))") }
            found.append((entry, lines))
        }
        // Several bridges may be sent edits at a time.
        return found.enumerated().sorted { ($0.element.entry, $0.offset) < ($1.element.entry, $1.offset) }
            .flatMap(\.element.lines)
    }

    /// Removes times and temporary keys.
    private static func steady(_ words: Substring) -> String {
        words.replacing(/; (?:next try|looks again) at [^;]*/, with: "").replacing(
            /bmo:[0-9a-f-]{36}/, with: "(a new key)"
        )
        .description
    }
}
