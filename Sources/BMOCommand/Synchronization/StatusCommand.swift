internal import ArgumentParser
internal import BMO
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// `bmo status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show the state of the database: rows, bridges with their plugins, stubs, quarantine, interrupted scans, workers, the last runs."
    )

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "List the stubs: objects that others refer to but that no listing has contained.")
    var stubs = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        let path = try options.databasePath(of: workspace)
        let holder = workspace.stores.lockHolder(of: path, for: .writing)
        let store = try options.storeForReading(of: workspace)
        let entities = try store.status()
        let last = try store.runs(limit: 1).first
        var stubKeys: [String: [String]] = [:]
        if stubs {
            for entity in entities where entity.stubs > 0 {
                stubKeys[entity.name] = try store.stubs(of: entity.name)
            }
        }
        let edits = Dictionary(grouping: try store.outbox(), by: \.state).mapValues(\.count)
        let work = try WorkStatus(store)
        try store.close()
        if json {
            print(Self.json(path, entities, last, holder, stubs ? stubKeys : nil, edits, work, workspace))
        } else {
            print(Self.text(path, entities, last, holder, stubKeys, workspace))
            if let work { print(work.text) }
            let parts = OutboxEntry.State.allCases.compactMap { state in edits[state].map { "\($0) \(state.rawValue)" }
            }
            if !parts.isEmpty { print("outbox: \(parts.joined(separator: ", ")); `bmo outbox` lists them") }
        }
    }

    private static func text(
        _ path: String, _ entities: [EntityStatus], _ last: RunRecord?, _ holder: LockHolder?,
        _ stubs: [String: [String]], _ workspace: Workspace
    ) -> String {
        var parts = ["database \(path)"]
        if let holder { parts.append("being written by \(holder)") }
        parts.append(last.map { "last \(RunsCommand.title($0))" } ?? "no run is kept")
        let rows = entities.map { entity in
            [
                entity.name, String(entity.rows), String(entity.stubs), String(entity.quarantined),
                entity.lastRun.map(String.init) ?? "", entity.lastChanged ?? "",
                UsedBridge.all(of: entity.name, in: workspace).map(\.text).joined(separator: ", "),
            ]
        }
        parts.append(
            Terminal.table(
                ["entity", "rows", "stubs", "quarantined", "run", "last changed", "bridge"], rows,
                rightAligned: [1, 2, 3, 4]))
        for entity in entities {
            if let scan = entity.interrupted {
                let next = scan.isFresh ? "the next sync continues there" : "too old to continue there"
                parts.append(
                    "\(entity.name): a scan stopped after page \(scan.page), \(scan.saved); \(next)")
            }
            for cursor in entity.cursors { parts.append("\(entity.name): \(Terminal.printable(cursor))") }
        }
        for entity in entities {
            for key in stubs[entity.name] ?? [] { parts.append("stub \(entity.name) \(Terminal.printable(key))") }
        }
        return parts.joined(separator: "\n")
    }

    private static func json(
        _ path: String, _ entities: [EntityStatus], _ last: RunRecord?, _ holder: LockHolder?,
        _ stubs: [String: [String]]?, _ edits: [OutboxEntry.State: Int], _ work: WorkStatus?,
        _ workspace: Workspace
    ) -> String {
        var out = "{"
        DiffPrinter.member("database", path.jsonQuoted, &out)
        DiffPrinter.member("written_by", holder.map { $0.description.jsonQuoted } ?? "null", &out)
        DiffPrinter.member("last_run", last.map(RunsCommand.json) ?? "null", &out)
        let objects = entities.map { entity -> String in
            var object = RecordBatchWriter.json { writer in
                writer.member("entity", entity.name)
                writer.member("rows", entity.rows)
                writer.member("stubs", entity.stubs)
                writer.member("quarantined", entity.quarantined)
                writer.member("last_run", entity.lastRun.map { Int($0) })
                writer.member("last_changed", entity.lastChanged)
                writer.key("interrupted")
                if let scan = entity.interrupted {
                    writer.object {
                        writer.member("page", scan.page)
                        writer.member("saved", scan.saved)
                        writer.member("resumes", scan.isFresh)
                    }
                } else {
                    writer.null()
                }
                writer.key("bridges")
                writer.array { for used in UsedBridge.all(of: entity.name, in: workspace) { used.write(to: writer) } }
                writer.key("cursors")
                writer.array { for cursor in entity.cursors { writer.text(cursor) } }
            }
            if let stubs {
                object.removeLast()
                let keys = "[" + (stubs[entity.name] ?? []).joined(separator: ",") + "]"
                DiffPrinter.member("stub_keys", keys, &object)
                object += "}"
            }
            return object
        }
        let states = OutboxEntry.State.allCases.map { "\"\($0.rawValue)\":\(edits[$0] ?? 0)" }
        if let work { DiffPrinter.member("work", work.json, &out) }
        DiffPrinter.member("outbox", "{" + states.joined(separator: ",") + "}", &out)
        DiffPrinter.member("entities", "[" + objects.joined(separator: ",") + "]", &out)
        return out + "}"
    }
}
