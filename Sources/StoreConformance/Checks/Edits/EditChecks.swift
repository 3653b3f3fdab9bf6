internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// Checks of local edits, and of their merge with the remote's values.
    static let edits = [
        StoreCheck("edits-join", editsJoin), StoreCheck("edits-are-checked", editsAreChecked),
        StoreCheck("edits-meet-imports", editsMeetImports), StoreCheck("conflicts-are-resolved", conflictsAreResolved),
        StoreCheck("deletions-meet-edits", deletionsMeetEdits),
        StoreCheck("dropped-edits-are-reverted", droppedEditsAreReverted),
        StoreCheck("lists-are-edited", listsAreEdited),
        StoreCheck("an-edit-during-a-page-is-refused", anEditDuringAPageIsRefused),
    ]

    private static func norway(_ subject: StoreSubject) throws -> StoreSession {
        let session = try subject.open()
        try session.run {
            try session.add(
                SampleModel.country, ["code": .text("NO"), "name": .text("Norway"), "people": .integer(5)])
        }
        return session
    }

    private static func update(_ session: StoreSession, _ values: StoreSession.Values) throws {
        try session.edit(.update, "Country", [.text("NO")], values)
    }

    private static func editsJoin(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        try update(session, ["name": .text("a")])
        try update(session, ["name": .text("b"), "people": .integer(6)])
        try expect(
            "edits of one object", try session.outbox(),
            ["update Country NO [name: Norway -> b, people: 5 -> 6] pending"])
        try expect("the row", try session.rows(SampleModel.country), ["NO b 6 - -"])
        try update(session, ["name": .text("Norway"), "people": .integer(5)])
        try expect("an edit that is taken back", try session.outbox(), [])
        try session.edit(.create, "Country", [], ["code": .text("SE")])
        try session.edit(.delete, "Country", [.text("SE")])
        try expect("a new object that is deleted", try session.outbox(), [])
        try session.edit(.delete, "Country", [.text("NO")])
        try expect("the rows after a delete", try session.rows(SampleModel.country), [])
        try expect("the entry of a delete", try session.lastEntry().operation, .delete)
        let edit = LocalEdit(.create, entity: "Country", values: ["code": .text("NO")])
        try expectError("an edit that must not join", .request) { _ = try session.store.edit([edit], joining: false) }
    }

    private static func editsAreChecked(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        let edits: [(String, LocalEdit)] = [
            ("an unknown entity", LocalEdit(.create, entity: "X")),
            ("an unknown column", LocalEdit(.update, entity: "Country", key: [.text("NO")], values: ["x": .null])),
            (
                "a value of another type",
                LocalEdit(.update, entity: "Country", key: [.text("NO")], values: ["people": .text("x")])
            ),
            ("a missing object", LocalEdit(.update, entity: "Country", key: [.text("SE")])),
            ("an existing object", LocalEdit(.create, entity: "Country", values: ["code": .text("NO")])),
            (
                "a missing target",
                LocalEdit(.update, entity: "Country", key: [.text("NO")], values: ["capital": .integer(9)])
            ),
            ("an object without a key", LocalEdit(.create, entity: "Entry")),
        ]
        for (what, edit) in edits {
            let before = LocalEdit(.update, entity: "Country", key: [.text("NO")], values: ["name": .text("z")])
            try expectError(what, .request) { _ = try session.store.edit([before, edit]) }
        }
        try expect("the row after refused edits", try session.rows(SampleModel.country), ["NO Norway 5 - -"])
        try expect("the outbox after refused edits", try session.outbox(), [])
    }

    private static func editsMeetImports(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        try update(session, ["name": .text("Norge"), "people": .integer(6)])
        func imported(_ name: String, _ people: Int64) throws {
            try session.add(
                SampleModel.country, ["code": .text("NO"), "name": .text(name), "people": .integer(people)])
        }
        try imported("Norway", 5)
        try expect("an edit over its base", try session.rows(SampleModel.country), ["NO Norge 6 - -"])
        try imported("Norge", 5)
        try expect(
            "an edit that the remote has", try session.outbox(), ["update Country NO [people: 5 -> 6] pending"])
        try imported("Norge", 7)
        try expect("an edit in conflict", try session.lastEntry().state, .conflict)
        let conflict = try required("the conflict", try session.store.conflicts().first)
        try expect(
            "its values", [conflict.base, conflict.local, conflict.remote], [.integer(5), .integer(6), .integer(7)])
        try expect("the row of a conflict", try session.rows(SampleModel.country), ["NO Norge 6 - -"])
        try imported("Norge", 5)
        try expect("a conflict that is gone", try session.lastEntry().state, .pending)
        try expect("the conflicts", try session.store.conflicts().count, 0)
    }

    private static func conflictsAreResolved(_ subject: StoreSubject) throws {
        for side in ConflictSide.allCases {
            let session = side == .local ? try norway(subject) : try subject.open()
            if side == .remote { try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("Norway")]) }
            try update(session, ["name": .text("a")])
            try session.add(SampleModel.country, ["code": .text("NO"), "name": .text("b")])
            try session.store.resolve(entity: "Country", key: [.text("NO")], take: side)
            try expect("conflicts after a decision", try session.store.conflicts().count, 0)
            switch side {
            case .local:
                try expect(
                    "the entry of the local side", try session.outbox(), ["update Country NO [name: b -> a] pending"])
                try session.store.dropOutbox(try session.store.outbox().map(\.id))
            case .remote:
                try expect("the entry of the remote side", try session.outbox(), [])
                try expect("the row of the remote side", try session.rows(SampleModel.country)[0].prefix(4), "NO b")
            }
            try expectError("a conflict that does not exist", .request) {
                try session.store.resolve(entity: "Country", key: [.text("NO")], take: side)
            }
        }
    }

    private static func deletionsMeetEdits(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        try update(session, ["name": .text("a")])
        try session.page {
            try expect("the deletion of an edited row", try $0.delete(SampleModel.country, .text("NO")), [:])
        }
        try expect("the column of the conflict", try session.store.conflicts().map(\.column), [nil])
        try session.store.resolve(entity: "Country", key: [.text("NO")], take: .local)
        try expect("the edit of an object that the remote deleted", try session.lastEntry().operation, .create)
        try session.store.dropOutbox(try session.store.outbox().map(\.id))
        try expect("the rows after its drop", try session.rows(SampleModel.country), [])
    }

    private static func droppedEditsAreReverted(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        try update(session, ["name": .text("a")])
        let update = try session.lastEntry().id
        try session.store.dropOutbox([update])
        try expect("the row after the drop of an update", try session.rows(SampleModel.country), ["NO Norway 5 - -"])
        try expect("whether it was dropped", try session.store.wasDropped(update), true)
        try session.edit(.delete, "Country", [.text("NO")])
        try session.store.dropOutbox([try session.lastEntry().id])
        try expect("the row after the drop of a delete", try session.rows(SampleModel.country), ["NO Norway 5 - -"])
        let country = try session.edit(.create, "Country", [], ["code": .text("SE")])
        try session.edit(.create, "City", [], ["name": .text("Lund"), "country": .text("SE")])
        try expectError("the drop of an entry that others need", .request) {
            try session.store.dropOutbox([country.entry ?? 0])
        }
        try session.store.dropOutbox(try session.store.outbox().map(\.id))
        try expect("the rows after all drops", try session.rows(SampleModel.country).count, 1)
        try expectError("the drop of an entry that does not exist", .request) { try session.store.dropOutbox([999]) }
    }

    private static func listsAreEdited(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        try session.add(SampleModel.language, ["code": .text("nb")], ["code": .text("nn")])
        try session.edit(.update, "Country", [.text("NO")], links: ["languages": [[.text("nn")], [.text("nb")]]])
        try expect("the list", try session.list(SampleModel.country, "languages", of: .text("NO")), ["nn", "nb"])
        let link = try required("the edit of the list", try session.lastEntry().links.first)
        try expect("its keys", link.new, [[.text("nn")], [.text("nb")]])
        try session.page { page in
            try page.merge(SampleModel.country, ["code": .text("NO")])
            _ = try page.mergeLinks(SampleModel.country, "languages", of: .text("NO"), [])
        }
        try expect(
            "the list over its base", try session.list(SampleModel.country, "languages", of: .text("NO")), ["nn", "nb"])
        try session.store.dropOutbox([try session.lastEntry().id])
        try expect("the list after the drop", try session.list(SampleModel.country, "languages", of: .text("NO")), [])
    }

    private static func anEditDuringAPageIsRefused(_ subject: StoreSubject) throws {
        let session = try norway(subject)
        let page = try session.begin()
        try expectError("an edit while a page is open", .busy) { try update(session, ["name": .text("a")]) }
        page.transaction.rollback()
        try update(session, ["name": .text("a")])
    }
}
