import ImportTestSupport
import Mapping
import Model
import TestSupport
import Testing

/// What of a record a request reads that needs some fields alone.
@Suite struct ReadPathTests {
    /// Issues, whose records have their user in part; the user has a listing of its own.
    private static func issues(deletedBy tombstone: Matcher? = nil) throws -> CompiledModel {
        var issue = Entity(
            "Issue", key: ["id"],
            [.of("id", .integer), .of("title", .text), .of("author", .text, from: ["user", "login"])],
            [.one("user", "User")])
        issue.deletes.tombstone = tombstone
        return try CompiledModel.of(
            issue, Entity("User", key: ["number"], [.of("number", .integer, from: ["ids", "number"])]))
    }

    private func paths(_ needed: Set<String>, _ model: CompiledModel) throws -> Set<String> {
        let issue = try #require(model.index(of: "Issue"))
        let paths = try #require(model.readPaths(of: issue) { needed.contains($0) })
        return Set(paths.map { $0.joined(separator: ".") })
    }

    @Test func `a reference is read with the key of what it leads to, beside its other parts`() throws {
        let model = try Self.issues()
        #expect(try paths(["id", "user", "author"], model) == ["id", "user.login", "user.ids.number"])
        #expect(try paths(["id", "author"], model).isSuperset(of: ["id", "user.login"]))
        #expect(try paths(["id", "user"], model).isSuperset(of: ["id", "user.ids.number"]))
        #expect(try paths(["id", "title"], model) == ["id", "title"])
    }

    @Test func `an object in a list is read without its relationship to the object around it`() throws {
        var list = Relationship.many("revisions", "Revision", inverse: "page")
        list.orphans = .delete
        var revision = Entity(
            "Revision", key: ["id"], [.of("id", .integer), .of("words", .text)], [.one("page", "Page")])
        revision.isScanned = false
        let model = try CompiledModel.of(Entity("Page", key: ["id"], [.of("id", .integer)], [list]), revision)
        let page = try #require(model.index(of: "Page"))
        let paths = try #require(model.readPaths(of: page))
        #expect(Set(paths) == [["id"], ["revisions", "id"], ["revisions", "words"]])
    }

    @Test func `what says that an object is gone is read with any field`() throws {
        let model = try Self.issues(
            deletedBy: Matcher([.has(RemotePath(["deleted_at"])), .equals(RemotePath(["state", "name"]), ["gone"])]))
        #expect(try paths(["id"], model) == ["id", "deleted_at", "state.name"])
    }
}
