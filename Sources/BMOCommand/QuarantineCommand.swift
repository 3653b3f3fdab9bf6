internal import ArgumentParser
internal import BMO
internal import Importer
internal import RecordBatch
internal import SQLiteStore

/// `bmo quarantine`.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Show the records that could not be imported, and why.",
        discussion:
            "A record leaves the quarantine when a whole sync of its entity no longer brings it with this fault.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only this entity's.", valueName: "entity"))
    var entity: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace) }
        let store = try options.store(of: workspace)
        let records = try store.quarantined(entity: entity)
        try store.close()
        if json {
            var printer = JSONArrayPrinter()
            for record in records { printer.add(Self.json(record)) }
            printer.finish()
        } else {
            for record in records { print(Self.text(record)) }
            print("\(records.count) \(records.count == 1 ? "record" : "records") in quarantine")
        }
    }

    private static func text(_ quarantined: SQLiteStore.Quarantined) -> String {
        let record = quarantined.record
        let location = record.location.map { "\n  from   \($0)" } ?? ""
        let representation =
            record.representation.count > 2000 ? record.representation.prefix(2000) + "…" : record.representation
        return Terminal.printable(
            """
            \(quarantined.id)  \(record.place)
              why    \(record.reason)\(location)
              seen   \(quarantined.firstSeen) to \(quarantined.lastSeen)
              record \(representation)
            """)
    }

    private static func json(_ quarantined: SQLiteStore.Quarantined) -> String {
        let record = quarantined.record
        return RecordBatchWriter.json { writer in
            writer.member("id", Int(quarantined.id))
            writer.member("entity", record.entity)
            writer.member("bridge", record.bridge)
            writer.member("page", record.page)
            writer.member("record", record.record)
            writer.member("reason", record.reason)
            writer.member("location", record.location)
            writer.member("representation", record.representation)
            writer.member("first_seen", quarantined.firstSeen)
            writer.member("last_seen", quarantined.lastSeen)
        }
    }
}
