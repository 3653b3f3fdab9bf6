import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// The checks of local edits and the entries that they lead to, without a database.
@Suite struct EditCheckTests {
    private let model: CompiledModel
    private let city: EntityLayout

    init() throws {
        model = try TestModel.make()
        city = model.entities[0]
    }

    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `values are checked against the entity`() throws {
        let values = try EditedValues(["name": "Oslo", "id": 7], of: city, in: model)
        #expect(values.fields.map(\.field) == [0, 1] && values.value(1) == "Oslo" && values.value(2) == nil)
        #expect(
            refusal { _ = try EditedValues(["nme": "Oslo"], of: city, in: model) }
                == #"City has no column "nme"; did you mean "name"?"#
                || refusal { _ = try EditedValues(["nme": "Oslo"], of: city, in: model) }?.contains("name") == true)
        #expect(
            refusal { _ = try EditedValues(["id": "seven"], of: city, in: model) }
                == #"City.id has the type integer, and "seven" is not such a value; give a value of that type, or null"#
        )
        #expect(
            refusal { _ = try EditedValues(["twins": "x"], of: city, in: model) }
                == "City.twins is a relationship to many, and no column; give the keys of all its objects as links")
    }

    @Test func `a reference needs a target`() {
        func check(_ columns: [String: StoredValue]) -> String? {
            refusal {
                try city.checkReferences(columns, row: nil, in: model) { root, key in root == 1 && key == ["NO"] }
            }
        }
        #expect(check(["country": "NO"]) == nil)
        #expect(check(["country": .null]) == nil)
        #expect(
            check(["country": "XX"])
                == "City.country is to refer to Country XX, which does not exist; create that first, or sync it")
    }

    @Test func `a new object gets a temporary key`() throws {
        let made = TemporaryKey(model, least: { _, _ in -5 }, nextEntry: { 3 })
        let key = try made.key(of: city, given: [], EditedValues([:], of: city, in: model))
        #expect(key.key == [-6] && key.temporary == [0])
        let empty = TemporaryKey(model, least: { _, _ in .null }, nextEntry: { 3 })
        #expect(try empty.make(city, 0).value == -3)
        let country = model.entities[1]
        #expect(try made.make(country, 0).value.description.hasPrefix("bmo:"))
        #expect(try made.key(of: city, given: [9], EditedValues([:], of: city, in: model)).key == [9])
    }

    @Test func `edits of the same object become one`() {
        let entry = OutboxEntry.of(1, .update, [.of("name", "a", "b")])
        #expect(entry.adding([.of("name", "b", "c")], []).changes == [.of("name", "a", "c")])
        #expect(entry.adding([.of("name", "b", "a")], []).changes.isEmpty, "the base value need not be sent")
        #expect(entry.adding([.of("area", "1", "2")], []).changes.count == 2)
    }

    @Test func `a delete of an unsent update keeps the remote's values as its base`() throws {
        let update = OutboxEntry.of(1, .update, [.of("name", "a", "b")])
        let row = [OutboxEntry.FieldEdit.of("id", 7, nil), .of("name", "b", nil), .of("area", "1", nil)]
        let delete = try update.becomingDelete(row, [], remote: ["area": "2"])
        #expect(delete.operation == .delete)
        #expect(delete.changes == [.of("id", 7, nil), .of("name", "a", nil), .of("area", "2", nil)])
        #expect(throws: StoreError.self) {
            try OutboxEntry.of(1, state: .sending).becomingDelete([], [], remote: [:])
        }
    }

    @Test func `an object that is created again after its delete is updated`() throws {
        let delete = OutboxEntry.of(1, .delete, [.of("id", 7, nil), .of("name", "a", nil), .of("area", "1", nil)])
        let row: [StoredValue] = [7, "b", "1", .null, .null]
        let update = try delete.becomingUpdate(
            of: city, row, remote: [:], leavingOut: { _ in false }, list: { _ in [] })
        #expect(update.operation == .update && update.changes == [.of("name", "a", "b")])
        let other = try delete.becomingUpdate(
            of: city, row, remote: [:], leavingOut: { $0 == "name" }, list: { _ in [] })
        #expect(other.changes.isEmpty, "the remote keeps what is never sent")
    }

    @Test func `the edits of an object that the remote deleted become a create`() throws {
        let row: [StoredValue] = [7, "b", .null, .null, "NO"]
        let create = try OutboxEntry.of(1).becomingCreate(
            of: city, row, newKey: "new", isKeyAssigned: false, leavingOut: { _ in false }, list: { _ in [[8]] })
        #expect(create.operation == .create && create.idempotencyKey == "new")
        #expect(create.changes == [.of("id", nil, 7), .of("name", nil, "b"), .of("country", nil, "NO")])
        #expect(create.links.map(\.new) == [[[8]]])
        let other = try OutboxEntry.of(1).becomingCreate(
            of: city, row, newKey: "new", isKeyAssigned: true, leavingOut: { ["id", "twins"].contains($0) },
            list: { _ in [[8]] })
        #expect(other.changes == [.of("name", nil, "b"), .of("country", nil, "NO")])
        #expect(other.links.isEmpty && other.hasTemporaryKey && !other.hasGeneratedKey)
    }

    @Test func `entries are dropped newest first, and references before what they refer to`() {
        func order(_ entries: OutboxEntry...) -> [Int64] { OutboxEntry.inOrderOfDropping(entries).map(\.id) }
        #expect(order(.of(1), .of(2)) == [2, 1])
        var other = OutboxEntry.of(3)
        other.key = [8]
        var create = OutboxEntry.of(4, .create)
        create.key = [9]
        other.dependsOn = [4]
        #expect(order(other, create) == [3, 4])
    }

    @Test func `each time the last entry is dropped for which none waits`() {
        /// Chooses one after the other among all that are left.
        func plainOrder(_ entries: [OutboxEntry]) -> [Int64] {
            var left = entries
            var order: [Int64] = []
            while !left.isEmpty {
                let index = left.lastIndex { entry in
                    !left.contains { $0.dependsOn.contains(entry.id) && $0.id != entry.id }
                        && !left.contains { $0.key == entry.key && $0.id > entry.id }
                }
                order.append(left.remove(at: index ?? left.count - 1).id)
            }
            return order
        }
        var seed: UInt64 = 7
        func random(_ count: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % count
        }
        for _ in 0..<300 {
            var entries: [OutboxEntry] = []
            for id in 1...8 {
                // Some of them wait for each other, and some for entries that are not dropped.
                var entry = OutboxEntry.of(Int64(id))
                entry.key = [.integer(Int64(random(5)))]
                entry.dependsOn = (0..<random(3)).map { _ in Int64(1 + random(10)) }
                entries.append(entry)
            }
            let order = OutboxEntry.inOrderOfDropping(entries).map(\.id)
            #expect(order == plainOrder(entries), "\(entries.map { ($0.id, $0.key, $0.dependsOn) })")
        }
    }

    @Test func `a reference to an object with a pending create waits for it`() {
        let entry = OutboxEntry.of(2, .update, [.of("country", .null, "NO")])
        let row: [StoredValue] = [7, .null, .null, .null, "NO"]
        let resolved = EntryDependencies(
            of: entry, city, row: row, in: model, create: { root, _ in root == 1 ? 1 : nil }, dependsOn: { _ in [] })
        #expect(resolved.entry.dependsOn == [1] && resolved.deferred == nil)
    }

    @Test func `two creates that refer to each other do not wait for each other`() {
        let entry = OutboxEntry.of(2, .create, [.of("country", nil, "NO"), .of("name", nil, "a")])
        let row: [StoredValue] = [7, "a", .null, .null, "NO"]
        let resolved = EntryDependencies(
            of: entry, city, row: row, in: model, create: { root, _ in root == 1 ? 1 : nil },
            dependsOn: { $0 == 1 ? [2] : [] })
        #expect(resolved.entry.changes == [.of("name", nil, "a")])
        #expect(resolved.deferred?.changes == [.of("country", .null, "NO")])
        #expect(resolved.deferred?.dependsOn == [1])
    }

    @Test func `a new key replaces the old one in the values of other edits`() {
        let entry = OutboxEntry.of(
            1, .update, [.of("country", .null, "bmo:1")],
            links: [OutboxEntry.LinkEdit(relationship: "twins", old: [], new: [[-1], [2]])])
        #expect(
            entry.renaming([["country"]], [], ["bmo:1"], to: ["NO"]).changes == [.of("country", .null, "NO")])
        #expect(entry.renaming([], ["twins"], [-1], to: [9]).links[0].new == [[9], [2]])
    }
}
