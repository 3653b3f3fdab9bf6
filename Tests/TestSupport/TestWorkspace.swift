package import Testing

/// A folder with a configuration, and the built command to run in it.
///
/// A suite conforms itself, with a folder of its own, or uses a ``RemoteWorkspace``, which also has a remote.
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

/// A folder with a configuration and a remote, which a test asks or changes by ``server``.
///
/// What only the workspaces of one remote can do is an extension beside their suites, such as `where Remote == NoteServer`.
package final class RemoteWorkspace<Remote>: TestWorkspace {
    package let folder: TemporaryFolder
    package let environment: [String: String]
    /// The remote.
    package let server: Remote

    /// Takes a remote, which runs elsewhere.
    ///
    /// - Parameter folder: where the command runs; default: a folder of its own.
    package init(of server: Remote, in folder: TemporaryFolder? = nil, environment: [String: String] = [:]) throws {
        self.folder = try folder ?? TemporaryFolder()
        (self.server, self.environment) = (server, environment)
    }
}

extension RemoteWorkspace: Sendable where Remote: Sendable {}

extension RemoteWorkspace where Remote == RemoteServer {
    package var url: String { server.url }

    /// Starts a server of Tests/Servers; the command runs in the server's folder.
    package convenience init(_ script: String, _ arguments: String..., environment: [String: String] = [:]) async throws
    {
        let server = try await RemoteServer(["python3", "-u", "-B", RemoteServer.script(script)] + arguments)
        try self.init(of: server, in: server.folder, environment: environment)
    }
}
