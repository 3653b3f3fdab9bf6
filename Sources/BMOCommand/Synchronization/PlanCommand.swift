internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// `bmo plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a sync would request, without requesting it.",
        discussion: """
            For each entity: whether the scan asks for everything or for changes, and since when; the parent objects \
            it visits; the requests for the first page, without secrets; what happens to rows that the listing lacks. \
            The requests for later pages depend on the replies.

            With --where it shows what `bmo sync ENTITY --where CONDITION` would request, and which conditions the API \
            applies: those that the entity's `filters` map. bmo checks all of them again before the import.

            Local edits that `bmo push` would send are listed with their values as the remote gets them.

            The database is only read, and not created. For a SOAP service the WSDL may be fetched.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The entities; all when none is named.", valueName: "entity"))
    var entities: [String] = []

    @OptionGroup var filter: FilterOptions

    @Flag(help: "As for `bmo sync --full`.")
    var full = false

    @Flag(help: "As for `bmo sync --restart`.")
    var restart = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        for name in entities { _ = try WorkspaceOptions.entity(name, in: workspace) }
        let conditions = try filter.parsed(entities, in: workspace)
        let store = try workspace.openStoreForPlan()
        let plan = try await workspace.plan(
            Workspace.SyncOptions(
                entities: entities.isEmpty ? nil : entities, restart: restart, full: full, conditions: conditions),
            in: store)
        try store?.close()
        let parts = plan.scans.map(Self.text) + Self.text(plan.writes)
        print(json ? plan.json : parts.joined(separator: "\n\n"))
        for scan in plan.scans {
            if let failure = scan.failure { Terminal.error(failure.description) }
        }
        if !plan.succeeded { throw ExitCode(CommandFailure.failed) }
    }

    private static func text(_ scan: SyncPlan.Scan) -> String {
        var lines = [
            "\(scan.entity)\(scan.source.map { ", source \($0)" } ?? "") from \(scan.bridge): \(words(scan.extent))"
        ]
        if let page = scan.resumesAfterPage {
            lines.append("  continues after page \(page) of an interrupted scan; --restart starts from the beginning")
        }
        if let parents = scan.parents { lines.append("  " + words(parents)) }
        for request in scan.requests {
            lines.append("  " + Terminal.printable(request.text))
            if let body = request.body {
                let short = body.count > 1000 ? body.prefix(1000) + "..." : body[...]
                lines += Terminal.printable(String(short)).split(separator: "\n").map { "    " + $0 }
            }
        }
        if scan.requests.isEmpty, scan.failure != nil { lines.append("  the requests are not known") }
        if let paging = scan.paging {
            lines.append(
                "  paging: " + (paging == "auto" ? "auto, decided by the first reply" : Terminal.printable(paging)))
        }
        for condition in scan.conditions {
            let how =
                condition.isPushed
                ? "the API applies it, and it is checked here" : "applied here, as the API does not support it"
            lines.append("  \(Terminal.printable(condition.text)): \(how)")
        }
        if let deletes = scan.deletes {
            switch deletes.mode {
            case .hard: lines.append("  rows that a complete listing lacks are deleted")
            case .soft: lines.append("  rows that a complete listing lacks are marked as deleted")
            case .ignore: break
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Formats the planned writes, with a part for each entity that has edits.
    private static func text(_ writes: [PlannedWrite]) -> [String] {
        var entities: [String] = []
        for write in writes where !entities.contains(write.entity) { entities.append(write.entity) }
        return entities.map { entity in
            let own = writes.filter { $0.entity == entity }
            let count = Terminal.count(own.count, "edit waits", "edits wait")
            return (["\(entity): \(count) for `bmo push`"] + own.map(line)).joined(separator: "\n")
        }
    }

    private static func line(_ write: PlannedWrite) -> String {
        let state = write.state == .pending ? "" : " (\(write.state.rawValue))"
        let content = write.fault.map { "cannot be sent: \($0)" } ?? write.shortValues
        let text = "\(write.operation.rawValue) \(EditRun.name(write.entity, write.key))\(state)"
        let waits = write.waits.map { "  (not sent now: \($0))" } ?? ""
        return "  " + Terminal.printable(text + (content.map { "  \($0)" } ?? "") + waits)
    }

    private static func words(_ extent: SyncPlan.Extent) -> String {
        switch extent {
        case .full(let reason): "everything (\(reason))"
        case .since(let value): "what changed since \(Terminal.printable(value))"
        case .newestFirst(let value):
            "the newest first, until all that follow are older than \(Terminal.printable(value))"
        case .token(let instant): "what changed since the token of the scan of \(instant)"
        case .part: "what meets the conditions; nothing is deleted, and no cursor moves"
        }
    }

    private static func words(_ parents: SyncPlan.Parents) -> String {
        let which = parents.conditions.isEmpty ? "" : " with " + parents.conditions.joined(separator: ", ")
        let count = parents.count.map { "each of \($0)" } ?? "each"
        let unknown = "; none is known yet, so names stand for values below"
        let none = "; none is due now, so names stand for values below"
        let example = parents.example.map { "; here for \($0)" } ?? ((parents.count ?? 0) > 0 ? none : unknown)
        // The parents' own listing comes first, and changes some.
        let due = parents.due.map { ", of which \($0) \($0 == 1 ? "is" : "are") due before the sync changes others" }
        return "once for \(count) \(parents.entity)\(which)\(due ?? ""), \(parents.concurrency) at a time"
            + Terminal.printable(example)
    }
}

/// The `--where` option of commands that fetch.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .customLong("where"), parsing: .singleValue,
        help: ArgumentHelp(
            "Only records that meet the condition, written as for `bmo list`; may be given several times, with one entity.",
            valueName: "condition"))
    var conditions: [String] = []

    /// Parses the conditions on fields of the single named entity.
    func parsed(_ entities: [String], in workspace: Workspace) throws -> [LocalCondition] {
        guard !conditions.isEmpty else { return [] }
        guard entities.count == 1 else {
            throw CommandFailure(
                "--where is about one entity: name just that one", exitCode: CommandFailure.usage)
        }
        let index = try WorkspaceOptions.entity(entities[0], in: workspace)
        let parsed = try conditions.map { try ConditionParser.parse($0, for: workspace.model.entities[index]) }
        try workspace.check(parsed, on: index)
        return parsed
    }
}
