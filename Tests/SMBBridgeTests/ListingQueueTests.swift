import BridgeKit
import RecordBatch
import Synchronization
import Testing

@testable import SMBBridge

/// Folders that other processes list: here threads with a share of their own stand for them.
@Suite struct ListingQueueTests {
    private static func recording(folders count: Int) -> RecordedShare.Recording {
        var recording = RecordedShare.Recording()
        var root: [RecordedShare.Entry] = []
        for number in 0..<count {
            let name = "folder\(number)"
            root.append(RecordedShare.Entry(name: name, isFolder: true, inode: number + 1))
            recording.folders[name] = RecordedShare.Folder(
                entries: [
                    RecordedShare.Entry(name: "deep", isFolder: true, inode: number + 10_000),
                    RecordedShare.Entry(name: "ü.txt", size: number, modified: -5, changed: 7, inode: 1 << 40),
                ])
            recording.folders[name + "/deep"] = RecordedShare.Folder(
                entries: [RecordedShare.Entry(name: "x.txt", size: 1)])
        }
        recording.folders[""] = RecordedShare.Folder(entries: root)
        recording.folders["folder7"] = RecordedShare.Folder(error: "EACCES")
        recording.folders["folder9/deep"] = RecordedShare.Folder(error: "ENOENT")
        return recording
    }

    /// A host whose other processes answer from a recording; `isBroken` tells which request fails.
    private static func context(
        _ recording: RecordedShare.Recording,
        isBroken: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) -> (context: BridgeContext, requests: Counter) {
        let requests = Counter()
        let context = BridgeContext(work: { request in
            let number = requests.next()
            if isBroken(number) { throw BridgeError(.internal, "the process is gone") }
            let section = BridgeOptions(copying: request[0]).object("section") ?? .empty
            let writer = RecordBatchWriter()
            _ = try ListingRelay.Source(section, share: RecordedShare(recording)).next(into: writer)
            return try writer.finish()
        })
        return (context, requests)
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }

        var count: Int { value.withLock { $0 } }
    }

    private func walk(_ share: RecordedShare, _ queue: ListingQueue?) throws -> Walk {
        let section = BridgeOptions(["files": "**", "directories": true])
        return try Walk(
            SMBBridge.source(FetchRequest(entity: "File", section: section), share: share, queue: queue))
    }

    @Test(arguments: [1, 4])
    func `a walk with helpers gives what one without them gives, in the same order`(threads: Int) throws {
        let recording = Self.recording(folders: 300)
        let alone = try walk(RecordedShare(recording), nil)
        let (context, requests) = Self.context(recording)
        let share = try RecordedShare(recording)
        let helped = try walk(share, ListingQueue(context, threads: threads))
        #expect(helped.records == alone.records)
        #expect(helped.records.count == 300 + 299 * 2 + 298)
        #expect(helped.spared == alone.spared)
        #expect(helped.spared.sorted() == ["path = folder7/...", "path = folder9/deep/..."])
        #expect(helped.isComplete)
        #expect(requests.count > 3, "the helpers did something")
    }

    @Test func `what helpers cannot list the walk lists itself`() throws {
        let recording = Self.recording(folders: 100)
        let alone = try walk(RecordedShare(recording), nil)
        let (context, requests) = Self.context(recording) { $0 % 2 == 0 }
        let helped = try walk(RecordedShare(recording), ListingQueue(context, threads: 4))
        #expect(helped.records == alone.records)
        #expect(requests.count > 1)
    }

    @Test func `a share with few folders starts no helper`() throws {
        let recording = Self.recording(folders: 10)
        let (context, requests) = Self.context(recording)
        _ = try walk(RecordedShare(recording), ListingQueue(context, threads: 4))
        #expect(requests.count == 0)
    }
}
