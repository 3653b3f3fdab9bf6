internal import ArgumentParser
internal import BMO
internal import Mapping
internal import Model
internal import StoreContract

/// `bmo list`.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the objects of an entity, in the order of their keys.",
        discussion: """
            A condition is a field, one of = != < <= > >= ~ and a value: --where 'name~%land' --where 'size>1000'. \
            ~ is SQL's LIKE; `= null` and `!= null` ask whether there is a value. All conditions must hold.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    @Option(
        name: .customLong("where"), parsing: .singleValue,
        help: ArgumentHelp("A condition; may be given several times.", valueName: "condition"))
    var conditions: [String] = []

    @Option(help: ArgumentHelp("Print at most this number of objects.", valueName: "count"))
    var limit: Int?

    @Flag(help: "Also stubs: objects that others refer to, of which only the key is known.")
    var stubs = false

    @Flag(exclusivity: .exclusive, help: "How to print: a JSON array of objects, or CSV (RFC 4180).")
    var format: OutputFormat?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit takes a count of 0 or more, not \(limit)") }
    }

    func run() async throws {
        let workspace = try await options.workspace()
        let index = try WorkspaceOptions.entity(entity, in: workspace)
        let layout = workspace.model.entities[index]
        let parsed = try conditions.map { try ConditionParser.parse($0, for: layout) }
        let store = try options.storeForReading(of: workspace, [index])
        var printer = RowPrinter(layout, format: format)
        var query = RowQuery(layout.name, where: parsed, limit: limit)
        query.includesStubs = stubs
        try store.rows(of: query) { printer.add($0.values) }
        printer.finish()
        try store.close()
    }
}

/// Parses `FIELD OPERATOR VALUE`.
enum ConditionParser {
    static func parse(_ text: String, for layout: EntityLayout) throws -> LocalCondition {
        guard let condition = LocalCondition(text) else {
            throw CommandFailure(
                "\"\(text)\" is not a condition; \(LocalCondition.remedy(for: text))", exitCode: CommandFailure.usage)
        }
        let name = condition.field
        guard layout.columns.contains(where: { $0.name == name }) else {
            let hint = suggestion(for: name, among: layout.columns.map(\.name), what: "fields")
            throw CommandFailure(
                "\(layout.name) has no field \"\(name)\"\(hint.map { "; \($0)" } ?? "")", exitCode: CommandFailure.usage
            )
        }
        return condition
    }
}
