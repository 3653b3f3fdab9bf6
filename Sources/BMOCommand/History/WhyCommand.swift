internal import ArgumentParser
internal import BMO
internal import Importer
internal import Mapping
internal import StoreContract
internal import TextFormats

/// `bmo why`.
struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Show where an object came from: the source of each column, and what each run did to it.",
        discussion: "A key of several attributes is given as several arguments, in the order of the configuration.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    @Argument(help: ArgumentHelp("The object's key.", valueName: "key"), transform: NegativeKey.word)
    var key: [String]

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        let index = try WorkspaceOptions.entity(entity, in: workspace)
        let layout = workspace.model.entities[index]
        guard !layout.key.isEmpty else {
            throw CommandFailure("\(entity) has no key to look up", exitCode: CommandFailure.usage)
        }
        try layout.checkKey(key)
        let store = try options.storeForReading(of: workspace, [index])
        let values = try store.key(of: index, from: key)
        let history = try workspace.history(of: index, key: values, in: store)
        let pending = try store.pendingFields(entity: entity, key: values)
        try store.close()
        guard history.values != nil || !history.events.isEmpty || !history.quarantined.isEmpty else {
            throw CommandFailure(
                "there is no \(entity) \(key.joined(separator: ", ")), and nothing is recorded about one")
        }
        print(json ? Self.json(history, workspace.model, pending) : Self.text(history, workspace.model, pending))
    }

    // MARK: Text

    private static func text(_ history: RowHistory, _ model: CompiledModel, _ pending: [String]) -> String {
        var parts = ["\(history.entity) \(DiffPrinter.key(history.key)): \(state(history))"]
        if !pending.isEmpty {
            parts.append("edited here, and not confirmed by the remote: " + pending.joined(separator: ", "))
        }
        if !history.groups.isEmpty {
            let rows = history.groups.map { group in
                [
                    group.columns.joined(separator: ", "), source(group), run(group.firstRun), run(group.lastRun),
                    group.location ?? "",
                ]
            }
            parts.append(Terminal.table(["columns", "source", "since", "last", "from"], rows))
        }
        if !history.events.isEmpty {
            let rows = history.events.flatMap { event -> [[String]] in
                let head = [String(event.run), event.kind, event.started, event.change.kind.rawValue]
                let lines = DiffPrinter.lines(event.change, model)
                return lines.isEmpty
                    ? [head + ["", "", "", ""]]
                    : lines.enumerated().map { ($0 == 0 ? head : ["", "", "", ""]) + $1 }
            }
            parts.append(
                Terminal.table(["run", "what", "began", "change", "column", "old", "", "new"], rows, rightAligned: [0]))
        }
        for record in history.quarantined {
            parts.append(
                "in quarantine since \(record.firstSeen): \(record.record.place): \(Terminal.printable(record.record.reason))"
            )
        }
        return parts.joined(separator: "\n\n")
    }

    private static func state(_ history: RowHistory) -> String {
        if history.values == nil { return "not there" }
        if history.isStub { return "a stub: only referred to so far" }
        if history.isListed { return "listed" }
        let creation = history.events.first { $0.change.kind == .inserted }
        if creation?.kind == "edit" { return "created here, and in no listing yet" }
        return "known only from other entities' records or other sources"
    }

    private static func source(_ group: RowHistory.Group) -> String {
        group.isListing ? "\(group.bridge), its own listing" : "\(group.bridge), in the scan of \(group.scan)"
    }

    private static func run(_ run: Int64?) -> String { run.map { "run \($0)" } ?? "" }

    // MARK: JSON

    private static func json(_ history: RowHistory, _ model: CompiledModel, _ pending: [String]) -> String {
        let layout = model.index(of: history.entity).map { model.entities[$0] }
        func list(_ parts: [String]) -> String { "[" + parts.joined(separator: ",") + "]" }
        let printer = DiffPrinter(model, limit: nil)
        var out = "{"
        DiffPrinter.member("entity", history.entity.jsonQuoted, &out)
        let key = zip(history.key, layout?.key ?? []).map { RowPrinter.json($0, layout?.fields[$1].type) }
        DiffPrinter.member("key", list(key), &out)
        let row = history.values.flatMap { values in layout.map { RowPrinter.json(values, $0) } }
        DiffPrinter.member("row", row ?? "null", &out)
        DiffPrinter.member("stub", "\(history.isStub)", &out)
        DiffPrinter.member("listed", "\(history.values != nil && history.isListed)", &out)
        let groups = history.groups.map { group -> String in
            var object = "{"
            DiffPrinter.member("columns", list(group.columns.map(\.jsonQuoted)), &object)
            DiffPrinter.member("bridge", group.bridge.jsonQuoted, &object)
            DiffPrinter.member("walk", group.scan.jsonQuoted, &object)
            DiffPrinter.member("listing", "\(group.isListing)", &object)
            DiffPrinter.member("first_run", group.firstRun.map(String.init) ?? "null", &object)
            DiffPrinter.member("last_run", group.lastRun.map(String.init) ?? "null", &object)
            DiffPrinter.member("location", group.location.map(\.jsonQuoted) ?? "null", &object)
            return object + "}"
        }
        DiffPrinter.member("sources", list(groups), &out)
        let events = history.events.map { event -> String in
            var object = "{"
            DiffPrinter.member("run", String(event.run), &object)
            DiffPrinter.member("kind", event.kind.jsonQuoted, &object)
            DiffPrinter.member("started", event.started.jsonQuoted, &object)
            DiffPrinter.member("change", printer.json(event.change), &object)
            return object + "}"
        }
        DiffPrinter.member("runs", list(events), &out)
        DiffPrinter.member("pending", list(pending.map(\.jsonQuoted)), &out)
        DiffPrinter.member("quarantined", list(history.quarantined.map(\.json)), &out)
        return out + "}"
    }
}
