internal import BMO
internal import Foundation
internal import Model

/// Runs the steps of one case, each as a separate command, on one temporary database.
final class StepRunner {
    let folder: URL
    private let executable: String

    /// The outcome of a step.
    struct Ending {
        var exitCode: Int32
        var output: String
        var errors: String
        /// The notes of its bridges and its host on exchanges: used, faulted, unmatched, retried.
        var notes: [String]
    }

    init(executable: String) throws {
        self.executable = executable
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bmo-fixture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var database: String { folder.appendingPathComponent("case.sqlite").path }

    /// Runs one step to its end.
    ///
    /// - Parameters:
    ///   - session: The location of the exchanges; the report and the database belong to this runner.
    ///   - directory: The working directory; nil for this process's.
    func run(
        _ step: [String], config: String, session: ExchangeSession, directory: String?
    ) async throws -> Ending {
        let report = folder.appendingPathComponent("report-\(UUID().uuidString)")
        var session = session
        session.report = report.path
        session.database = database
        let file = folder.appendingPathComponent("session.json")
        // The file has no secrets; the command reads those itself.
        try Data(session.json.utf8).write(to: file)
        let output = folder.appendingPathComponent("output")
        let errors = folder.appendingPathComponent("errors")
        var arguments = step + ["--file", config, "--exchanges", file.path]
        if step.first == "sync", !step.contains("--json") { arguments.append("--json") }
        let exitCode = try await start(arguments, directory: directory, output: output, errors: errors)
        func text(_ url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }
        return Ending(
            exitCode: exitCode, output: text(output), errors: text(errors),
            notes: text(report).split(separator: "\n").map(String.init))
    }

    private func start(_ arguments: [String], directory: String?, output: URL, errors: URL) async throws -> Int32 {
        let child = try StepProcess(
            executable, arguments, directory: directory, output: output.path, errors: errors.path)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The wait blocks, so it must not run on the cooperative pool.
                Thread.detachNewThread { continuation.resume(returning: child.wait()) }
            }
        } onCancel: {
            child.stop()
        }
    }
}

extension StepRunner.Ending {
    /// The report of a sync; nil if there is none.
    var report: ConfigValue? {
        output.split(separator: "\n").last.flatMap { try? ConfigValue(json: String($0)) }.flatMap {
            $0["entities"] == nil ? nil : $0
        }
    }

    /// Returns the report as lines of the form `NAME: WORDS`, without times.
    func lines(_ step: [String]) -> [String] {
        var lines: [String]
        if step.first == "sync", let report {
            lines = (report["entities"]?.array ?? []).flatMap(Self.lines)
        } else {
            lines = ["exit code: \(exitCode)"]
            if exitCode != 0, let first = errors.split(separator: "\n").first { lines.append("error: \(first)") }
            lines += PushLines.lines(of: output)
        }
        let faults = notes.filter { $0.hasPrefix("fault ") }.map { note in
            let words = note.split(separator: " ")
            return "\(words[2]) (\(words[1].replacing(".http", with: "")))"
        }
        if !faults.isEmpty { lines.append("faults: \(faults.joined(separator: ", "))") }
        let retries = Dictionary(grouping: notes.filter { $0.hasPrefix("retry ") }.map { $0.dropFirst(6) }) { $0 }
        if !retries.isEmpty {
            let words = retries.map { "\($0.key) \($0.value.count == 1 ? "once" : "\($0.value.count) times")" }.sorted()
            lines.append("tried again: \(words.joined(separator: ", "))")
        }
        return lines
    }

    private static func lines(_ entity: ConfigValue) -> [String] {
        let name = entity["entity"]?.string ?? ""
        var words = [entity["outcome"]?.string ?? ""]
        func add(_ key: String, _ what: String) {
            if let count = entity[key]?.int, count > 0 { words.append("\(count) \(what)") }
        }
        add("pages", entity["pages"]?.int == 1 ? "page" : "pages")
        add("inserted", "inserted")
        add("updated", "updated")
        add("unchanged", "unchanged")
        add("quarantined", "in quarantine")
        add("stubs", "stubs")
        add("relinked", "relinked")
        add("deleted", "deleted")
        if let parents = entity["parents"] {
            for key in ["walked", "unchanged", "missing", "failed"] {
                if let count = parents[key]?.int, count > 0 { words.append("\(count) parents \(key)") }
            }
        }
        var lines = ["\(name): \(words.joined(separator: ", "))"]
        if let error = entity["error"] {
            let text = ["code", "message", "remote"].compactMap { error[$0]?.string }.joined(separator: ": ")
            lines.append("\(name) failed: \(text.replacing("\n", with: " "))")
        }
        for warning in entity["warnings"]?.array ?? [] { lines.append("\(name) warns: \(warning.string ?? "")") }
        return lines
    }
}
