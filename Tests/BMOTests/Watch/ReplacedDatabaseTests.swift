import BridgeHost
import BridgeKit
import Foundation
import ImportTestSupport
import Logging
import RESTBridge
import StoreContract
import SystemCalls
import TestSupport
import Testing

@testable import BMO

/// A watch whose database is moved, deleted or replaced by other programs.
@Suite struct ReplacedDatabaseTests {
    /// What a watch has reported as trouble.
    private final class Troubles: Sendable {
        private let all = Mutex<[String]>([])

        var words: [String] { all.withLock { $0 } }

        func note(_ event: WatchEvent) {
            if case .trouble(let words) = event { all.withLock { $0.append(words) } }
        }
    }

    private func workspace(_ place: LibraryWorkspace<NoteServer>) async throws -> Workspace {
        try place.folder.write(place.server.configuration(), to: "bmo.yml")
        let host = BridgeHost(logger: Logger(label: "test"), linked: [BridgeExport(RESTBridge.self)])
        return try await Workspace.load(path: place.folder.appending("bmo.yml"), host: host, stores: place.stores)
    }

    /// Makes an edit as another process does.
    private func create(_ text: String, _ workspace: Workspace) throws {
        let store = try workspace.openStoreForEdits(command: "a test")
        defer { try? store.close() }
        _ = try store.edit([LocalEdit(.create, entity: "Note", values: ["text": .text(text)])])
    }

    private func removeDatabase(_ place: LibraryWorkspace<NoteServer>) throws {
        for name in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: place.database + name) {
            try FileManager.default.removeItem(atPath: place.database + name)
        }
    }

    @Test(arguments: [true, false])
    func `a watch goes on with the file in the place of its database`(isReplaced: Bool) async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        let troubles = Troubles()
        let health = place.folder.appending("health.json")
        let watch = Task {
            try await workspace.watch(WatchOptions(every: .seconds(1), health: health)) { troubles.note($0) }
        }
        try await eventually("the database is there") { FileManager.default.fileExists(atPath: place.database) }
        // A round of the watch may have the database for a moment.
        try await eventually("an edit is made") { (try? create("before", workspace)) != nil }
        try await eventually("it is sent") { try await place.server.content().contains("before") }
        if isReplaced {
            let copy = place.folder.appending("copy.sqlite")
            try SQLiteFile(place.database).rows("VACUUM INTO '\(copy)'")
            try removeDatabase(place)
            try FileManager.default.moveItem(atPath: copy, toPath: place.database)
        } else {
            try removeDatabase(place)
            try await eventually("a sync makes it anew") {
                let file = try? SQLiteFile(place.database)
                return (try? file?.value("SELECT count(*) FROM Note")) == "1"
            }
        }
        // A round of the watch may have the database for a moment.
        try await eventually("an edit is made in the new file") { (try? create("after", workspace)) != nil }
        try await eventually("an edit in the new file is sent") { try await place.server.content().contains("after") }
        let words = try await eventually("it is told") {
            // A page that is being written at that moment reports it, too.
            let words = troubles.words.filter { $0.contains("the database was") && $0.contains("are not sent") }
            return words.isEmpty ? nil : words
        }
        #expect(words.nonEmptyAllSatisfy { $0.hasPrefix(place.database) }, "\(words)")
        // Removing and making anew are two events where the watch looks in between.
        #expect(words.count <= 2, "\(words)")
        let text = try String(contentsOfFile: health, encoding: .utf8)
        // Where the watch has looked in between, the last notice is that the file is back.
        let hasNotice = text.contains("the database was") || text.contains("the database is back")
        #expect(text.contains(#""notice":{"at":""#) && hasNotice, "\(text)")
        watch.cancel()
        try await watch.value
    }

    @Test func `a watch does not open a copy beside the log of the old file`() async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        let troubles = Troubles()
        let watch = Task { try await workspace.watch(WatchOptions(every: .seconds(1))) { troubles.note($0) } }
        try await eventually("the database is there") { FileManager.default.fileExists(atPath: place.database) }
        try await eventually("an edit is made") { (try? create("before", workspace)) != nil }
        try await eventually("it is sent") { try await place.server.content().contains("before") }
        let copy = place.folder.appending("copy.sqlite")
        try SQLiteFile(place.database).rows("VACUUM INTO '\(copy)'")
        let bytes = try Data(contentsOf: URL(filePath: copy))
        #expect(rename(copy, place.database) == 0)
        try await eventually("the log is named") {
            troubles.words.contains { $0.contains("\(place.database)-wal still belongs to the old file") }
        }
        #expect(try Data(contentsOf: URL(filePath: place.database)) == bytes, "the old log was not replayed")
        // The log is the last, because the watch goes on without it.
        for name in ["-shm", "-wal"] { try FileManager.default.removeItem(atPath: place.database + name) }
        try await eventually("an edit is made in the copy") { (try? create("after", workspace)) != nil }
        try await eventually("it is sent") { try await place.server.content().contains("after") }
        #expect(try SQLiteFile(place.database).value("PRAGMA integrity_check") == "'ok'")
        watch.cancel()
        try await watch.value
    }

    @Test func `no edit of a file that was replaced is sent, and a missing file is not made by a push`() async throws {
        let place = try LibraryWorkspace.notes()
        let workspace = try await workspace(place)
        var database = try ReopenedStore(workspace)
        try create("old", workspace)
        #expect(try database.current()?.outbox().count == 1)
        try FileManager.default.moveItem(atPath: place.database, toPath: place.database + ".moved")
        #expect(try database.current() == nil)
        #expect(!FileManager.default.fileExists(atPath: place.database))
        for name in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: place.database + name) {
            try FileManager.default.removeItem(atPath: place.database + name)
        }
        try workspace.openStore().close()
        #expect(try database.current()?.outbox().count == 0)
        #expect(database.generation == 1)
        #expect(try database.current()?.outbox().count == 0 && database.generation == 1, "it is opened once")
        try database.close()
    }
}
