import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// The three-way merge of a remote record into an edited object, without a database.
@Suite struct EditedRowMergeTests {
    private let layout: EntityLayout
    private let memory = CellMemory()

    init() throws { layout = try TestModel.city() }

    private func merge(
        _ values: [String: StoredValue], over entries: [OutboxEntry], _ policy: ConflictPolicy = .manual,
        answers: AnsweredEdit? = nil
    ) -> (merge: EditedRowMerge, written: [String: StoredValue]) {
        let record = TestRecord(layout, values)
        return withExtendedLifetime(record) {
            let merge = EditedRowMerge(
                entries, layout, key: [7], cells: record.cells, policy: policy, memory: memory, answers: answers,
                now: "now")
            let written = zip(layout.fields, merge.cells).compactMap { field, cell in
                cell.value.map { (field.name, $0) }
            }
            return (merge, Dictionary(uniqueKeysWithValues: written))
        }
    }

    private let edit = OutboxEntry.of(1, .update, [.of("name", "old", "mine")])

    @Test func `the edit stays while the remote still has the base value`() {
        let (merge, written) = merge(["name": "old", "area": "1.5"], over: [edit])
        #expect(written == ["id": 7, "area": "1.5"], "the column that was edited is not written")
        #expect(merge.actions == [.removeConflicts([""]), .removeConflicts(["name"])])
        #expect(merge.set.fates(hasConflicts: false, lost: []) == [])
    }

    @Test func `an edit whose value the remote has leaves the outbox`() {
        let (merge, written) = merge(["name": "mine"], over: [edit])
        #expect(written == ["id": 7])
        #expect(merge.set.fates(hasConflicts: false, lost: []) == [.removed(edit, isLost: false)])
    }

    @Test func `decimals are compared by value`() {
        let entry = OutboxEntry.of(1, .update, [.of("area", "1.0", "1.50")])
        let (merge, _) = merge(["area": "1.5"], over: [entry])
        #expect(merge.set.fates(hasConflicts: false, lost: []) == [.removed(entry, isLost: false)])
    }

