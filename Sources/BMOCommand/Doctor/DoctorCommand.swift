internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model

/// `bmo doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine the configuration, plugins, database, servers, clock, disk and permissions.",
        discussion: """
            Each finding that is not ok comes with its remedy. Nothing is changed. The exit code is 0 without errors \
            (there may be warnings), 2 if the configuration has a fault, and 1 for other errors.

            With --health, only the health file of a running `bmo watch` is checked, without any connection: it is an \
            error if the state is failing or stopped, or if the file was written more than 90 seconds ago. This is for \
            monitors and containers.

            With --bundle, what a support request needs is also written to a file: the report, the versions, the \
            configuration, the schema and the last runs, without rows and without values that may be secrets.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Do not connect to the servers.")
    var offline = false

    @Option(help: ArgumentHelp("Check only this health file of `bmo watch`.", valueName: "path"))
    var health: String?

    @Option(
        help: ArgumentHelp(
            "Also write what a support request needs to this new file, without secrets and rows.", valueName: "path"))
    var bundle: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func validate() throws {
        if bundle != nil, health != nil {
            throw ValidationError("--health examines only a health file, and --bundle everything: leave out one")
        }
    }

    func run() async throws {
        var report = FindingReport(json: json)
        if let health {
            report.add(HealthFile.finding(path: health))
            report.finish()
            if report.hasErrors { throw ExitCode(CommandFailure.failed) }
            return
        }
        if let bundle { try SupportBundle.check(bundle) }
        let workspace = try await examine(&report)
        report.finish()
        if let bundle {
            let version = await VersionCommand.everything()
            try SupportBundle(
                version: version, findings: report.findings, path: options.file, workspace: workspace
            ).write(to: bundle)
            if !json { print("wrote \(bundle); read it before you send it") }
        }
        guard workspace != nil else { throw ExitCode(CommandFailure.usage) }
        if report.hasErrors { throw ExitCode(CommandFailure.failed) }
    }

    /// Returns the configuration, if it is valid.
    private func examine(_ report: inout FindingReport) async throws -> Workspace? {
        report.add(await PluginCheck.findings(host: try options.host))
        report.add(MachineCheck.clockAfterBuild())
        report.add(MachineCheck.temporaryFolder())
        let workspace: Workspace
        do {
            workspace = try await options.workspace(toleratesRefusals: true)
        } catch let errors as ConfigurationErrors {
            report.add(errors.diagnostics.map(ConfigurationCheck.finding))
            for subject in ["permissions", "disk", "database", "servers"] {
                report.add(.skipped(subject, "the configuration has to be valid first"))
            }
            return nil
        }
        report.add(ConfigurationCheck.findings(workspace, path: options.file))
        report.add(MachineCheck.permissions(workspace.configuration))
        if DatabaseURI.isURI(workspace.configuration.databasePath) {
            report.add(.skipped("disk", "the database is on a server"))
        } else {
            report.add(MachineCheck.disk(workspace.configuration.databasePath))
        }
        report.add(DatabaseCheck(workspace: workspace).findings())
        if offline {
            report.add(.skipped("servers", "--offline was given"))
        } else {
            for bridge in workspace.configuration.bridges {
                report.add(await ServerCheck.finding(bridge, in: workspace))
            }
        }
        return workspace
    }
}
