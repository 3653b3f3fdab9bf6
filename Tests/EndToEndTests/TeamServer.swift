import Foundation
import Glibc
import TestSupport
import Testing

/// A remote with many teams, whose users are listed per team, and a PostgreSQL server for those who work on them.
///
/// The remote's second state lacks some users, has others in another team, and has changed some.
final class TeamServer {
    /// The number of teams: three ranges of parents.
    static let teams = 96
    /// The users that the second state lacks.
    static let gone = 48

    let database: PostgreSQLServer
    private let process: RemoteServer
    /// The option `limits` of the bridge: members of a YAML object.
    var limits = ""
    /// Where the bridge runs.
    var isolation = "in_process"

    init() async throws {
        database = try PostgreSQLServer.shared.get()
        process = try await .python("team-users.py", "\(Self.teams)")
        try show(state: 1)
        try slow(by: 0)
    }

    /// Replaces a file at once, as the remote may be reading it.
    private func write(_ text: String, to name: String) throws {
        try process.folder.write(text, to: name + ".new")
        guard rename(process.folder.appending(name + ".new"), process.folder.appending(name)) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    func show(state: Int) throws { try write("\(state)", to: "state") }

    /// Makes each reply about users take this many seconds.
    func slow(by seconds: Double) throws { try write("\(seconds)", to: "delay") }

    /// The number of requests about users so far.
    var asked: Int { requests.count }

    /// The requests about users so far: when each arrived, in seconds, and how many were running then.
    var requests: [(time: Double, running: Int)] {
        ((try? String(contentsOfFile: process.folder.appending("asked"), encoding: .utf8)) ?? "")
            .split(separator: "\n").map { line in
                let parts = line.split(separator: " ")
                return (Double(parts[1]) ?? 0, Int(parts[2]) ?? 0)
            }
    }

    /// The teams whose users were requested so far.
    var teamsAsked: [Int] {
        ((try? String(contentsOfFile: process.folder.appending("asked"), encoding: .utf8)) ?? "")
            .split(separator: "\n").map { Int($0.split(separator: " ")[0]) ?? 0 }
    }

    var url: String { process.url }
}

/// Workers on one PostgreSQL schema.
extension RemoteWorkspace where Remote == TeamServer {
    static func teams() async throws -> RemoteWorkspace { try RemoteWorkspace(of: try await TeamServer()) }

    /// Starts the command over a database; the parents of a range come one after the other.
    func start(_ arguments: String..., over location: String) throws -> RunningProcess {
        let file = "\(location.hash.magnitude).yml"
        try folder.write(
            """
            version: 1
            database: \(location)
            bridges:
              api: {plugin: rest, isolation: \(server.isolation), options: {url: "\(server.url)", limits: {\(server.limits)}}}
            entities:
              Team:
                bridge: api
                key: id
                attributes: {id: integer}
                rest: {path: /teams, paging: none}
              User:
                bridge: api
                key: id
                attributes: {id: integer, name: text}
                relationships: {team: {to: Team}}
                parent: {relationship: team, concurrency: 1}
                rest: {path: /users, query: {team: "{parent.id}"}, paging: none}

            """, to: file)
        return try start([arguments[0], "-f", file] + arguments.dropFirst())
    }

    func run(_ arguments: String..., over location: String) async throws -> ProcessRun {
        let process =
            switch arguments.count {
            case 1: try start(arguments[0], over: location)
            case 2: try start(arguments[0], arguments[1], over: location)
            default: try start(arguments[0], arguments[1], arguments[2], over: location)
            }
        return try await process.finish(within: .seconds(60))
    }

    /// Runs a worker until the round is over.
    func work(over location: String) async throws -> ProcessRun {
        try await start("work", "--until-idle", "--every", "0s", "--lease", "1s", over: location)
            .finish(within: .seconds(60))
    }

    /// What a query answers; `%` stands for the schema.
    func rows(_ sql: String, in location: String) throws -> [String] {
        try server.database.rows(sql.replacing("%", with: PostgreSQLServer.schema(of: location)))
    }

    /// All rows, stubs, and what scans in progress keep.
    func contents(of location: String) throws -> [String] {
        try [
            #"SELECT * FROM %."Team" ORDER BY id"#, #"SELECT * FROM %."User" ORDER BY id"#, "SELECT * FROM %.bmo_stubs",
            "SELECT * FROM %.bmo_progress", "SELECT * FROM %.bmo_orphans", "SELECT entity FROM %.bmo_quarantine",
        ].flatMap { try rows($0, in: location) }
    }

    /// How often each user was deleted, as recorded: user and count.
    func deletions(in location: String) throws -> [String] {
        try rows(
            """
            SELECT key, count(*) FROM %.bmo_changes WHERE entity = 'User' AND change = 'deleted' GROUP BY key
            ORDER BY key
            """, in: location)
    }

    /// The rows after syncs of both states, by the command that works alone.
    func expected() async throws -> (first: [String], second: [String]) {
        let location = server.database.newLocation()
        var rows: [[String]] = []
        for state in 1...2 {
            try server.show(state: state)
            let sync = try await run("sync", "-q", over: location)
            try #require(sync.exitCode == 0, "\(sync)")
            rows.append(try contents(of: location))
        }
        #expect(try deletions(in: location).count == TeamServer.gone)
        try server.show(state: 1)
        return (rows[0], rows[1])
    }
}
