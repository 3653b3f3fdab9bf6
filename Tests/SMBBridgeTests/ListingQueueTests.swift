import BridgeKit
import Dispatch
import Glibc
import RecordBatch
import Synchronization
import SystemCalls
import Testing
import TestLiterals

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

    private func scan(_ share: some Share, _ queue: ListingQueue?) throws -> Scan {
        let section = BridgeOptions(["files": "**", "directories": true])
        return try Scan(
            EntitySection.source(FetchRequest(entity: "File", section: section), share: share, queue: queue))
    }

    /// A share that is slow enough for helpers to get their part on a busy machine.
    private static func slow(_ recording: RecordedShare.Recording) throws -> CountedShare {
        try CountedShare(recording, folders: .max, DispatchSemaphore(value: 0), pause: 3000)
    }

    @Test(arguments: [1, 4])
    func `a scan with helpers gives what one without them gives, in the same order`(threads: Int) throws {
        let recording = Self.recording(folders: 300)
        let alone = try scan(RecordedShare(recording), nil)
        let (context, requests) = Self.context(recording)
        let helped = try scan(try Self.slow(recording), ListingQueue(context, threads: threads))
        #expect(helped.records == alone.records)
        #expect(helped.records.count == 300 + 299 * 2 + 298)
        #expect(helped.skipped == alone.skipped)
        #expect(helped.skipped.sorted() == ["path = folder7/...", "path = folder9/deep/..."])
        #expect(helped.isComplete)
        #expect(requests.count > 3, "the helpers did something")
    }

    @Test func `what helpers cannot list the scan lists itself`() throws {
        let recording = Self.recording(folders: 100)
        let alone = try scan(RecordedShare(recording), nil)
        let (context, requests) = Self.context(recording) { $0 % 2 == 0 }
        let helped = try scan(try Self.slow(recording), ListingQueue(context, threads: 4))
        #expect(helped.records == alone.records)
        #expect(requests.count > 1)
    }

    /// Says when so many folders were listed.
    private final class CountedShare: Share {
        let share: RecordedShare
        let enough: DispatchSemaphore
        private var left: Int
        private let pause: UInt32
        var options: ShareOptions { share.options }

        /// - Parameter pause: How long each listing takes, in microseconds.
        init(
            _ recording: RecordedShare.Recording, folders: Int, _ enough: DispatchSemaphore, pause: UInt32 = 0
        ) throws {
            self.pause = pause
            share = try RecordedShare(recording)
            left = folders
            self.enough = enough
        }

        func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
            left -= 1
            if left == 0 { enough.signal() }
            usleep(pause)
            return try share.list(folder, fileIDs: fileIDs)
        }

        func read(
            _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
        ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
            try share.read(path, offset: offset, limit: limit, expecting: expected, growing: growing)
        }

        func owners(of path: [String]) throws(SMBFailure) -> Owners { try share.owners(of: path) }
    }

    @Test func `while a helper is at the next folder the scan lists those behind it`() throws {
        let recording = Self.recording(folders: 60)
        let alone = try scan(RecordedShare(recording), nil)
        let enough = DispatchSemaphore(value: 0)
        let waited = Counter()
        // The helper answers its first request when the scan has listed fifteen folders by itself.
        let (context, _) = Self.context(recording) { number in
            if number == 1, enough.wait(timeout: .now() + 20) == .timedOut { _ = waited.next() }
            return false
        }
        let share = try CountedShare(recording, folders: 15, enough)
        let section = BridgeOptions(["files": "**", "directories": true])
        let helped = try Scan(
            EntitySection.source(
                FetchRequest(entity: "File", section: section), share: share, queue: ListingQueue(context, threads: 1)))
        #expect(waited.count == 0, "the scan waited for the helper")
        #expect(helped.records == alone.records)
        #expect(helped.skipped.sorted() == alone.skipped.sorted())
    }

    @Test func `a helper that never answers does not stop the scan`() throws {
        let recording = Self.recording(folders: 60)
        let alone = try scan(RecordedShare(recording), nil)
        let release = DispatchSemaphore(value: 0)
        let (context, requests) = Self.context(recording) { _ in
            _ = release.wait(timeout: .now() + 60)
            return true
        }
        let start = ContinuousClock.now
        let helped = try scan(try Self.slow(recording), ListingQueue(context, threads: 2, patience: 0.2))
        for _ in 1...2 { release.signal() }
        #expect(requests.count > 0, "no helper was asked")
        #expect(ContinuousClock.now - start < .seconds(30), "the scan waited for the helpers' end")
        #expect(helped.records == alone.records)
        #expect(helped.isComplete == alone.isComplete)
    }

    @Test func `a cancelled scan does not wait for a helper`() throws {
        let recording = Self.recording(folders: 40)
        let release = DispatchSemaphore(value: 0)
        // The helper answers nothing until the scan has ended.
        let (context, _) = Self.context(recording) { _ in
            _ = release.wait(timeout: .now() + 60)
            return true
        }
        // By then the scan has listed all folders but those of the helper, for which it waits.
        let enough = DispatchSemaphore(value: 0)
        let share = try CountedShare(recording, folders: 30, enough, pause: 1000)
        let section = BridgeOptions(["files": "*/*"])
        nonisolated(unsafe) let source = try EntitySection.source(
            FetchRequest(entity: "File", section: section), share: share, queue: ListingQueue(context, threads: 1))
        let failure = Monitor<(any Error)?>(nil)
        let scan = NativeThread.detach {
            do {
                while try !source.next(into: RecordBatchWriter()).isEnd {}
                failure.change { $0 = BridgeError(.internal, "it came to its end") }
            } catch {
                failure.change { $0 = error }
            }
        }
        #expect(scan)
        _ = enough.wait(timeout: .now() + 20)
        // A moment for the scan to begin to wait; without it the test still holds.
        usleep(100_000)
        source.cancel()
        let error = failure.wait(seconds: 20) { $0 }
        release.signal()
        #expect((error as? BridgeError)?.code == .cancelled, "\(String(describing: error))")
    }

    @Test(arguments: [false, true])
    func `a link that leads to no server is left out, and the rest is complete`(hasHelpers: Bool) throws {
        var recording = Self.recording(folders: 30)
        let index = try #require(recording.folders[""]?.entries.firstIndex { $0.name == "folder12" })
        recording.folders[""]?.entries[index].attributes = 0x410
        recording.folders["folder12"] = RecordedShare.Folder(error: "EINPROGRESS")
        let (context, _) = Self.context(recording)
        let scan = try scan(RecordedShare(recording), hasHelpers ? ListingQueue(context, threads: 1) : nil)
        #expect(scan.isComplete)
        #expect(scan.skipped.contains("path = folder12/..."))
        #expect(
            scan.warnings.contains(
                "the folder folder12 is a link that cannot be followed (cannot list folder12: no server answers at "
                    + "its target): its contents are unknown"), "\(scan.warnings)")
        #expect(scan.values("path").contains(#""folder29/ü.txt""#))
    }

    @Test func `a share with few folders starts no helper`() throws {
        let recording = Self.recording(folders: 10)
        let (context, requests) = Self.context(recording)
        _ = try scan(RecordedShare(recording), ListingQueue(context, threads: 4))
        #expect(requests.count == 0)
    }
}
