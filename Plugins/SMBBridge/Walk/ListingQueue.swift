import BridgeKit
import CSMBClient
import Glibc
import RecordBatch
import SystemCalls

/// A queue of folders that a scan will list soon, served by threads that each wait for a helper process.
///
/// The scan takes the folders in its own order, and lists itself any folder that a helper could not list. While a
/// helper still lists the folder that the scan needs, the scan lists a later one, so that it never waits while there is
/// work.
final class ListingQueue: Sendable {
    /// The maximum number of folders per request: a helper's work should outweigh the cost of the request.
    fileprivate static let portion = 8

    /// The reply to the scan for a folder.
    enum Answer {
        case listing(Result<SMBListing, SMBFailure>)
        /// The scan should list the folder itself.
        case unknown
        /// A helper is listing it. Meanwhile the scan should list this folder, report it with ``put(_:_:)``, and ask
        /// again.
        case meanwhile([String])
    }

    fileprivate enum Listing {
        case waiting, running
        case done(Result<SMBListing, SMBFailure>)
        /// No helper could list it.
        case failed
    }

    fileprivate struct State {
        var threads: Int
        var fileIDs = false
        var listings: [ExactPath: Listing] = [:]
        var waiting: [[String]] = []
        var running = 0
        var isStopped = false
    }

    private let context: BridgeContext
    private let state: Monitor<State>

    /// The time limit for a helper's answer, in seconds: longer than the host gives a helper.
    private let patience: Double

    /// - Parameters:
    ///   - threads: The number of processes that work in parallel.
    ///   - patience: The time limit for a helper's answer, in seconds.
    init(_ context: BridgeContext, threads: Int, patience: Double = 90) {
        self.context = context
        self.patience = patience
        state = Monitor(State(threads: threads))
        window = threads * Self.portion * 3
    }

    /// Limits the processes to half of the processors, because the share is near and more would only compete.
    func isNear() {
        let most = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) / 2)
        state.withLock { $0.threads = min($0.threads, most) }
    }

    /// The number of folders to queue ahead.
    let window: Int

    /// Queues the next folders; known ones keep their place.
    ///
    /// - Parameter fileIDs: Whether to include the ids of files.
    func expect(_ folders: [[String]], fileIDs: Bool) {
        state.change { state in
            guard !state.isStopped else { return }
            state.fileIDs = fileIDs
            for folder in folders where state.listings[ExactPath(folder)] == nil {
                state.listings[ExactPath(folder)] = .waiting
                state.waiting.append(folder)
            }
            while state.running < state.threads, !state.waiting.isEmpty,
                state.running * Self.portion < state.waiting.count, NativeThread.detach({ self.run() })
            {
                state.running += 1
            }
        }
    }

    /// Returns a helper's result for a folder.
    ///
    /// The host answers for a helper that hangs. Without an answer after ``patience``, the scan goes on without helpers.
    func take(_ folder: [String]) -> Answer {
        if let answer = state.wait(seconds: patience, { $0.take(folder) }) { return answer }
        context.log(.warning, "no answer from a helper within \(Int(patience)) s; listing without helpers")
        stop()
        return .unknown
    }

    /// Stores the scan's own result for a folder that it listed meanwhile.
    func put(_ folder: [String], _ result: Result<SMBListing, SMBFailure>) {
        state.withLock { $0.listings[ExactPath(folder)] = .done(result) }
    }

    /// Forgets a folder that the scan could not list meanwhile, so that it is listed in its turn.
    func giveBack(_ folder: [String]) {
        state.withLock { $0.listings[ExactPath(folder)] = nil }
    }

    /// Lets the threads end after their current work, and the scan wait for none of it.
    func stop() {
        state.change { state in
            state.isStopped = true
            state.waiting = []
        }
    }

    private func run() {
        while let (folders, fileIDs) = next() {
            let results = list(folders, fileIDs: fileIDs)
            state.change { state in
                for (folder, result) in zip(folders, results) {
                    state.listings[ExactPath(folder)] = result.map(Listing.done) ?? .failed
                }
            }
        }
    }

    /// Returns the next portion; nil if the thread should end.
    private func next() -> (folders: [[String]], fileIDs: Bool)? {
        // Two optionals: the outer one is nil as long as there is nothing to do.
        state.wait { state -> (folders: [[String]], fileIDs: Bool)?? in
            if state.isStopped { return .some(nil) }
            return state.waiting.isEmpty ? nil : (state.takePortion(), state.fileIDs)
        }
    }

    private func list(_ folders: [[String]], fileIDs: Bool) -> [Result<SMBListing, SMBFailure>?] {
        do {
            guard let batch = try context.work(ListingRelay.request(folders, fileIDs: fileIDs)),
                batch.count == folders.count
            else {
                return folders.map { _ in nil }
            }
            return folders.indices.map { ListingRelay.listing(batch[$0], of: folders[$0]) }
        } catch {
            context.log(.debug, "a helper could not list folders: \(error)")
            return folders.map { _ in nil }
        }
    }
}

extension ListingQueue.State {
    /// Returns the answer to the scan, or nil as long as it must wait.
    fileprivate mutating func take(_ folder: [String]) -> ListingQueue.Answer? {
        let path = ExactPath(folder)
        switch listings[path] {
        case .done(let result):
            listings[path] = nil
            return .listing(result)
        case nil: return .unknown
        case .failed:
            listings[path] = nil
            return .unknown
        case .waiting:
            // No helper has begun: listing it now is faster than waiting.
            listings[path] = nil
            waiting.removeAll { $0.isSame(as: folder) }
            return .unknown
        // The helper may take as long as its longest call, and a cancelled scan must end soon.
        case .running where isStopped: return .unknown
        case .running:
            guard !waiting.isEmpty else { return nil }
            let other = waiting.removeFirst()
            listings[ExactPath(other)] = .running
            return .meanwhile(other)
        }
    }

    /// Takes folders for one request: fewer towards the end, so that the scan does not wait for one last large portion.
    fileprivate mutating func takePortion() -> [[String]] {
        let folders = Array(waiting.prefix(min(ListingQueue.portion, max(1, waiting.count / 4))))
        waiting.removeFirst(folders.count)
        for folder in folders { listings[ExactPath(folder)] = .running }
        return folders
    }
}
