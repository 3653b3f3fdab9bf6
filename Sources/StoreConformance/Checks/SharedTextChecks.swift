internal import Mapping
internal import StoreContract

extension StoreCheck {
    /// Texts that the processes of a database share; a provider that keeps none passes.
    static let sharedTexts = [
        StoreCheck("shared-texts-are-kept", sharedTextsAreKept),
        StoreCheck("a-shared-text-has-one-holder", aSharedTextHasOneHolder),
    ]

    private static func lock(_ subject: StoreSubject, _ name: String) throws -> (any StoredTextLock)? {
        try subject.provider.lockText(subject.location, name: name)
    }

    private static func sharedTextsAreKept(_ subject: StoreSubject) throws {
        guard let first = try lock(subject, "rest-1") else { return }
        try expect("a text before the database exists", first.value, nil)
        try first.save("one")
        try expect("a text that was saved", first.value, "one")
        let other = try required("another text", try lock(subject, "rest-2"))
        try expect("another text, whose lock is free", other.value, nil)
        try other.save("")
        first.release()
        first.release()
        other.release()
        let session = try subject.open()
        try session.add(SampleModel.country, ["code": .text("NO")])
        let second = try required("the text", try lock(subject, "rest-1"))
        try expect("the text for the next holder", second.value, "one")
        try second.save("two")
        try second.save(String(repeating: "é", count: 8000))
        second.release()
        try expect("a long text", try lock(subject, "rest-1")?.value?.count, 8000)
        try expect("an empty text", try lock(subject, "rest-2")?.value, "")
        let isInTables = try subject.provider.contents(of: subject.location).contains { table in
            table.rows.contains { $0.contains(.text("two")) }
        }
        try expect("whether a table of rows has the text", isInTables, false)
    }

    private static func aSharedTextHasOneHolder(_ subject: StoreSubject) async throws {
        guard let first = try lock(subject, "counter") else { return }
        try first.save("0")
        first.release()
        let count = 10
        try await withThrowingTaskGroup { group in
            for _ in 1...2 {
                group.addTask {
                    for _ in 1...count {
                        guard let lock = try lock(subject, "counter") else { return }
                        try lock.save("\((lock.value.flatMap { Int($0) } ?? 0) + 1)")
                        lock.release()
                    }
                }
            }
            try await group.waitForAll()
        }
        try expect("a number that two holders counted up", try lock(subject, "counter")?.value, "\(2 * count)")
    }
}
