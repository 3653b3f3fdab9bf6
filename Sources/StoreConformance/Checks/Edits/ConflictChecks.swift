internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// What happens to objects that were edited here and changed by the remote, until a person has decided.
    static let conflicts = [
        StoreCheck("an-edit-of-a-conflict-loses-nothing", anEditOfAConflictLosesNothing),
        StoreCheck("an-undone-edit-gives-the-remote's-value", anUndoneEditGivesTheRemotesValue),
        StoreCheck("an-undone-delete-gives-the-remote's-values", anUndoneDeleteGivesTheRemotesValues),
        StoreCheck("an-undone-delete-makes-its-edit-again", anUndoneDeleteMakesItsEditAgain),
        StoreCheck("a-deleted-object-takes-its-conflicts-along", aDeletedObjectTakesItsConflictsAlong),
        StoreCheck("a-softly-deleted-object-has-the-remote's-values", aSoftlyDeletedObjectHasTheRemotesValues),
        StoreCheck("what-is-never-sent-is-left-out", whatIsNeverSentIsLeftOut),
    ]

    private static let key: [StoredValue] = [.text("NO")]

    /// Imports Norway with a number of people.
    private static func bring(_ session: StoreSession, _ people: Int64) throws {
        try session.add(
            SampleModel.country, ["code": .text("NO"), "name": .text("Norway"), "people": .integer(people)])
    }

    private static func set(_ session: StoreSession, people: Int64) throws {
        try session.edit(.update, "Country", key, ["people": .integer(people)])
    }

    /// Opens a store in which 5 people became 500 here and 77 there.
    private static func conflict(_ subject: StoreSubject) throws -> StoreSession {
        let session = try subject.open()
        try session.run { try bring(session, 5) }
        try set(session, people: 500)
        try session.run { try bring(session, 77) }
        try expect("the conflicts", try session.store.conflicts().map(\.column), ["people"])
        return session
    }

    private static func expectAgreement(_ session: StoreSession, _ what: String) throws {
        try expect("the row after \(what)", try session.rows(SampleModel.country), ["NO Norway 77 - -"])
        try expect("the outbox after \(what)", try session.outbox(), [])
        try expect("the conflicts after \(what)", try session.store.conflicts().count, 0)
    }

    private static func anEditOfAConflictLosesNothing(_ subject: StoreSubject) throws {
        let session = try conflict(subject)
        try set(session, people: 600)
        try expect("its local value", try session.store.conflicts().map(\.local), [.integer(600)])
        // The value of before is not the remote's any more.
        try set(session, people: 5)
        try expect("the conflicts", try session.store.conflicts().map(\.local), [.integer(5)])
        try expect("the edit", try session.outbox(), ["update Country NO [people: 5 -> 5] conflict"])
        try session.store.resolve(entity: "Country", key: key, take: .local)
        try expect("the edit", try session.outbox(), ["update Country NO [people: 77 -> 5] pending"])
        let other = try conflict(subject)
        try set(other, people: 77)
        try expectAgreement(other, "an edit to the remote's value")
    }

    private static func anUndoneEditGivesTheRemotesValue(_ subject: StoreSubject) throws {
        for isDecided in [false, true] {
            let session = try subject.open()
            try session.run { try bring(session, 5) }
            try set(session, people: 500)
            let run = try required("the run of the edit", try session.store.lastRunWithChanges())
            try session.run { try bring(session, 77) }
            if isDecided { try session.store.resolve(entity: "Country", key: key, take: .local) }
            _ = try session.store.undo(run: run)
            try expectAgreement(session, isDecided ? "an undo of a decided conflict" : "an undo of a conflict")
        }
    }

    private static func anUndoneDeleteGivesTheRemotesValues(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try bring(session, 5) }
        try session.edit(.delete, "Country", key)
        let run = try required("the run of the delete", try session.store.lastRunWithChanges())
        try session.run { try bring(session, 77) }
        try expect("the conflicts", try session.store.conflicts().map(\.column), [nil])
        _ = try session.store.undo(run: run)
        try expectAgreement(session, "an undo of a delete")
        try session.edit(.delete, "Country", key)
        try expect("the number of entries", try session.store.outbox().count, 1)
    }

    private static func anUndoneDeleteMakesItsEditAgain(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try bring(session, 5) }
        try session.edit(.update, "Country", key, ["name": .text("Norge")])
        try session.edit(.delete, "Country", key)
        let run = try required("the run of the delete", try session.store.lastRunWithChanges())
        try session.run { try bring(session, 77) }
        _ = try session.store.undo(run: run)
        try expect("the row", try session.rows(SampleModel.country), ["NO Norge 77 - -"])
        try expect("the edit", try session.outbox(), ["update Country NO [name: Norway -> Norge] pending"])
    }

    private static func aDeletedObjectTakesItsConflictsAlong(_ subject: StoreSubject) throws {
        let session = try conflict(subject)
        try session.page { _ = try $0.delete(SampleModel.country, .text("NO")) }
        try expect("the number of conflicts", try session.store.conflicts().count, 2)
        try session.store.resolve(entity: "Country", key: key, take: .remote)
        try expect("the rows", try session.rows(SampleModel.country), [])
        try expect("the outbox", try session.outbox(), [])
        try expect("the conflicts", try session.store.conflicts().count, 0)
    }

    private static func aSoftlyDeletedObjectHasTheRemotesValues(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.run { try session.add(SampleModel.note, ["id": .integer(1), "text": .text("theirs")]) }
        try session.edit(.update, "Note", [.integer(1)], ["text": .text("mine")])
        try session.page { _ = try $0.delete(SampleModel.note, .integer(1)) }
        try session.store.resolve(entity: "Note", key: [.integer(1)], take: .remote)
        let row = try required("the row", try session.rows(SampleModel.note).first)
        try expect("the text of the deleted row", String(row.prefix(8)), "1 theirs")
        try session.run { try session.add(SampleModel.note, ["id": .integer(2), "text": .text("b")]) }
        try session.edit(.delete, "Note", [.integer(2)])
        let run = try required("the run of the delete", try session.store.lastRunWithChanges())
        _ = try session.store.undo(run: run)
        try expect("the row after the undo of a delete", try session.rows(SampleModel.note).last, "2 b -")
    }

    /// A model in which the remote alone sets some values.
    private static func writable() throws -> CompiledModel {
        func attribute(_ name: String, _ type: AttributeType = .text, isSent: Bool = false) -> Attribute {
            var attribute = Attribute(name: name, type: type)
            if !isSent { attribute.write.permission = .never }
            return attribute
        }
        var note = Entity(
            name: "Note", bridge: "remote", key: ["id"],
            attributes: [attribute("id", .integer), attribute("text", isSent: true), attribute("made")],
            relationships: [])
        note.isWritable = true
        return try CompiledModel(Model(entities: [note]))
    }

    private static func whatIsNeverSentIsLeftOut(_ subject: StoreSubject) throws {
        let session = try subject.open(try writable())
        let values: StoreSession.Values = ["id": .integer(1), "text": .text("a"), "made": .text("then")]
        try session.run { try session.add(0, values) }
        try session.edit(.update, "Note", [.integer(1)], ["text": .text("b")])
        try session.page { _ = try $0.delete(0, .integer(1)) }
        try session.store.resolve(entity: "Note", key: [.integer(1)], take: .local)
        try expect("an object that is created again", try session.outbox(), ["create Note 1 [text: - -> b] pending"])
        try expect("whether the remote assigns its key", try session.lastEntry().hasTemporaryKey, true)
        try session.run { try session.add(0, values) }
        try expect("the edit of one that returns", try session.lastEntry().operation, .update)
        try expect("whether its key is the remote's", try session.lastEntry().hasTemporaryKey, false)
        try session.store.dropOutbox(try session.store.outbox().map(\.id))
        try session.run { try session.add(0, values) }
        try session.edit(.delete, "Note", [.integer(1)])
        try session.edit(.create, "Note", [.integer(1)], ["text": .text("c")])
        try expect(
            "a deleted object that is created again", try session.outbox(), ["update Note 1 [text: a -> c] pending"])
    }
}
