import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// What an undo does, and what it refuses, without a database.
@Suite struct ReversalTests {
    private let layout: EntityLayout
    private typealias Columns = [(name: String, value: StoredValue)]

    init() throws { layout = try TestModel.city() }

    private func row(_ values: [String: StoredValue] = [:]) -> [StoredValue] {
        layout.fields.map { values[$0.name] ?? ($0.name == "id" ? 7 : .null) }
    }

    private func reversal(
        _ kind: RowChange.Kind, _ old: Columns?, _ new: Columns?, _ row: [StoredValue]?
    ) -> RowReversal {
        RowReversal(kind, from: old, to: new, row: row, layout)
    }

    @Test func `each kind of change has a reversal`() {
        let a: Columns = [("name", "a")]
        let b: Columns = [("name", "b")]
        #expect(reversal(.inserted, nil, b, row(["name": "b"])) == .delete)
        #expect(reversal(.updated, a, b, row(["name": "b"])) == .update(.updated))
        #expect(reversal(.deleted, a, nil, nil) == .insert(isStub: false))
        #expect(reversal(.stubbed, a, nil, nil) == .insert(isStub: true))
        #expect(reversal(.inserted, [], b, row(["name": "b"])) == .update(.stubbed), "it was a stub before")
        #expect(reversal(.stubbed, a, [], row()) == .update(.inserted))
        #expect(reversal(.updated, nil, nil, nil) == .nothing)
    }

    @Test func `a row that is not as the change left it is refused`() {
        let a: Columns = [("name", "a")]
        let b: Columns = [("name", "b")]
        #expect(
            reversal(.updated, a, b, row(["name": "c"]))
                == .refused(#"its name is "c", where the run left "b""#))
        #expect(reversal(.deleted, a, nil, row()) == .refused("it exists again, but bmo did not write it"))
        #expect(reversal(.updated, a, b, nil) == .refused("it is gone, but bmo did not delete it"))
        #expect(
            reversal(.updated, [("gone", "a")], b, row(["name": "b"]))
                == .refused("the configuration has no City.gone any more"))
    }

    @Test func `a run and its undo cancel each other out`() {
        #expect(LaterRuns(than: 3, undos: []).undoneBy == nil)
        #expect(LaterRuns(than: 3, undos: [(5, 3)]).undoneBy == 5)
        let undone = LaterRuns(than: 3, undos: [(6, 5), (5, 3)])
        #expect(undone.undoneBy == nil && undone.cancelled == [5, 6])
    }

