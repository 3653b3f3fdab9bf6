import Foundation
import ImportTestSupport
import TestSupport
import Testing

/// A folder with a config for the notes of Fixtures/rest/objects.py, and the built command to run in it.
final class NotePlace: Sendable {
    let server: ServerProcess
    let folder: TemporaryFolder
    let style: String

    /// - Parameters:
    ///   - style: How the server behaves; the first part of its paths.
    ///   - more: Further lines of the entity Note.
    init(
        style: String = "plain", match: String? = "match: [text]", readOne: Bool = true, more: String = "",
        server: ServerProcess? = nil
    ) throws {
        self.server = try server ?? ServerProcess(script: "objects.py")
        folder = try TemporaryFolder()
        self.style = style
        try write(match: match, readOne: readOne, more: more, url: self.server.url)
    }

    func write(match: String? = "match: [text]", readOne: Bool = true, more: String = "", url: String) throws {
        let one =
            readOne ? "read_one: {path: \"/\(style)/notes/{parent.id}\", header_fields: {etag: etag}}" : "# no read_one"
        try folder.write(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(url)", timeout: 5}}}
            entities:
              Note:
                bridge: api
                key: id
                writable: true
                \(match ?? "# no match")
                \(one)
                \(more)
                attributes:
                  id: {type: integer, write: false}
                  text: text
                  city: {type: text, from: address.city}
                  etag: {type: text, write: false}
                relationships: {topic: {to: Topic}, tags: {many: Topic}}
                rest:
                  path: /\(style)/notes
                  records: $
                  paging: none
                  write: {create: {}, update: {format: merge_patch}, delete: {}, if_match: etag, etag_field: etag}
              Topic:
                bridge: api
                key: id
                writable: true
                match: [name]
                attributes: {id: {type: integer, write: false}, name: text}
                rest: {path: /\(style)/topics, records: $, paging: none, write: {create: {}, update: {}, delete: {}}}
            """, to: "bmo.yml")
    }

    var database: String { folder.appending("bmo.sqlite") }

    @discardableResult
    func bmo(_ arguments: String...) async throws -> ProcessRun {
        try await start(arguments).finish(within: .seconds(90))
    }

    /// Runs the command, which must succeed, and gives its output.
    @discardableResult
    func expect(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let run = try await start(arguments).finish(within: .seconds(90))
        #expect(run.exitCode == 0, "\(run)", sourceLocation: sourceLocation)
        return run.output
    }

    func start(_ arguments: [String]) throws -> RunningProcess {
        try RunningProcess(Command.path(), arguments, directory: folder.path)
    }

    /// What the server has, as curl reads it.
    func remote(_ path: String = "notes") async throws -> String {
        try await curl("\(style)/\(path)")
    }

    func curl(_ path: String, _ arguments: String...) async throws -> String {
        try await ProcessRun.run("curl", ["-s", "--max-time", "10"] + arguments + ["\(server.url)/\(path)"]).output
    }

    /// Changes an object behind bmo's back.
    func change(_ id: Int, _ json: String) async throws {
        _ = try await curl("\(style)/notes/\(id)", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", json)
    }

    func rows(_ sql: String) throws -> [[String]] {
        let file = try SQLiteFile(database)
        // A command that ends meanwhile may hold the file for a moment.
        try file.rows("PRAGMA busy_timeout = 10000")
        return try file.plainRows(sql)
    }

    func value(_ sql: String) throws -> String { try rows(sql).first?.first ?? "null" }

    func faults() throws -> [String] { try SQLiteFile(database).faults() }
}

extension SQLiteFile {
    /// The rows of a query, texts without quotes.
    func plainRows(_ sql: String) throws -> [[String]] {
        try rows(sql).map { row in
            row.map { $0.count > 1 && $0.hasPrefix("'") && $0.hasSuffix("'") ? String($0.dropFirst().dropLast()) : $0 }
        }
    }
}
