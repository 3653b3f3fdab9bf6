internal import ArgumentParser
internal import BMO
internal import Mapping
internal import Model
internal import StoreContract

/// `bmo get`.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print one object.",
        discussion: """
            A key of several attributes is given as several arguments, in the order of the configuration. A \
            relationship to many is shown as the keys of its targets, in its order; if it is the inverse of a \
            relationship to one, it is not shown: `bmo list TARGET --where RELATIONSHIP=KEY` lists them.
            """)

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
        let names = layout.key.map { layout.fields[$0].name }
        guard !names.isEmpty else {
            throw CommandFailure(
                "the objects of \(entity) have no key; `bmo list \(entity) --where ...` finds them",
                exitCode: CommandFailure.usage)
        }
        try layout.checkKey(key)
        let conditions = zip(names, key).map { LocalCondition(field: $0, comparison: .equal, value: $1) }
        let store = try options.storeForReading(of: workspace, [index])
        let found = try store.rows(of: RowQuery(layout.name, where: conditions, limit: 1)).first?.values
        let waiting = try store.outbox(entity: entity, key: store.key(of: index, from: key))
        let stored = try found == nil ? [] : store.key(of: index, from: key)
        let links = try found == nil ? [] : ShownLinks.of(index, key: stored, in: workspace.model, store)
        let pending = try found == nil ? [] : store.pendingFields(entity: entity, key: store.key(of: index, from: key))
        try store.close()
        if let last = waiting.last, last.operation == .delete {
            throw CommandFailure(
                "\(entity) \(key.joined(separator: ", ")) is deleted here; the edit waits as outbox \(last.id); "
                    + "`bmo outbox drop \(last.id)` restores it")
        }
        guard let found else { throw CommandFailure("there is no \(entity) \(key.joined(separator: ", "))") }
        if json {
            print(RowPrinter.json(found, layout, links.map { ($0.name, $0.json) }))
        } else {
            let lines =
                zip(layout.columns, found).map { ($0.name, RowPrinter.text($1)) } + links.map { ($0.name, $0.json) }
            let width = lines.map(\.0.count).max() ?? 0
            for (name, text) in lines {
                let padding = String(repeating: " ", count: width - name.count)
                print("\(name)\(padding)  \(Terminal.printable(text))")
            }
            if !pending.isEmpty {
                let state = waiting.first.map { $0.state == .pending ? "" : " (\($0.state.rawValue))" } ?? ""
                print(
                    "to be sent\(state): \(pending.joined(separator: ", ")); `bmo outbox \(entity)` shows their state"
                )
            }
        }
    }
}
