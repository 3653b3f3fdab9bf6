internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// Texts that Swift takes for equal and a database does not.
    static let texts = [
        StoreCheck("rows-differ-by-the-bytes-of-their-keys", rowsDifferByTheirBytes),
        StoreCheck("fields-differ-by-their-bytes", fieldsDifferByTheirBytes),
        StoreCheck("members-differ-by-their-bytes", membersDifferByTheirBytes),
    ]

    /// A letter with an accent as one scalar, in five bytes, and as two, in six.
    private static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

    private static func rowsDifferByTheirBytes(_ subject: StoreSubject) throws {
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text(composed)], ["code": .text(decomposed)])
        try session.store.beginRun(kind: "sync")
        let before = try session.store.newestChange()
        try session.add(
            SampleModel.country, ["code": .text(composed), "name": .text("1")],
            ["code": .text(decomposed), "name": .text("2")])
        let changes = try session.store.changes(after: before, limit: 10)
        try session.store.endRun(outcome: "finished", summary: nil, always: false)
        try expect("the bytes of the rows", try bytes(session.rows(SampleModel.country)), [14, 13])
        try expect("the changes of two rows", changes.map(\.columns.count), [1, 1])
    }

    private static func fieldsDifferByTheirBytes(_ subject: StoreSubject) throws {
        let session = try subject.open()
        for _ in 1...2 {
            try session.page { page in
                for path in [composed, decomposed] {
                    try page.transaction.noteUnknownField(UnknownField(entity: SampleModel.country, path: path))
                }
            }
        }
        let fields = try session.store.unknownFields(since: "")
        try expect("the bytes of the fields, in order", bytes(fields.map(\.path)), [6, 5])
    }

    private static func membersDifferByTheirBytes(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let listing = MemberListing(entity: "Country", source: "", request: "r")
        let members = ["", composed, decomposed].map { ListedMember(entity: SampleModel.country, path: $0) }
        try session.page { try $0.transaction.noteMembers(members, of: listing) }
        let known = try session.store.members(of: listing)
        try expect("the bytes of the members", bytes(known.map(\.path)).sorted(), [0, 5, 6])
        let missing = try session.store.noteMissing(in: listing, seen: Set(members.dropLast()))
        try expect("the bytes of the missing member", bytes(missing.map(\.member.path)), [6])
    }

    private static func bytes(_ texts: [String]) -> [Int] { texts.map(\.utf8.count) }
}
