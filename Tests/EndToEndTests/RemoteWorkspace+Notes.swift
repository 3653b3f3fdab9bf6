import Foundation
import ImportTestSupport
import TestSupport
import Testing

/// A folder with a config for the notes of Fixtures/rest/objects.py.
extension RemoteWorkspace where Remote == NoteServer {
    /// - Parameters:
    ///   - style: How the server behaves; the first part of its paths.
    ///   - more: Further lines of the entity Note.
    static func notes(
        style: String = "plain", match: String? = "match: [text]", readOne: Bool = true, more: String = ""
    ) throws -> RemoteWorkspace {
        let place = try RemoteWorkspace(of: NoteServer(style: style))
        try place.write(match: match, readOne: readOne, more: more, url: place.server.url)
        return place
    }

    func write(match: String? = "match: [text]", readOne: Bool = true, more: String = "", url: String) throws {
        try folder.write(server.configuration(url: url, match: match, readOne: readOne, more: more), to: "bmo.yml")
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
