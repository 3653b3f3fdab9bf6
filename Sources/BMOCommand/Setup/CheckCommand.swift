internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model
internal import StoreContract

/// `bmo check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate the configuration; report all faults at once, each with its location.",
        discussion: """
            The bridges for REST, SOAP and SMB also validate their options and sections, such as paths, selectors, \
            paging and headers. Without --remote no connection is made. With it, a bridge also validates each entity's \
            section and attributes against the API's own description (a WSDL: operations, elements, paths). Where the \
            API has none (REST), bmo fetches the first page of each entity and validates its records against paths and \
            key; nothing is imported.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Also connect to each bridge and authenticate.")
    var remote = false

    @Flag(help: "Print what was found as a JSON array of objects.")
    var json = false

    func run() async throws {
        var report = CheckReport(json: json)
        do {
            try await check(&report)
        } catch let errors as ConfigurationErrors where json {
            for diagnostic in errors.diagnostics { report.add(diagnostic) }
            report.finish()
            throw ExitCode(CommandFailure.usage)
        }
        report.finish()
        if report.hasFailed { throw ExitCode(CommandFailure.failed) }
    }

    private func check(_ report: inout CheckReport) async throws {
        let workspace = try await options.workspace()
        let configuration = workspace.configuration
        let (validations, notValidated) = await workspace.validations()
        guard !validations.contains(where: { $0.severity == .error }) else {
            throw ConfigurationErrors(diagnostics: validations)
        }
        for warning in configuration.warnings + validations { report.add(warning) }
        for bridge in notValidated { report.add(notValidated: bridge) }
        report.say(
            "\(options.file): \(Terminal.count(configuration.bridges.count, "bridge", "bridges")), "
                + "\(Terminal.count(configuration.model.entities.count, "entity", "entities")), no faults")
        guard remote else { return }
        if let store = try? workspace.openStoreForReading() {
            for words in (store as? any LimitedStore)?.limitations ?? [] { report.say("database: \(words)") }
            try store.close()
        }
        for bridge in configuration.bridges {
            do {
                let connection = try await workspace.connect(to: bridge)
                try await connection.closing {
                    let words = connection.plugin.can("check") ? try await connection.check() : "cannot check"
                    report.say("\(bridge.name): connected\(words.map { ": " + Terminal.printable($0) } ?? "")")
                    for check in try await workspace.check(entitiesOf: bridge, over: connection) {
                        report.add(check, of: bridge.name)
                    }
                }
            } catch {
                report.add(error, of: bridge.name)
            }
        }
    }
}