    @Test func `runs that the remote may know of cannot be undone`() throws {
        func refusal(_ kind: String, inserted: Int = 1, undoneKind: String? = nil, undoneBy: Int64? = nil) -> String? {
            var counts = RunRecord.Counts()
            counts.inserted = inserted
            let run = RunRecord(id: 4, kind: kind, started: "now", outcome: "finished", counts: counts)
            do {
                try run.checkUndo(undoneKind: undoneKind, undoneBy: undoneBy)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(refusal("sync") == nil)
        #expect(
            refusal("push")
                == "run 4 is a push of local edits, which the remote may have received; make the opposite edit")
        #expect(refusal("undo", undoneKind: "edit")?.hasPrefix("run 4 is an undo of local edits") == true)
        #expect(refusal("sync", inserted: 0)?.hasPrefix("run 4 changed nothing that is still recorded") == true)
        #expect(refusal("sync", undoneBy: 5) == "run 4 was already undone by run 5; `bmo undo 5` reverts that")
        #expect(refusal("edit", undoneBy: 5) == "run 4 was already undone by run 5; make the edit again")
    }

    // MARK: - Local edits

    private func describe(
        _ kind: RowChange.Kind, _ columns: [RowChange.Column] = [], links: [RowChange.Links] = [],
        _ entry: OutboxEntry?, row: [StoredValue]? = nil, list: [[StoredValue]] = [], edited: Set<String> = [],
        remote: [String: EditReversal.Remote] = [:]
    ) -> String {
        let change = RowChange(entity: "City", key: [7], kind: kind, columns: columns, links: links)
        let entries = [entry].compactMap(\.self)
        let reversal = EditReversal(
            change, entries, row: row, layout, isFirst: { !edited.contains($0) }, remote: { remote[$0] },
            list: { _ in list })
        return switch reversal {
        case .refused(let reason): reason
        case .restore(let columns, _): "restore \(columns.map(\.name))"
        case .dropCreate: "drop"
        case .edit(let columns, let lists):
            "edit \(columns.map { "\($0.name) \($0.old ?? .null)" }) \(lists.map(\.keys))"
        }
    }

    @Test func `a waiting edit is reverted by the opposite edit`() {
        let name = RowChange.Column(name: "name", old: "a", new: "b")
        let there = row(["name": "b"])
        let edit = OutboxEntry.of(1, .update, [.of("name", "a", "b")])
        #expect(describe(.updated, [name], edit, row: there) == #"edit ["name a"] []"#)
        #expect(describe(.updated, [name], .of(1, .update, []), row: there) == "edit [] []", "the remote has it by now")
        #expect(describe(.inserted, [name], .of(1, .create), row: there) == "drop")
        #expect(describe(.deleted, [], .of(1, .delete)) == "restore []")
        let twins = RowChange.Links(relationship: "twins", at: 1, old: [], new: [[2]])
        #expect(describe(.relinked, links: [twins], .of(1), row: there, list: [[1], [2]]) == "edit [] [[[1]]]")
    }

    @Test func `a waiting edit is reverted to what the remote has now`() {
        let name = RowChange.Column(name: "name", old: "a", new: "b")
        let there = row(["name": "b"])
        // The conflict was decided in favour of the edit, which is based on the remote's value since.
        let rebased = OutboxEntry.of(1, .update, [.of("name", "theirs", "b")])
        #expect(describe(.updated, [name], rebased, row: there) == #"edit ["name theirs"] []"#)
        // An undecided conflict.
        let edit = OutboxEntry.of(1, .update, [.of("name", "a", "b")])
        let theirs: [String: EditReversal.Remote] = ["name": .value("theirs"), "twins": .list([[9]])]
        #expect(describe(.updated, [name], edit, row: there, remote: theirs) == #"edit ["name theirs"] []"#)
        // The value of an earlier edit, which waits too.
        let second = OutboxEntry.of(1, .update, [.of("name", "0", "b")])
        #expect(describe(.updated, [name], second, row: there, edited: ["name"]) == #"edit ["name a"] []"#)
        let twins = RowChange.Links(relationship: "twins", at: 1, old: [], new: [[2]])
        var linked = OutboxEntry.of(1, .update, [])
        linked.links = [OutboxEntry.LinkEdit(relationship: "twins", old: [[1], [3]], new: [[1], [2]])]
        let list: [[StoredValue]] = [[1], [2]]
        #expect(describe(.relinked, links: [twins], linked, row: there, list: list) == "edit [] [[[1], [3]]]")
        #expect(
            describe(.relinked, links: [twins], linked, row: there, list: list, remote: theirs) == "edit [] [[[9]]]")
    }

    @Test func `a reverted delete makes the edit again that it had replaced, and no other`() {
        let columns = [RowChange.Column(name: "name", old: "b", new: nil), .init(name: "area", old: "1", new: nil)]
        let delete = OutboxEntry.of(1, .delete, [.of("name", "a", nil), .of("area", "1", nil)])
        #expect(describe(.deleted, columns, delete, edited: ["name"]) == #"restore ["name"]"#)
        // The remote changed both since.
        let changed = OutboxEntry.of(1, .delete, [.of("name", "c", nil), .of("area", "2", nil)])
        #expect(describe(.deleted, columns, changed, edited: ["name"]) == #"restore ["name"]"#)
        #expect(describe(.deleted, columns, changed) == "restore []")
    }

    @Test func `an edit that was pushed or changed is not reverted`() {
        let name = RowChange.Column(name: "name", old: "a", new: "b")
        #expect(
            describe(.updated, [name], nil)
                == "the remote has it or may have it, or it was edited later; make the opposite edit")
        #expect(describe(.updated, [name], .of(1), row: row(["name": "c"])) == "it was edited later")
        #expect(describe(.deleted, [], .of(1)) == "it was created again later")
        let twins = RowChange.Links(relationship: "twins", at: 1, old: [], new: [[2]])
        #expect(
            describe(.relinked, links: [twins], .of(1), row: row(), list: [[1]])
                == "its twins are not as the run left them")
    }
}
