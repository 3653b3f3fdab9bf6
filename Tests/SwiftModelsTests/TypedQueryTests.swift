import BMO
import BMOTesting
import Foundation
import Model
import TestSupport
import Testing

/// Typed queries over the models that are generated from models.yml.
@Suite struct TypedQueryTests {
    static let config = PackageFolder.path + "/Tests/SwiftModelsTests/models.yml"

    private let remote = ScriptedRemote()

    init() {
        remote["NoteList"] = [["id": 1, "name": "shop"], ["id": 2, "name": "home"]]
        remote["Tag"] = [["name": "red", "id": 7]]
        remote["Note"] = [
            [
                "id": 1, "title": "milk", "stars": 5, "price": "1.10", "weight": 0.5, "is_done": true,
                "updated_at": "2026-11-21T10:00:00Z", "due": "2026-12-01", "facts": ["fat": 3],
                "link": "https://example.com/milk", "token": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "class": "food",
                "list": 1, "tags": [["name": "red"]],
            ],
            ["id": 2, "title": "bread", "stars": 3, "price": "2.20", "list": 1],
            ["id": 3, "title": "paint", "list": 2, "next": 1],
        ]
    }

    private func withManager(_ body: (RequestManager) async throws -> Void) async throws {
        let manager = try await RequestManager.testing(config: Self.config, remote: remote)
        _ = try await manager.sync(.init(entities: ["NoteList", "Tag", "Note"]))
        try await body(manager)
        try await manager.close()
    }

    private func titles(_ query: ObjectQuery<Note>, _ manager: RequestManager) async throws -> [String] {
        try await manager.objects(query).map { $0.title ?? "" }
    }

    @Test func `an object has the values of its attributes`() async throws {
        try await withManager { manager in
            let milk = try #require(try await manager.get(Note.self, 1))
            #expect(milk.id == 1)
            #expect(milk.title == "milk")
            #expect(milk.stars == 5)
            #expect(milk.price == Decimal(string: "1.10"))
            #expect(milk.weight == 0.5)
            #expect(milk.isDone == true)
            #expect(milk.updatedAt == Foundation.Date(timeIntervalSince1970: 1_795_255_200))
            #expect(milk.due == CalendarDate(year: 2026, month: 12, day: 1))
            #expect(try milk.facts?.decoded(as: [String: Int].self) == ["fat": 3])
            #expect(milk.link == URL(string: "https://example.com/milk"))
            #expect(milk.token == UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
            #expect(milk.class == "food")
            #expect(milk.picture == nil)
            #expect(milk.list?.key == 1)
            #expect(milk.list?.object == nil)
            #expect(milk.tags == nil)
            #expect(try await manager.get(Note.self, 9) == nil)
        }
    }

    @Test func `a query filters and sorts by typed attributes`() async throws {
        try await withManager { manager in
            #expect(try await titles(Note.where(Note.title == "milk" && Note.stars > 3), manager) == ["milk"])
            #expect(try await titles(Note.where(Note.stars == nil), manager) == ["paint"])
            #expect(try await titles(Note.where(Note.stars.isNull || Note.stars <= 3), manager) == ["bread", "paint"])
            #expect(try await titles(Note.where(!(Note.title != "milk")), manager) == ["milk"])
            #expect(try await titles(Note.where(Note.title.isIn(["milk", "paint"])), manager) == ["milk", "paint"])
            #expect(try await titles(Note.where(Note.title.isLike("%A%")), manager) == ["bread", "paint"])
            let price = try #require(Decimal(string: "1.5"))
            #expect(try await titles(Note.where(Note.price < price), manager) == ["milk"])
            let day = try #require(CalendarDate("2026-11-30"))
            #expect(try await titles(Note.where(Note.due > day), manager) == ["milk"])
            let recent = Note.where(Note.updatedAt >= Foundation.Date(timeIntervalSince1970: 1_795_255_200))
            #expect(try await titles(recent, manager) == ["milk"])
            #expect(try await titles(Note.all.sorted(by: Note.title), manager) == ["bread", "milk", "paint"])
            let best = Note.all.sorted(by: Note.stars, .descending).limited(to: 1, from: 1)
            #expect(try await titles(best, manager) == ["bread"])
            #expect(try await manager.count(best) == 3)
        }
    }