    @Test func `a third value is a conflict that a person decides`() {
        let (merge, written) = merge(["name": "theirs"], over: [edit])
        #expect(written == ["id": 7])
        #expect(
            merge.actions == [
                .removeConflicts([""]),
                .noteConflict(
                    EditConflict(
                        entity: "City", key: [7], column: "name", base: "old", local: "mine", remote: "theirs",
                        seen: "now")),
            ])
        guard case .changed(let entry)? = merge.set.fates(hasConflicts: true, lost: []).first else {
            Issue.record("the entry did not change")
            return
        }
        #expect(entry.state == .conflict)
    }

    @Test func `the remote's value wins where the policy says so, and the edit is lost`() {
        let (merge, written) = merge(["name": "theirs"], over: [edit], .remote)
        #expect(written == ["id": 7, "name": "theirs"])
        #expect(merge.set.givenUp == [1])
        #expect(merge.set.fates(hasConflicts: false, lost: [1]) == [.removed(edit, isLost: true)])
    }

    @Test func `the local value wins where the policy says so, on the remote's value as its base`() {
        let (merge, written) = merge(["name": "theirs"], over: [edit], .local)
        #expect(written == ["id": 7])
        #expect(merge.actions.last == .keepLocal(column: "name", remote: "theirs", local: "mine"))
        #expect(merge.set.entries[0].changes == [.of("name", "theirs", "mine")])
    }

    @Test(arguments: [("2026-01-09T00:00:00.000000Z", true), ("2025-01-01T00:00:00.000000Z", false)])
    func `the newer side wins where the policy says so`(seen: String, isRemote: Bool) {
        let (merge, written) = merge(
            ["name": "theirs", "seen": .text(seen)], over: [edit], .newest(attribute: "seen"))
        #expect(merge.remoteIsNewer == isRemote)
        #expect(written["name"] == (isRemote ? "theirs" : nil))
    }

    /// The layout of cities whose names code merges.
    private func mergingCity(_ body: @escaping @Sendable (StoredValue?, StoredValue, StoredValue) throws -> StoredValue)
        throws
        -> EntityLayout
    {
        var name = Attribute(name: "name")
        name.merge = "name/1"
        let city = Entity("City", key: ["id"], [.of("id", .integer), name, .of("area", .decimal)])
        let code = CustomCode(merges: [ValueMerge("name/1", body)])
        return try #require(try CompiledModel(Model(entities: [city]), code: code).entities.first)
    }

    private func merged(
        _ remote: StoredValue,
        _ body: @escaping @Sendable (StoredValue?, StoredValue, StoredValue) throws -> StoredValue
    ) throws -> (merge: EditedRowMerge, written: StoredValue?) {
        let layout = try mergingCity(body)
        let record = TestRecord(layout, ["name": remote])
        return withExtendedLifetime(record) {
            // The entity's policy does not apply to the attribute.
            let merge = EditedRowMerge(
                [edit], layout, key: [7], cells: record.cells, policy: .remote, memory: memory, answers: nil,
                now: "now")
            return (merge, merge.cells[1].value)
        }
    }

    @Test func `code merges a value from the base, the remote's and the local one`() throws {
        let (merge, written) = try merged("theirs") { base, remote, local in
            .text("\(base.map { "\($0)" } ?? "nothing")+\(remote)+\(local)")
        }
        #expect(written == "old+theirs+mine")
        #expect(merge.set.entries[0].changes == [.of("name", "theirs", "old+theirs+mine")])
        #expect(merge.actions == [.removeConflicts([""]), .removeConflicts(["name"])])
        #expect(merge.set.givenUp.isEmpty)
    }

    @Test func `a merge that gives the remote's value gives the edit up, and one that gives the local one keeps it`()
        throws
    {
        let (theirs, written) = try merged("theirs") { _, remote, _ in remote }
        #expect(written == "theirs" && theirs.set.givenUp == [1])
        let (mine, nothing) = try merged("theirs") { _, _, local in local }
        #expect(nothing == nil)
        #expect(mine.actions.last == .keepLocal(column: "name", remote: "theirs", local: "mine"))
        #expect(mine.set.entries[0].changes == [.of("name", "theirs", "mine")])
    }

    @Test func `a merge that throws is a conflict for a person`() throws {
        struct Refusal: Error {}
        let (thrown, written) = try merged("theirs") { _, _, _ in throw Refusal() }
        #expect(written == nil)
        guard case .noteConflict(let conflict)? = thrown.actions.last else {
            Issue.record("there is no conflict: \(thrown.actions)")
            return
        }
        #expect(conflict.local == "mine" && conflict.remote == "theirs")
    }

    @Test func `an edit that is being sent is never given up`() {
        let sending = OutboxEntry.of(1, .update, [.of("name", "old", "mine")], state: .sending)
        let (merge, written) = merge(["name": "theirs"], over: [sending], .remote)
        #expect(written == ["id": 7])
        #expect(merge.set.givenUp.isEmpty && merge.set.entries == [sending])
    }

    @Test func `later edits are based on the reply to an earlier one`() {
        let (merge, _) = merge(["name": "theirs"], over: [edit], answers: AnsweredEdit(edit))
        #expect(merge.set.entries[0].changes == [.of("name", "theirs", "mine")])
        #expect(merge.actions == [.removeConflicts([""])])
        let create = AnsweredEdit(.of(2, .create, [.of("area", nil, "1")]))
        #expect(self.merge(["name": "theirs"], over: [edit], answers: create).merge.actions == [.removeConflicts([""])])
    }

    @Test func `a reply to an edit of another column, or of one in conflict, may show another client's change`() {
        var undecided = AnsweredEdit(edit)
        undecided.undecided = ["name"]
        for answer in [AnsweredEdit(.of(2, .update, [.of("area", "1", "2")])), undecided] {
            let (merge, _) = merge(["name": "theirs"], over: [edit], answers: answer)
            #expect(merge.set.entries[0].changes == [.of("name", "old", "mine")])
            #expect(
                merge.actions.last
                    == .noteConflict(
                        EditConflict(
                            entity: "City", key: [7], column: "name", base: "old", local: "mine", remote: "theirs",
                            seen: "now")))
        }
    }

    @Test func `a create of an object that exists becomes an update with unknown base values`() {
        let create = OutboxEntry.of(1, .create, [.of("id", nil, 7), .of("name", nil, "mine")])
        let (merge, _) = merge(["name": "theirs"], over: [create])
        #expect(merge.set.entries[0].operation == .update)
        #expect(merge.set.entries[0].changes == [.of("name", .null, "mine")])
        guard case .noteConflict(let conflict)? = merge.actions.last else {
            Issue.record("there is no conflict")
            return
        }
        #expect(conflict.base == nil)
    }

    @Test func `a column that the record does not mention is left alone`() {
        let (merge, written) = merge(["area": "2"], over: [edit], .remote)
        #expect(written == ["id": 7, "area": "2"])
        #expect(merge.set.entries == [edit])
    }
}
