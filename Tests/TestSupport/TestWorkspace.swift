package import Testing

/// A folder with a configuration, and the built command to run in it.
///
/// A suite conforms itself, with a folder of its own, or uses one of the workspaces that also have a remote:
/// ``RemoteWorkspace``, or those beside the suites, such as `NoteWorkspace` and `FileWorkspace` of EndToEndTests. A remote
/// by itself is a ``RemoteServer``.
package protocol TestWorkspace {
    /// Where the command runs.
    var folder: TemporaryFolder { get }

    /// What is added to the environment of each command.
    var environment: [String: String] { get }
}

extension TestWorkspace {
    package var environment: [String: String] { [:] }

    /// The database that a configuration has unless it names another.
    package var database: String { folder.appending("bmo.sqlite") }

    /// Starts the command.
    package func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProcess {
        try RunningProcess(
            BuiltCommand.path(), arguments, environment: self.environment.merging(environment) { $1 },
            directory: folder.path)
    }

    /// Runs the command to its end.
    @discardableResult
    package func bmo(_ arguments: String..., environment: [String: String] = [:]) async throws -> ProcessRun {
        try await bmo(arguments, environment: environment)
    }

    /// Runs the command to its end.
    @discardableResult
    package func bmo(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProcessRun {
        try await start(arguments, environment: environment).finish(within: .seconds(120))
    }

    /// Runs the command, which must succeed.
    @discardableResult
    package func expectSuccess(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ProcessRun {
        let run = try await bmo(arguments)
        try #require(run.exitCode == 0, "\(run)", sourceLocation: sourceLocation)
        return run
    }

    /// Returns what sqlite3 prints for a query: a line for each row, with `|` between columns and without the last line's
    /// end; `(no rows)` if there are none, because a row of one null is an empty line.
    package func query(
        _ sql: String, in database: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let run = try await ProcessRun.run("sqlite3", ["-readonly", database ?? self.database, sql])
        try #require(run.exitCode == 0, "\(run)", sourceLocation: sourceLocation)
        guard !run.output.isEmpty else { return "(no rows)" }
        return String(run.output.hasSuffix("\n") ? run.output.dropLast() : run.output[...])
    }
}

/// The built command.
package enum BuiltCommand {
    /// Its path.
    package static func path() throws -> String { try Products.path(of: "bmo") }
}

/// A workspace in the folder of a remote.
package struct RemoteWorkspace: TestWorkspace, Sendable {
    /// The remote.
    package let server: RemoteServer
    package let environment: [String: String]

    package var folder: TemporaryFolder { server.folder }
    package var url: String { server.url }

    /// Starts a server of Tests/Servers.
    package init(_ script: String, _ arguments: String..., environment: [String: String] = [:]) async throws {
        self.init(
            try await RemoteServer(["python3", "-u", "-B", RemoteServer.script(script)] + arguments),
            environment: environment)
    }

    /// Takes a server that runs in a folder of its own.
    package init(_ server: RemoteServer, environment: [String: String] = [:]) {
        (self.server, self.environment) = (server, environment)
    }
}
