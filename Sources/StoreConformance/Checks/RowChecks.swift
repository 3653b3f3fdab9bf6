internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// The rows and lists of a page.
    static let rows = [
        StoreCheck("rows-are-merged", rowsAreMerged), StoreCheck("stubs-are-filled", stubsAreFilled),
        StoreCheck("lists-keep-their-order", listsKeepTheirOrder),
        StoreCheck("lists-have-two-ends", listsHaveTwoEnds),
        StoreCheck("inverse-lists-detach", inverseListsDetach),
        StoreCheck("deleted-rows-become-stubs", deletedRowsBecomeStubs),
        StoreCheck("deleted-objects-take-their-own-lists-along", deletedObjectsTakeTheirOwnListsAlong),
        StoreCheck("removed-relationships-keep-no-row", removedRelationshipsKeepNoRow),
        StoreCheck("soft-deletions-mark", softDeletionsMark),
        StoreCheck("rows-without-a-key-are-appended", rowsWithoutAKeyAreAppended),
        StoreCheck("keys-are-compared-by-bytes", keysAreComparedByBytes),
    ]

    private static func rowsAreMerged(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            let first = try page.merge(
                SampleModel.country,
                [
                    ["code": .text("NO"), "name": .text("Norway"), "people": .integer(5)],
                    ["code": .text("NO"), "name": .text("Norge")], ["code": .text("NO"), "name": .text("Norge")],
                    ["code": .text("SE"), "area": .text("1.50")],
                ])
            try expect("the outcomes of a batch", first, [.inserted, .updated, .unchanged, .inserted])
        }
        try expect(
            "rows with absent cells", try session.rows(SampleModel.country), ["NO Norge 5 - -", "SE - - 1.50 -"])
        try session.page { page in
            let null = try page.merge(SampleModel.country, ["code": .text("NO"), "people": .null])
            try expect("the outcome of a null", null, .updated)
        }
        try expect("a column set to null", try session.rows(SampleModel.country)[0], "NO Norge - - -")
    }

    private static func stubsAreFilled(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(1)])
            try expect("a missing target", try page.ensure(SampleModel.city, .integer(1)), true)
            try expect("a target that exists", try page.ensure(SampleModel.city, .integer(1)), false)
        }
        try expect("the stubs", try session.store.stubs(of: "City"), ["[1]"])
        try expect("rows without stubs", try session.rows(SampleModel.city, includesStubs: false), [])
        let keys: [[StoredValue]] = [[.integer(1)], [.integer(2)]]
        try expect("stubs among keys", try session.store.stubs(of: SampleModel.city, among: keys), [[.integer(1)]])
        try session.page { page in
            let reference = try page.merge(SampleModel.city, ["id": .integer(1), "name": .text("x")], as: .reference)
            try expect("a reference with a value", reference, .updated)
            let record = try page.merge(SampleModel.city, ["id": .integer(1), "name": .text("Oslo")])
            try expect("the record of a stub", record, .inserted)
        }
        try expect("the stubs after the record", try session.store.stubs(of: "City"), [])
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(2)])
            _ = try page.ensure(SampleModel.city, .integer(2))
        }
        try session.add(SampleModel.country, ["code": .text("NO"), "capital": .null])
        try expect("a stub without references", try session.rows(SampleModel.city), ["1 Oslo -"])
    }

    private static func listsKeepTheirOrder(_ subject: StoreSubject) throws {
        let session = try subject.open()
        func set(_ targets: String...) throws -> Bool {
            var isChanged = false
            try session.page { page in
                try page.merge(SampleModel.country, ["code": .text("NO")])
                for target in targets { _ = try page.ensure(SampleModel.language, .text(target)) }
                isChanged = try page.mergeLinks(
                    SampleModel.country, "languages", of: .text("NO"), targets.map { .text($0) })
            }
            return isChanged
        }
        try expect("a new list changes", try set("b", "c", "a"), true)
        try expect(
            "the order of a list", try session.list(SampleModel.country, "languages", of: .text("NO")), ["b", "c", "a"])
        try expect("the same list changes", try set("b", "c", "a"), false)
        try expect("another order changes", try set("c", "a", "b"), true)
        try expect(
            "the new order", try session.list(SampleModel.country, "languages", of: .text("NO")), ["c", "a", "b"])
        try expect("a shorter list changes", try set("b"), true)
        try expect("the shorter list", try session.list(SampleModel.country, "languages", of: .text("NO")), ["b"])
        try expect("targets that nothing refers to", try session.rows(SampleModel.language), ["b -"])
    }

    private static func listsHaveTwoEnds(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            for code in ["NO", "SE"] { try page.merge(SampleModel.country, ["code": .text(code)]) }
            for code in ["nb", "sv"] { try page.merge(SampleModel.language, ["code": .text(code)]) }
            _ = try page.mergeLinks(SampleModel.country, "languages", of: .text("NO"), [.text("nb")])
            _ = try page.mergeLinks(SampleModel.language, "countries", of: .text("sv"), [.text("SE"), .text("NO")])
        }
        try expect(
            "a list seen from the source", try session.list(SampleModel.country, "languages", of: .text("NO")),
            ["nb", "sv"])
        try expect(
            "a list seen from the target", try session.list(SampleModel.language, "countries", of: .text("sv")),
            ["NO", "SE"])
    }

    private static func inverseListsDetach(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("NO")])
            for id: Int64 in [1, 2] {
                try page.merge(SampleModel.city, ["id": .integer(id), "country": .text("NO")])
            }
            let isChanged = try page.mergeLinks(SampleModel.country, "cities", of: .text("NO"), [.integer(2)])
            try expect("a list of the other end changes", isChanged, true)
        }
        try expect("a detached row", try session.rows(SampleModel.city), ["1 - -", "2 - NO"])
        try expect("the inverse list", try session.list(SampleModel.country, "cities", of: .text("NO")), ["2"])
    }

    private static func deletedRowsBecomeStubs(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(1)])
            for id: Int64 in [1, 2] {
                try page.merge(SampleModel.city, ["id": .integer(id), "name": .text("x")])
            }
        }
        try session.page { page in
            try expect("the deletion of a referenced row", try page.delete(SampleModel.city, .integer(1)), [1: 1])
            try expect("the deletion of another row", try page.delete(SampleModel.city, .integer(2)), [1: 1])
            try expect("the deletion of a missing row", try page.delete(SampleModel.city, .integer(3)), [:])
        }
        try expect("the rows after deletions", try session.rows(SampleModel.city), ["1 - -"])
        try expect("the stubs after deletions", try session.store.stubs(of: "City"), ["[1]"])
    }

    private static func deletedObjectsTakeTheirOwnListsAlong(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let languages = MemberListing(entity: "Language", source: "", request: "")
        let countries = MemberListing(entity: "Country", source: "", request: "")
        // The table of the links is that of the countries.
        try session.page { page in
            for code in ["NO", "SE"] { try page.merge(SampleModel.country, ["code": .text(code)]) }
            for code in ["nb", "se"] { try page.merge(SampleModel.language, ["code": .text(code)]) }
            _ = try page.mergeLinks(SampleModel.language, "countries", of: .text("nb"), [.text("NO")])
            _ = try page.mergeLinks(SampleModel.language, "countries", of: .text("se"), [.text("NO"), .text("SE")])
            try page.transaction.noteMembers(
                ["", "countries"].map { ListedMember(entity: SampleModel.language, path: $0) }, of: languages)
        }
        let before = try session.list(SampleModel.country, "languages", of: .text("NO"))
        let run = try session.run {
            try session.page { page in
                let counts = try page.delete(SampleModel.language, .text("se"))
                try expect("the deleted objects", counts, [SampleModel.language: 1])
            }
        }
        try expect("the rows after a deletion", try session.rows(SampleModel.language), ["nb -"])
        try expect(
            "the list of the other side", try session.list(SampleModel.country, "languages", of: .text("NO")), ["nb"])
        _ = try session.store.undo(run: try required("the run", run))
        try expect("the rows after an undo", try session.rows(SampleModel.language), ["nb -", "se -"])
        try expect(
            "the list after an undo", try session.list(SampleModel.country, "languages", of: .text("NO")), before)
        // From here on, records of countries have the list, too.
        try session.page { page in
            try page.transaction.noteMembers(
                ["", "languages"].map { ListedMember(entity: SampleModel.country, path: $0) }, of: countries)
            _ = try page.delete(SampleModel.language, .text("se"))
        }
        try expect("what countries still refer to", try session.store.stubs(of: "Language"), ["[\"se\"]"])
    }

    /// A file keeps the columns and tables of relationships that its configuration does not have any more.
    private static func removedRelationshipsKeepNoRow(_ subject: StoreSubject) throws {
        func entity(_ name: String, _ relationships: [Relationship] = []) -> Entity {
            Entity(
                name: name, bridge: "remote", key: ["id"], attributes: [Attribute(name: "id", type: .integer)],
                relationships: relationships)
        }
        let before = try CompiledModel(
            Model(entities: [
                entity("Target"),
                entity(
                    "Owner",
                    [
                        Relationship(name: "one", kind: .toOne, target: "Target"),
                        Relationship(name: "many", kind: .toMany, target: "Target"),
                    ]), entity("Other", [Relationship(name: "one", kind: .toOne, target: "Target")]),
            ]))
        let (target, owner, other) = (0, 1, 2)
        let session = try subject.open(before)
        try session.page { page in
            for id: Int64 in 1...3 { try page.merge(target, ["id": .integer(id)]) }
            try page.merge(owner, ["id": .integer(1), "one": .integer(1)])
            _ = try page.mergeLinks(owner, "many", of: .integer(1), [.integer(2)])
            try page.merge(other, ["id": .integer(1), "one": .integer(3)])
        }
        try session.store.close()
        let after = try subject.open(CompiledModel(Model(entities: [entity("Target"), entity("Owner")])))
        try after.page { page in
            for id: Int64 in 1...3 {
                try expect("the deletion of \(id)", try page.delete(target, .integer(id)), [target: 1])
            }
        }
        try expect("the rows after the deletions", try after.rows(target), [])
        try expect("the rows that are left", try after.rows(owner), ["1"])
    }

    private static func softDeletionsMark(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.note, ["id": .integer(1)], ["id": .integer(2)])
        try session.page { page in
            try expect("a soft deletion", try page.delete(SampleModel.note, .integer(1)), [SampleModel.note: 1])
            try expect("a second soft deletion", try page.delete(SampleModel.note, .integer(1)), [:])
        }
        var query = RowQuery("Note")
        try expect("rows with deleted ones", try session.store.count(of: query), 2)
        query.includesDeleted = false
        try expect("rows without deleted ones", try session.store.rows(of: query).map(\.key), [[.integer(2)]])
    }

    private static func rowsWithoutAKeyAreAppended(_ subject: StoreSubject) throws {
        let session = try subject.open()
        for _ in 0..<2 { try session.add(SampleModel.entry, ["text": .text("b")], ["text": .text("a")]) }
        try expect("rows in the order of insertion", try session.rows(SampleModel.entry), ["b", "a", "b", "a"])
    }

    /// Unicode takes a composed and a decomposed letter for the same; a remote that has both has two objects.
    private static func keysAreComparedByBytes(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let keys: [StoredValue] = [.text("\u{e9}"), .text("e\u{301}")]
        try session.run {
            try session.page { page in
                try page.merge(SampleModel.country, ["code": .text("NO")])
                try expect(
                    "stubs for both keys", try keys.map { try page.ensure(SampleModel.language, $0) }, [true, true])
            }
        }
        try expect("both stubs", try session.store.stubs(of: "Language").count, 2)
        let run = try session.run {
            try session.page { page in
                try expect(
                    "the records of both",
                    try page.merge(SampleModel.language, keys.map { ["code": $0, "name": .text("x")] }),
                    [.inserted, .inserted])
            }
        }
        try expect("the stubs after the records", try session.store.stubs(of: "Language"), [])
        var changes = 0
        try session.store.changes(of: try required("the run", run), entity: nil) { _ in changes += 1 }
        try expect("the changes of two rows", changes, 2)
        for key in keys {
            let history = try session.store.history(of: SampleModel.language, key: [key])
            try expect("the events of \(key)", history.events.count, 1)
        }
        let scopes = keys.map { ScanScope(entity: "City", parent: "[\"\($0)\"]") }
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("SE")])
            for (number, scope) in scopes.enumerated() {
                let position = ScanProgress(cursor: "\(number)", page: 1, request: "r")
                try page.transaction.saveProgress(scope, progress: position)
            }
        }
        try expect(
            "the positions of both parents", try scopes.map { try session.store.progress(of: $0)?.cursor }, ["0", "1"])
    }
}