    @Test func `relationships are compared and included`() async throws {
        try await withManager { manager in
            let shop = try #require(try await manager.get(NoteList.self, 1, including: NoteList.notes))
            #expect(shop.notes?.compactMap(\.title) == ["milk", "bread"])
            #expect(try await titles(Note.where(Note.list == shop), manager) == ["milk", "bread"])
            #expect(try await titles(Note.where(Note.list.hasKey(2)), manager) == ["paint"])
            #expect(try await titles(Note.where(Note.next == nil), manager) == ["milk", "bread"])
            let query = Note.where(Note.title == "paint").including(Note.next.then(Note.tags)).including(Note.list)
            let paint = try #require(try await manager.objects(query).first)
            #expect(paint.list?.object?.name == "home")
            #expect(paint.next?.object?.title == "milk")
            #expect(paint.next?.object?.tags?.map(\.name) == ["red"])
        }
    }

    @Test func `a fetch has typed objects before and after the remote`() async throws {
        let manager = try await RequestManager.testing(config: Self.config, remote: remote)
        let fetch = try await manager.fetch(Note.where(Note.title == "milk"))
        #expect(fetch.local.isEmpty)
        #expect(try await fetch.updated().map(\.id) == [1])
        #expect(remote.takeRequests().map(\.description) == ["fetch Note where title = milk"])
        let again = try await manager.fetch(Note.where(Note.title == "milk").fetching(.ifNoLocal))
        #expect(again.local.map(\.stars) == [5])
        #expect(try await again.remote.skipped == .localObjects)
        var ids: [Int] = []
        for try await note in manager.cursor(Note.all, pageSize: 1) { ids.append(note.id) }
        #expect(ids == [1])
        try await manager.close()
    }

    @Test func `an observation brings typed objects and their differences`() async throws {
        try await withManager { manager in
            var changes = try manager.observe(Note.where(Note.stars > 3).sorted(by: Note.title)).makeAsyncIterator()
            let first = try #require(try await changes.next())
            #expect(first.objects.map(\.title) == ["milk"])
            #expect(first.difference.insertions == [0])
            let bread = try #require(try await manager.get(Note.self, 2))
            try await manager.edit(bread) { $0.stars = 4 }
            let second = try #require(try await changes.next())
            #expect(second.objects.map(\.title) == ["bread", "milk"])
            #expect(second.difference.insertions == [0] && second.difference.deletions.isEmpty)
        }
    }

    @Test func `keys of several attributes, and of none`() async throws {
        remote["order_line"] = [
            ["order": "A", "number": 1, "text": "one"],
            ["order": "A", "number": 2, "previous": ["order": "A", "number": 1]],
        ]
        remote["Visit"] = [["place": "Rome"]]
        remote["Date"] = [["day": "2026-01-02", "seen": "2026-01-02T03:04:05Z", "int": 3]]
        try await withManager { manager in
            let report = try await manager.sync(.init(entities: ["order_line", "Visit", "Date"]))
            #expect(report.succeeded)
            let line = try #require(try await manager.get(OrderLine.self, .init(order: "A", number: 2)))
            #expect(line.id == OrderLine.Key(order: "A", number: 2))
            #expect(line.previous?.key == OrderLine.Key(order: "A", number: 1))
            let after = OrderLine.where(OrderLine.previous.hasKey(.init(order: "A", number: 1)))
            #expect(try await manager.objects(after).map(\.number) == [2])
            #expect(try await manager.objects(Visit.all).map(\.place) == ["Rome"])
            #expect(try await manager.objects(Date.all).map(\.day.description) == ["2026-01-02"])
        }
    }

    @Test func `a type of another configuration is an error that says what to do`() async throws {
        let other = ModelDefinition(
            database: "other.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition("Note", bridge: "api", key: "id", attributes: ["id": .integer, "title": .integer])
            ])
        remote["Note"] = [["id": 1, "title": 3]]
        let manager = try await RequestManager.testing(other, remote: remote)
        _ = try await manager.sync()
        let error = try await #require(throws: RequestError.self) { try await manager.objects(Note.all) }
        #expect(
            error.description
                == "Note: model while reading local objects: Note 1: title is not a value of type String; generate the Swift "
                + "types again: `bmo schema --swift`")
        try await manager.close()
    }
}
