import BMO
import BMOTesting
import Foundation
import StoreContract
import TestSupport
import Testing

/// Lists, sections and their differences, as a list view applies them.
@Suite struct SectionTests {
    private typealias Section = ObjectSection<String, Tag>

    private static func tag(_ number: Int, _ version: Int = 0) -> Tag { Tag(name: "t\(number)", id: version) }

    /// Sections and objects in random order, which later lists share in part.
    private static func list(_ random: inout SplitMix64) -> [Section] {
        var numbers = Array(0..<30).shuffled(using: &random)
        let names = ["a", "b", "c", "d", "e", "f"].shuffled(using: &random)
        return names.prefix(Int.random(in: 0...6, using: &random)).map { name in
            let count = min(numbers.count, Int.random(in: 0...7, using: &random))
            defer { numbers.removeFirst(count) }
            return Section(
                id: name, objects: numbers.prefix(count).map { tag($0, Int.random(in: 0...1, using: &random)) })
        }
    }

    @Test func `applying a random difference of sections gives the new list`() {
        var random = SplitMix64(seed: 44)
        var list: [Section] = []
        for _ in 0..<2000 {
            let new = Self.list(&random)
            let difference = SectionDifference(from: list, to: new)
            #expect(difference.isEmpty == (list == new))
            list.apply(difference, from: new)
            #expect(list == new)
        }
    }

    @Test func `small changes of sections are small differences`() {
        let old = [
            Section(id: "a", objects: [Self.tag(1), Self.tag(2), Self.tag(3)]),
            Section(id: "b", objects: [Self.tag(4)]), Section(id: "c", objects: [Self.tag(5)]),
        ]
        let same = SectionDifference(from: old, to: old)
        #expect(same.isEmpty)
        var new = old
        new[0].objects = [Self.tag(3), Self.tag(1), Self.tag(2, 1)]
        let order = SectionDifference(from: old, to: new)
        #expect(order.moves == [.init(from: .init(section: 0, index: 2), to: .init(section: 0, index: 0))])
        #expect(order.updates == [.init(from: .init(section: 0, index: 1), to: .init(section: 0, index: 2))])
        #expect(order.insertions.isEmpty && order.deletions.isEmpty && order.movedSections.isEmpty)
        new = old
        new[1].objects.append(new[0].objects.removeFirst())
        let across = SectionDifference(from: old, to: new)
        #expect(across.moves == [.init(from: .init(section: 0, index: 0), to: .init(section: 1, index: 1))])
        #expect(across.insertions.isEmpty && across.deletions.isEmpty)
        new = [old[2], old[0], old[1]]
        let sections = SectionDifference(from: old, to: new)
        #expect(sections.movedSections == [.init(from: 2, to: 0)])
        #expect(sections.moves.isEmpty && sections.insertions.isEmpty)
        let gone = SectionDifference(from: old, to: Array(old.dropFirst()))
        #expect(gone.deletedSections == [0] && gone.deletions.isEmpty)
        let start = SectionDifference(from: [], to: old)
        #expect(start.insertedSections == [0, 1, 2] && start.insertions.isEmpty)
    }

    private func withManager(_ body: (RequestManager, ScriptedRemote) async throws -> Void) async throws {
        let remote = ScriptedRemote()
        remote["Note"] = [
            ["id": 1, "title": "milk", "class": "food"], ["id": 2, "title": "paint", "class": "art"],
            ["id": 3, "title": "bread", "class": "food"],
        ]
        let manager = try await RequestManager.testing(config: TypedQueryTests.config, remote: remote)
        _ = try await manager.sync(.init(entities: ["Note"]))
        try await body(manager, remote)
        try await manager.close()
    }

    @Test func `an observation in sections brings differences that can be applied`() async throws {
        try await withManager { manager, remote in
            let query = Note.all.sorted(by: Note.class).sorted(by: Note.title)
            var changes = try manager.observe(query, sectionedBy: { $0.class ?? "" }).makeAsyncIterator()
            var list: [ObjectSection<String, Note>] = []
            let first = try #require(try await changes.next())
            list.apply(first.difference, from: first.sections)
            #expect(list.map(\.id) == ["art", "food"])
            #expect(list.map { $0.objects.map(\.title) } == [["paint"], ["bread", "milk"]])
            remote["Note"] = [
                ["id": 1, "title": "milk", "class": "art"], ["id": 2, "title": "wet paint", "class": "art"],
                ["id": 4, "title": "nails", "class": "tools"],
            ]
            _ = try await manager.sync(.init(entities: ["Note"], full: true, allowsDeletes: true))
            let second = try #require(try await changes.next())
            #expect(second.difference.deletedSections == [1] && second.difference.insertedSections == [1])
            list.apply(second.difference, from: second.sections)
            #expect(list == second.sections)
            #expect(list.map { $0.objects.map(\.title) } == [["milk", "wet paint"], ["nails"]])
        }
    }

    @Test func `applying the random differences of an observation gives the objects`() async throws {
        try await withManager { manager, remote in
            var random = SplitMix64(seed: 45)
            var changes = try manager.observe(Note.all.sorted(by: Note.stars)).makeAsyncIterator()
            var list: [Note] = []
            let first = try #require(try await changes.next())
            list.apply(first.difference, from: first.objects)
            for round in 0..<40 {
                remote["Note"] = (1...12).shuffled(using: &random).prefix(Int.random(in: 1...12, using: &random)).map {
                    [
                        "id": .int(Int64($0)), "stars": .int(Int64.random(in: 0...9, using: &random)),
                        "title": .string("round \(round)"),
                    ]
                }
                let report = try await manager.sync(.init(entities: ["Note"], full: true, allowsDeletes: true))
                #expect(report.succeeded)
                let change = try #require(try await changes.next())
                list.apply(change.difference, from: change.objects)
                #expect(list == change.objects)
            }
            #expect(try await manager.objects(Note.all.sorted(by: Note.stars)) == list)
        }
    }

    @MainActor
    @Test func `an observable list follows the database`() async throws {
        let remote = ScriptedRemote()
        remote["Note"] = [["id": 1, "title": "milk"]]
        let manager = try await RequestManager.testing(config: TypedQueryTests.config, remote: remote)
        let notes = ObservedObjects(Note.all.sorted(by: Note.title), of: manager)
        #expect(!notes.isLoaded)
        _ = try await manager.fetch(Note.all).remote
        while notes.objects.count != 1 { await Task.yield() }
        try await manager.create(Note.self) { $0.title = "bread" }
        while notes.objects.count != 2 { await Task.yield() }
        #expect(notes.objects.map(\.title) == ["bread", "milk"])
        #expect(notes.error == nil)
        try await manager.close()
    }
}
