import ImportTestSupport
import Importer
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Objects that have a listing of their own, and whose copies come nested in other records; over each store.
@Suite struct NestedCopyTests {
    private static func posts() throws -> CompiledModel {
        var cat = Entity("Admin", key: [], [.of("level", .integer)])
        cat.superentity = "User"
        cat.isScanned = false
        cat.matcher = Matcher([.has(RemotePath(["level"]))])
        var guest = Entity("Guest", key: [], [.of("host", .text)])
        guest.superentity = "User"
        guest.isScanned = false
        guest.matcher = Matcher([.has(RemotePath(["host"]))])
        return try CompiledModel.of(
            Entity(
                "User", key: ["id"],
                [.of("id", .integer), .of("name", .text), .of("mail", .text), .of("badge", .text)],
                [.one("team", "Team"), .many("tags", "Tag")]),
            cat, guest,
            Entity("Post", key: ["id"], [.of("id", .integer)], [.one("author", "User")]),
            Entity("Team", key: ["id"], [.of("id", .integer)]), Entity("Tag", key: ["id"], [.of("id", .integer)]))
    }

    /// Imports a page of an entity's listing, and counts what it changed.
    private func list(_ entity: String, _ record: Literal, in database: StoreFixture) throws -> String {
        try database.addBatches([[record]], of: entity, extent: .whole, notesMembers: true)
    }

    @Test(arguments: StoreKind.allCases)
    func `what the own listing brings stays, whatever copies say and in any order`(_ kind: StoreKind) throws {
        let user: Literal = ["id": 1, "name": "Ann", "mail": nil, "team": 2, "tags": [3]]
        let post: Literal = [
            "id": 7,
            "author": ["id": 1, "name": "Old", "mail": "old@x", "badge": "gold", "team": 9, "tags": [["id": 8], 5]],
        ]
        for copyFirst in [true, false] {
            let database = try StoreFixture(Self.posts(), kind: kind)
            if copyFirst { _ = try list("Post", post, in: database) }
            _ = try list("User", user, in: database)
            _ = try list("Post", post, in: database)
            #expect(
                try database.text(of: "User") == "1 'Ann' null 'gold' 2 'User' null null", "a badge comes only nested")
            #expect(try database.text(of: "User_tags") == "1: 3")
            let stubs = try database.text().split(separator: "\n").drop { $0 != "stubs" }.dropFirst()
            #expect(stubs.map { String($0.dropFirst(2)) } == ["Tag [3]", "Team [2]"], "team 9 and tag 5 are nobody's")
            for _ in 1...2 {
                #expect(try list("User", user, in: database) == "User =1")
                #expect(try list("Post", post, in: database).hasPrefix("User =1, Post =1"))
            }
            #expect(try database.faults().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that the own listing does not have is what its copies say`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.posts(), kind: kind)
        _ = try list("User", ["id": 1, "name": "Ann"], in: database)
        _ = try list("Post", ["id": 7, "author": 2], in: database)
        for name in ["Bob", "Robert"] {
            _ = try list("Post", ["id": 7, "author": ["id": 2, "name": .text(name)]], in: database)
            #expect(try database.text(of: "User").hasSuffix("2 '\(name)' null null null 'User' null null"))
        }
        // Once it is listed, the listing has the word.
        _ = try list("User", ["id": 2, "name": "Bo"], in: database)
        #expect(
            try list("Post", ["id": 7, "author": ["id": 2, "name": "Robert"]], in: database) == "User =1, Post =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `a copy may say more exactly what an object is, and nothing else`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.posts(), kind: kind)
        _ = try list("User", ["id": 1, "name": "Ann"], in: database)
        _ = try list("Post", ["id": 7, "author": ["id": 1, "level": 3]], in: database)
        #expect(try database.text(of: "User") == "1 'Ann' null null null 'Admin' 3 null")
        _ = try list("User", ["id": 1, "name": "Ann", "level": 4], in: database)
        _ = try list("User", ["id": 2, "host": "x"], in: database)
        _ = try list("Post", ["id": 7, "author": ["id": 1, "host": "y"]], in: database)
        #expect(try database.text(of: "User").hasPrefix("1 'Ann' null null null 'Admin' 4"))
    }
}
