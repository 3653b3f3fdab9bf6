internal import ArgumentParser
internal import BMO
internal import Importer
internal import RecordBatch
internal import StoreContract

/// `bmo quarantine`.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Show the records that could not be imported, and why; or try them again.",
        discussion:
            "A record leaves the quarantine when a complete sync of its entity no longer returns it with this fault, and "
            + "when any later sync imports or deletes its object.",
        subcommands: [QuarantineListCommand.self, QuarantineRetryCommand.self],
        defaultSubcommand: QuarantineListCommand.self)
}

/// `bmo quarantine list`.
struct QuarantineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the records that could not be imported, and why.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only this entity's.", valueName: "entity"))
    var entity: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace, orOf: QuarantineCommand.self) }
        let store = try options.storeForReading(of: workspace, [])
        let records = try store.quarantined(entity: entity)
        try store.close()
        if json {
            var printer = JSONArrayPrinter()
            for record in records { printer.add(record.json) }
            printer.finish()
        } else {
            for record in records { print(Self.text(record)) }
            print("\(Terminal.count(records.count, "record", "records")) in quarantine")
        }
    }

    private static func text(_ quarantined: QuarantineEntry) -> String {
        let record = quarantined.record
        let location = record.location.map { "\n  from   \($0)" } ?? ""
        let representation =
            record.representation.count > 2000 ? record.representation.prefix(2000) + "…" : record.representation
        let cut =
            record.cutFrom.map { "\n  cut    of \($0) bytes only the beginning is kept: it cannot be tried again" }
            ?? ""
        return Terminal.printable(
            """
            \(quarantined.id)  \(record.place)
              why    \(record.reason)\(location)
              seen   \(quarantined.firstSeen) to \(quarantined.lastSeen)
              record \(representation)\(cut)
            """)
    }
}

/// `bmo quarantine retry`.
struct QuarantineRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Import the records in quarantine again, through the current configuration.",
        discussion: """
            Records that fit leave the quarantine; no server is contacted. The retry is recorded as a run: `bmo diff` \
            shows what it imported, and `bmo undo` reverts it. A record that its bridge could not represent, or that \
            was truncated, stays, and so does a row from before `bmo migrate`: a full sync brings it again. A record also \
            stays if a later run has imported or deleted its object, or if its parent is gone.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only this entity's.", valueName: "entity"))
    var entity: String?

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace) }
        _ = try options.databasePath(of: workspace)
        let command = (["bmo quarantine retry"] + (entity.map { [$0] } ?? [])).joined(separator: " ")
        let store = try await workspace.openLockedStore(command: command)
        let report = try workspace.retryQuarantine(of: entity, in: store)
        try store.close()
        print(json ? Self.json(report) : Self.text(report))
    }

    private static func text(_ report: RetryReport) -> String {
        let kept = report.kept.map { kept in
            Terminal.printable("\(kept.record.id)  \(kept.record.record.place) stays: \(kept.reason)")
        }
        let fits = report.imported.count
        let run = report.run.map { ", run \($0)" } ?? ""
        return
            (kept + [
                "\(Terminal.count(fits, "record fits", "records fit")) now\(run); \(report.kept.count) in quarantine"
            ])
            .joined(separator: "\n")
    }

    private static func json(_ report: RetryReport) -> String {
        RecordBatchWriter.json { writer in
            writer.member("run", report.run.map { Int($0) })
            writer.member("imported", report.imported.count)
            writer.key("kept")
            writer.array {
                for kept in report.kept {
                    writer.object {
                        writer.member("id", Int(kept.record.id))
                        writer.member("entity", kept.record.record.entity)
                        writer.member("reason", kept.reason)
                    }
                }
            }
        }
    }
}
