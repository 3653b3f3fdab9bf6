import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// The three-way merge of a remote list into the list of an edited object, without a database.
@Suite struct EditedListMergeTests {
    private let layout: EntityLayout

    init() throws { layout = try TestModel.city() }

    private func merge(
        _ remote: [[StoredValue]], over entries: [OutboxEntry], _ policy: ConflictPolicy = .manual,
        isAnswer: Bool = false
    ) -> EditedListMerge {
        EditedListMerge(
            remote, layout.toMany[0], entries, of: layout, key: [7], policy: policy, isAnswer: isAnswer,
            remoteIsNewer: nil, now: "now")
    }

    private let edit = OutboxEntry.of(
        1, links: [OutboxEntry.LinkEdit(relationship: "twins", old: [[1]], new: [[1], [2]])])

    @Test func `a list of an object without edits is written`() {
        #expect(merge([[3]], over: []).list == [[3]])
        #expect(merge([[3]], over: [.of(1, .update, [.of("name", "a", "b")])]).list == [[3]])
    }

    @Test func `a list of an object that was deleted locally is not written`() {
        #expect(merge([[3]], over: [.of(1, .delete)]).list == nil)
    }

    @Test func `the edit stays while the remote still has the base list`() {
        let merge = merge([[1]], over: [edit])
        #expect(merge.list == nil && merge.actions == [.removeConflict])
        #expect(merge.set?.entries == [edit])
    }

    @Test func `an edit whose list the remote has is dropped, in any order`() {
        let merge = merge([[2], [1]], over: [edit])
        #expect(merge.list == nil)
        #expect(merge.set?.fates(hasConflicts: false, lost: []) == [.removed(edit, isLost: false)])
    }

    @Test func `a third list is a conflict`() {
        let merge = merge([[3]], over: [edit])
        #expect(merge.list == nil)
        #expect(
            merge.actions == [
                .noteConflict(
                    EditConflict(
                        entity: "City", key: [7], column: "twins", base: "[[1]]", local: "[[1],[2]]",
                        remote: "[[3]]", seen: "now"))
            ])
    }

    @Test func `the policy decides which list wins`() {
        #expect(merge([[3]], over: [edit], .remote).list == [[3]])
        #expect(merge([[3]], over: [edit], .remote).set?.givenUp == [1])
        let local = merge([[3]], over: [edit], .local)
        #expect(local.list == nil && local.actions == [.removeConflict, .keepLocal])
        #expect(local.set?.entries[0].links[0].old == [[3]])
    }
}
