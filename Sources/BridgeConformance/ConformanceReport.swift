internal import RecordBatch

/// What a run found.
public struct ConformanceReport: Sendable {
    /// A check, as it is listed.
    public struct Check: Sendable, Equatable {
        /// What settings call it, such as `read.repeatable`.
        public var id: String
        /// What it asks of a bridge.
        public var title: String
        /// From which level on it is made.
        public var level: ConformanceLevel
    }

    /// How a check ended.
    public enum Outcome: Sendable, Equatable {
        /// The bridge does what it should.
        case passed
        /// It does not: in words.
        case failed(String)
        /// The settings say why not.
        case skipped(String)
        /// There is nothing to check: why.
        case notApplicable(String)
    }

    /// A check and its outcome.
    public struct Result: Sendable {
        /// The check.
        public var check: Check
        /// How it ended.
        public var outcome: Outcome
        /// How long it took.
        public var duration: Duration
    }

    /// The bridge and its version.
    public var bridge: String
    /// The level of the run.
    public var level: ConformanceLevel
    /// A result per check, in the order of the checks.
    public var results: [Result]

    /// Whether no check failed.
    public var passed: Bool {
        !results.contains { if case .failed = $0.outcome { true } else { false } }
    }

    /// A line per check, and a last one with the counts.
    public var text: String {
        let lines = results.map { $0.line }
        return (lines + [summary]).joined(separator: "\n")
    }

    /// The counts in a line.
    public var summary: String {
        func count(_ word: String) -> Int { results.count { $0.word == word } }
        return "\(bridge) at level \(level.rawValue): \(count("pass")) passed, \(count("FAIL")) failed, "
            + "\(count("skip")) skipped, \(count("n/a ")) not applicable"
    }

    /// One JSON object.
    public var json: String {
        RecordBatchWriter.json { writer in
            writer.member("bridge", bridge)
            writer.member("level", level.rawValue)
            writer.member("passed", passed)
            writer.key("checks")
            writer.array {
                for result in results {
                    writer.object {
                        writer.member("id", result.check.id)
                        writer.member("title", result.check.title)
                        writer.member("level", result.check.level.rawValue)
                        writer.member("outcome", result.outcomeName)
                        writer.member("reason", result.reason)
                        writer.key("seconds")
                        writer.decimal(result.seconds)
                    }
                }
            }
        }
    }

    /// JUnit's XML, as continuous integration services read it.
    public var junit: String {
        func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
        }
        let failures = results.count { $0.word == "FAIL" }
        let skipped = results.count { $0.word == "skip" || $0.word == "n/a " }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuite name=\"\(escaped(bridge))\" tests=\"\(results.count)\" failures=\"\(failures)\" "
                + "skipped=\"\(skipped)\">",
        ]
        for result in results {
            let head =
                "  <testcase classname=\"\(escaped(bridge))\" name=\"\(result.check.id)\" time=\"\(result.seconds)\""
            switch result.outcome {
            case .passed: lines.append(head + "/>")
            case .failed(let words): lines.append(head + "><failure message=\"\(escaped(words))\"/></testcase>")
            case .skipped(let words), .notApplicable(let words):
                lines.append(head + "><skipped message=\"\(escaped(words))\"/></testcase>")
            }
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }
}

extension ConformanceReport.Result {
    /// The result on a line.
    public var line: String {
        let pad = String(repeating: " ", count: max(1, 24 - check.id.count))
        return "\(word)  \(check.id)\(pad)\(check.title)" + (reason.map { "\n      \($0)" } ?? "")
    }

    var word: String {
        switch outcome {
        case .passed: "pass"
        case .failed: "FAIL"
        case .skipped: "skip"
        case .notApplicable: "n/a "
        }
    }

    var outcomeName: String {
        switch outcome {
        case .passed: "passed"
        case .failed: "failed"
        case .skipped: "skipped"
        case .notApplicable: "not_applicable"
        }
    }

    var reason: String? {
        switch outcome {
        case .passed: nil
        case .failed(let words), .skipped(let words), .notApplicable(let words): words
        }
    }

    var seconds: String {
        let parts = duration.components
        return "\(parts.seconds).\(String(1000 + parts.attoseconds / 1_000_000_000_000_000).dropFirst())"
    }
}
