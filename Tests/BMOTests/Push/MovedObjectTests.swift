import BMO
import BridgeKit
import Model
import RecordBatch
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// An update that changes what the remote addresses its object by, and its key with it.
@Suite struct MovedObjectTests {
    /// Files with a path as their key, whose name is a part of it.
    private final class FileBridge: Bridge, RecordSource {
        static let descriptor = BridgeDescriptor(
            name: "files", version: "1.0", summary: "Files", optionsSchema: "{}", entitySchema: "{}",
            capabilities: [.fetch, .update, .delete, .moves])
        private static let writes = Mutex<[WriteRequest]>([])
        static var lastWrite: WriteRequest? { writes.withLock(\.last) }

        init(options: BridgeOptions, context: BridgeContext) {}

        func fetch(_ request: FetchRequest) throws -> any RecordSource { self }

        func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
            Self.writes.withLock { $0.append(request) }
            guard let name = request.values.string("name") else { return }
            Self.write(name, to: writer)
        }

        func next(into writer: RecordBatchWriter) throws -> Page {
            Self.write("a", to: writer)
            return Page(isPageEnd: true, isEnd: true, isComplete: true)
        }

        func cancel() {}

        private static func write(_ name: String, to writer: RecordBatchWriter) {
            writer.object {
                writer.member("path", "docs/\(name)")
                writer.member("name", name)
            }
        }
    }

    @Test func `the bridge has the old values, and the row gets the new key`() async throws {
        let folder = try TemporaryFolder()
        let definition = ModelDefinition(
            database: folder.appending("files.sqlite"), bridges: ["share": .plugin("files")],
            entities: [
                EntityDefinition(
                    "File", bridge: "share", key: "path", attributes: ["path": .text, "title": .text.from("name")],
                    section: [:], settings: ["writable": true])
            ])
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(FileBridge.self)])
        _ = try await manager.fetch(ObjectRequest("File")).remote
        let id = try #require(try await manager.get("File", "docs/a")).id
        _ = try await manager.save([.update(id, values: ["title": "b"])]).remote
        let update = try #require(FileBridge.lastWrite)
        #expect(update.key.string("path") == "docs/a")
        #expect(update.object.string("title") == "b")
        #expect(update.objectBefore.names == ["title"])
        #expect(update.remoteObject.string("title") == "a")
        #expect(update.remoteObject.string("path") == "docs/a")
        #expect(update.objectPaths == ["path": ["path"], "title": ["name"]])

        #expect(try await manager.get("File", "docs/a") == nil)
        let moved = try #require(try await manager.get("File", "docs/b"))
        #expect(moved["title"]?.text == "b")
        _ = try await manager.save([.delete(moved.id)]).remote
        let deletion = try #require(FileBridge.lastWrite)
        #expect(deletion.key.string("path") == "docs/b")
        #expect(deletion.objectBefore.names.isEmpty)
        #expect(try await manager.count(ObjectRequest("File")) == 0)
        try await manager.close()
    }
}
