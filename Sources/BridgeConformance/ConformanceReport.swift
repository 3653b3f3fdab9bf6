internal import RecordBatch
internal import TextFormats

/// The results of a run.
public struct ConformanceReport: Sendable {
    /// The description of a check.
    public struct Check: Sendable, Equatable {
        /// The identifier in settings, such as `read.repeatable`.
        public var id: String
        /// The requirement on a bridge.
        public var title: String
        /// The lowest level that includes the check.
        public var level: ConformanceLevel
    }

    /// The outcome of a check.
    public enum Outcome: Sendable, Equatable {
        /// The bridge meets the requirement.
        case passed
        /// The bridge violates the requirement, as described.
        case failed(String)
        /// The settings skip the check, for this reason.
        case skipped(String)
        /// The check does not apply, for this reason.
        case notApplicable(String)
    }

    /// A check and its outcome.
    public struct Result: Sendable {
        /// The check.
        public var check: Check
        /// The check's outcome.
        public var outcome: Outcome
        /// The check's duration.
        public var duration: Duration
    }

    /// The bridge and its version.
    public var bridge: String
    /// The level of the run.
    public var level: ConformanceLevel
    /// The results of the checks, in order.
    public var results: [Result]

    /// Whether no check failed.
    public var passed: Bool {
        !results.contains(where: \.isFailure)
    }

    /// A line per check, and a final line with the counts.
    public var text: String {
        let lines = results.map { $0.line }
        return (lines + [summary]).joined(separator: "\n")
    }

    /// The counts on one line.
    public var summary: String {
        func count(_ word: String) -> Int { results.count { $0.word == word } }
        return "\(bridge) at level \(level.rawValue): \(count("pass")) passed, \(count("FAIL")) failed, "
            + "\(count("skip")) skipped, \(count("n/a ")) not applicable"
    }

    /// The report as a JSON object.
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

    /// The report as JUnit XML, for continuous integration services.
    public var junit: String {
        let bridge = XMLText.escaped(bridge, isAttribute: true)
        let failures = results.count { $0.word == "FAIL" }
        let skipped = results.count { $0.word == "skip" || $0.word == "n/a " }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            "<testsuite name=\"\(bridge)\" tests=\"\(results.count)\" failures=\"\(failures)\" "
                + "skipped=\"\(skipped)\">",
        ]
        for result in results {
            let head =
                "  <testcase classname=\"\(bridge)\" name=\"\(result.check.id)\" time=\"\(result.seconds)\""
            switch result.outcome {
            case .passed: lines.append(head + "/>")
            case .failed(let words):
                let message = XMLText.escaped(words, isAttribute: true)
                lines.append(head + "><failure message=\"\(message)\"/></testcase>")
            case .skipped(let words), .notApplicable(let words):
                let message = XMLText.escaped(words, isAttribute: true)
                lines.append(head + "><skipped message=\"\(message)\"/></testcase>")
            }
        }
        return (lines + ["</testsuite>", ""]).joined(separator: "\n")
    }
}

extension ConformanceReport.Result {
    /// The result on one line, with the reason below it.
    public var line: String {
        let pad = String(repeating: " ", count: max(1, 24 - check.id.count))
        return "\(word)  \(check.id)\(pad)\(check.title)" + (reason.map { "\n      \($0)" } ?? "")
    }

    var isFailure: Bool { if case .failed = outcome { true } else { false } }

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
