import BridgeKit
import RecordBatch
import Testing

/// Which deletions reach the host: those that no later record revokes.
@Suite struct DeletedObjectsTests {
    private func object(_ json: String) throws -> BridgeOptions { try #require(BridgeOptions(json: json)) }

    /// Offers a record; returns whether it may be in the same page as the deletions.
    private func restore(_ json: String, in deleted: inout DeletedObjects) throws -> Bool {
        let writer = RecordBatchWriter()
        try object(json).write(to: writer)
        let batch = try writer.finish()
        defer { withExtendedLifetime(batch) {} }
        return deleted.restore(batch[0])
    }

    @Test func `the last message about an object counts`() throws {
        var deleted = DeletedObjects(keyPaths: ["id"])
        #expect(try restore(#"{"id": 1}"#, in: &deleted))
        for id in ["1", "2", "2", "3", "4"] { deleted.insert(try object(#"{"id": \#(id)}"#)) }
        #expect(deleted.count == 4)
        #expect(try restore(#"{"id": 2, "name": "new"}"#, in: &deleted))
        #expect(try restore(#"{"id": "3"}"#, in: &deleted))
        #expect(try restore(#"{"id": 5}"#, in: &deleted))
        #expect(try restore(#"{"id": 4}"#, in: &deleted))
        deleted.insert(try object(#"{"id": 4}"#))
        #expect(deleted.count == 2)
        #expect(deleted.take().map { $0.integer("id") } == [1, 4])
        #expect(deleted.count == 0)
        #expect(deleted.take().isEmpty)
    }

    @Test func `a compound key is compared as a whole, also inside objects`() throws {
        var deleted = DeletedObjects(keyPaths: ["order.id", "line"])
        deleted.insert(try object(#"{"order": {"id": 1}, "line": 1}"#))
        deleted.insert(try object(#"{"order": {"id": 1}, "line": 2}"#))
        #expect(try restore(#"{"order": {"id": 2}, "line": 1}"#, in: &deleted))
        #expect(try restore(#"{"order": {"id": 1}, "line": 2}"#, in: &deleted))
        #expect(deleted.take().map { $0.integer("line") } == [1])
    }

    @Test(arguments: [[], ["id", "code"], ["name.id"]])
    func `a record whose key cannot be read has to follow the deletions in a page of its own`(paths: [String]) throws {
        var deleted = DeletedObjects(keyPaths: paths)
        #expect(try restore(#"{"id": 1, "name": "a"}"#, in: &deleted))
        deleted.insert(try object(#"{"id": 1}"#))
        #expect(try !restore(#"{"id": 1, "name": "a"}"#, in: &deleted))
        #expect(deleted.take().count == 1)
        #expect(try restore(#"{"id": 1, "name": "a"}"#, in: &deleted))
    }
}
