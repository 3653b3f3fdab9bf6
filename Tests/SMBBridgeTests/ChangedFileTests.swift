import BridgeKit
import Testing
import TestLiterals

@testable import SMBBridge

/// Files of several chunks that change between two of them.
@Suite struct ChangedFileTests {
    /// A table of 100 KB a row, so that the second chunk begins in the row 40.
    private static func table(_ ids: ClosedRange<Int>, _ letter: Character = "x") -> [UInt8] {
        let text = String(repeating: letter, count: 100_000)
        return Array(("id,n\n" + ids.map { "\($0),\(text)\n" }.joined()).utf8)
    }

    private static func answer(_ bytes: [UInt8], at modified: Int) -> RecordedShare.Answer {
        RecordedShare.Answer(bytes: bytes, modified: modified)
    }

    /// A share whose only file gives these answers, of which the last one stays.
    private static func share(_ answers: RecordedShare.Answer...) throws -> RecordedShare {
        let entry = RecordedShare.Entry(name: "a.csv", size: answers[0].bytes.count, modified: 1)
        return try RecordedShare(
            RecordedShare.Recording(folders: ["": RecordedShare.Folder(entries: [entry])], files: ["a.csv": answers]))
    }

    private static func source(_ share: RecordedShare, cursor: String? = nil) throws -> any RecordSource {
        try EntitySection.source(
            FetchRequest(entity: "Row", section: BridgeOptions(["csv": "*.csv"]), cursor: cursor), share: share)
    }

    private static let ids = (1...60).map { "\"\($0)\"" }

    @Test func `a log that grows is read up to its first size, and each row once`() throws {
        let share = try Self.share(Self.answer(Self.table(1...60), at: 1), Self.answer(Self.table(1...61), at: 2))
        let scan = try Scan(Self.source(share))
        #expect(scan.values("id") == Self.ids)
        #expect(scan.isComplete && scan.rejected.isEmpty && scan.skipped.isEmpty)
        #expect(share.log.filter { $0 == "read a.csv at 0" }.count == 2, "it is compared at the end")
    }

    @Test func `the last line of a log that grows is complete`() throws {
        let begun = Array(Self.table(1...60).dropLast(50_000))
        let share = try Self.share(Self.answer(begun, at: 1), Self.answer(Self.table(1...61), at: 2))
        let scan = try Scan(Self.source(share))
        #expect(scan.values("id") == Self.ids)
        #expect(scan.values("n").last?.count == 100_002)
    }

    @Test(arguments: [(1...61, Character("y")), (1...5, "x"), (1...60, "y")])
    func `a file that is replaced after rows of it were returned makes the scan start over`(
        ids: ClosedRange<Int>, letter: Character
    ) throws {
        let share = try Self.share(
            Self.answer(Self.table(1...60), at: 1), Self.answer(Self.table(ids, letter), at: 2))
        let error = #expect(throws: BridgeError.self) { try Scan(Self.source(share)) }
        #expect(error?.startsOver == true && error?.code == .conflict)
        #expect(error?.message.contains("a.csv") == true)
    }

    @Test func `a file that is in use for a moment gives each row once`() throws {
        let old = Self.answer(Self.table(1...60), at: 1)
        let scan = try Scan(Self.source(try Self.share(old, RecordedShare.Answer(error: "EBUSY"), old)))
        #expect(scan.values("id") == Self.ids)
        #expect(scan.isComplete && scan.rejected.isEmpty)
    }

    @Test func `a file that grew beyond max_content_bytes after it was listed has no content`() throws {
        let entry = RecordedShare.Entry(name: "a.txt", size: 3, modified: 1)
        let share = try RecordedShare(
            RecordedShare.Recording(
                folders: ["": RecordedShare.Folder(entries: [entry])],
                files: ["a.txt": [Self.answer(Array("much longer".utf8), at: 2)]]))
        let section = BridgeOptions(["files": "*", "content": "text", "max_content_bytes": 5])
        let scan = try Scan(EntitySection.source(FetchRequest(entity: "File", section: section), share: share))
        #expect(scan.values("content") == ["null"])
        #expect(scan.values("size") == ["11"])
        #expect(scan.warnings == ["the file a.txt has 11 bytes, more than max_content_bytes: its content is null"])
    }

    @Test func `a cursor in a file that was replaced makes the scan start over`() throws {
        let first = try Scan(Self.source(try Self.share(Self.answer(Self.table(1...60), at: 1))), limit: 2)
        let cursor = try #require(first.pages.last?.cursor)
        let share = try Self.share(Self.answer(Self.table(1...61), at: 2))
        let error = #expect(throws: BridgeError.self) { try Scan(Self.source(share, cursor: cursor)) }
        #expect(error?.startsOver == true)
    }
}
