internal import BMO
internal import BridgeHost
internal import Foundation
internal import Model
internal import StoreContract
internal import TextFormats

/// The file of `bmo doctor --bundle`: what a support request needs, as text that its sender can read first.
struct SupportBundle {
    /// The program, the plugins and the libraries.
    let version: String
    /// The findings of `bmo doctor`.
    let findings: [Finding]
    /// The path of the configuration.
    let path: String
    /// The configuration; nil if it is not valid.
    let workspace: Workspace?

    /// How many runs it shows.
    private static let runs = 20

    /// Checks that a bundle can be written to a path, before the examination that takes time.
    static func check(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("\(path) already exists; name another file", exitCode: CommandFailure.usage)
        }
    }

    /// Writes the bundle to a new file that only this user can read.
    func write(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            throw CommandFailure(unwritable: path, NSError(domain: NSPOSIXErrorDomain, code: Int(code)))
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data(text.utf8))
            try file.close()
        } catch {
            throw CommandFailure(unwritable: path, error)
        }
    }

    /// The whole text, without secrets.
    var text: String {
        let file = ConfigurationFile(path: path)
        let directory = ConfigurationFile.directory(of: path)
        let configuration = file.value.map { MaskedConfiguration($0, directory: directory) }
        let sections: [(title: String, text: String)] = [
            ("version", version),
            ("doctor", findings.map { FindingReport.text($0, isPainted: false) }.joined(separator: "\n")),
            ("configuration \(path)", configuration?.text ?? "it cannot be parsed"),
            ("bmo.lock", (try? String(contentsOfFile: directory + "/bmo.lock", encoding: .utf8)) ?? "none"),
            ("schema", schema), ("database", database), ("environment", Self.environment),
        ]
        let text =
            """
            bmo support bundle, \(Clock.now())

            Read it before you send it. It contains no rows, no values of environment variables, and no values of the
            configuration that may be secrets. It does contain names of hosts, files, entities and variables, and
            the messages of failures, which may name keys of records.

            """
            + sections.map { "\n== \($0.title)\n\n\($0.text.trimmingCharacters(in: .newlines))\n" }.joined()
        let finder = SecretFinder((configuration?.secrets ?? []).sorted().map { ($0, "***") })
        return Self.withoutHome(SecretFinder.masking(text, [finder]))
    }

    /// The tables that the configuration asks for.
    private var schema: String {
        guard let workspace else { return "the configuration has to be valid first" }
        return workspace.stores.schema(of: workspace.model).joined(separator: "\n\n")
    }

    /// The counts of the entities, and the last runs.
    private var database: String {
        guard let workspace else { return "the configuration has to be valid first" }
        guard workspace.stores.exists(workspace.configuration.databasePath) else { return "it does not exist yet" }
        do {
            let plan = try? workspace.stores.migrationPlan(
                of: workspace.configuration.databasePath, to: workspace.model)
            let steps = (plan?.steps ?? []).map { "migration: \($0)" }
            let store = try workspace.openStoreForReading()
            defer { try? store.close() }
            let entities = try store.status().map { entity in
                "\(entity.name): \(entity.rows) rows, \(entity.stubs) stubs, \(entity.quarantined) in quarantine"
            }
            let outbox = Dictionary(grouping: try store.outbox(), by: \.state).map { "outbox: \($1.count) \($0)" }
            let runs = try store.runs(limit: Self.runs).map { run in
                "\(RunsCommand.title(run))" + (run.summary.map { "\n  \($0)" } ?? "")
            }
            return (steps + entities + outbox.sorted() + ["", "the last runs:"] + runs).joined(separator: "\n")
        } catch {
            return "it cannot be read: \(error)"
        }
    }

    /// The names of the variables.
    private static var environment: String {
        ProcessInfo.processInfo.environment.keys.sorted().joined(separator: "\n")
    }

    /// Replaces the path of the home folder, which usually names the user.
    private static func withoutHome(_ text: String) -> String {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return home.utf8.count > 1 ? text.replacing(home, with: "~") : text
    }
}
