internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Importer
internal import Model
internal import RecordBatch
internal import StoreContract

/// `bmo migrate`.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Show what a changed configuration means for the database, and apply it.",
        discussion: """
            A sync adds tables and columns, and renames what has `renamed_from:`. It makes no change that could lose \
            data: another type, another key, a relationship to another entity, a column that was removed. Without \
            --apply this lists such changes and makes none.

            With --apply the database file is first copied to FILE-before-TIME beside it. Then the changes are made in \
            one transaction, which ends with a check of the whole database. A value that does not fit its new type \
            goes to quarantine.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Make the changes, after a copy of the database file.")
    var apply = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        let path = try options.databasePath(of: workspace)
        if apply {
            let lock = try workspace.stores.lock(path, command: "bmo migrate")
            defer { lock.release() }
            let migration = try workspace.stores.migrate(
                path, to: workspace.model, backup: Self.freePath("\(path)-before-\(Self.stamp(Date()))"))
            show(migration.plan, migration)
        } else {
            show(try workspace.stores.migrationPlan(of: path, to: workspace.model), nil)
        }
    }

    private func show(_ plan: SchemaPlan, _ migration: MigrationResult?) {
        guard !json else {
            print(Self.json(plan, migration))
            return
        }
        guard !plan.isEmpty else {
            print("the database fits the configuration")
            return
        }
        for step in plan.steps {
            print("- " + Terminal.printable(step.description + (step.cost.map { ": \($0)" } ?? "")))
        }
        if let migration {
            for note in migration.notes { Terminal.error(note, prefix: "bmo: warning: ") }
            let count = Terminal.count(plan.steps.count, "change", "changes")
            print("\(count) made; the previous database: \(migration.backup ?? "-")")
        } else if let remedy = plan.obstacles.lazy.compactMap(\.remedy).first {
            print("`bmo migrate --apply` cannot make all of these changes in this database: \(remedy)")
        } else if plan.steps.allSatisfy(\.isLossless) {
            print("`bmo sync` does this itself; it cannot lose data")
        } else if plan.obstacles.isEmpty {
            print("`bmo sync` can do without; `bmo migrate --apply` does it, after a backup")
        } else {
            print("`bmo sync` does not do this; `bmo migrate --apply` does, after a backup")
        }
    }

    private static func json(_ plan: SchemaPlan, _ migration: MigrationResult?) -> String {
        RecordBatchWriter.json { writer in
            writer.key("steps")
            writer.array {
                for step in plan.steps {
                    writer.object {
                        writer.member("description", step.description)
                        writer.member("cost", step.cost)
                        writer.member("lossless", step.isLossless)
                        writer.member("optional", step.isOptional)
                        writer.member("remedy", step.remedy)
                    }
                }
            }
            writer.member("applied", migration != nil)
            writer.member("backup", migration?.backup)
            writer.key("notes")
            writer.array { for note in migration?.notes ?? [] { writer.text(note) } }
        }
    }

    /// Returns the path, with a number appended if a file of that name exists: two migrations may run in one second.
    private static func freePath(_ path: String) -> String {
        var free = path
        var number = 2
        while FileManager.default.fileExists(atPath: free) {
            free = "\(path)-\(number)"
            number += 1
        }
        return free
    }

    /// Formats a date in UTC: `20261121T101500Z`.
    private static func stamp(_ date: Date) -> String {
        date.ISO8601Format(Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }
}
