import BridgeKit
import CSMBClient
import Glibc
import RecordBatch

/// A queue of folders that a scan will list soon, served by threads that each wait for a helper process.
///
/// The scan takes the folders in its own order, and lists itself any folder that a helper could not list. While a
/// helper still lists the folder that the scan needs, the scan lists a later one, so that it never waits while there is
/// work.
final class ListingQueue: @unchecked Sendable {
    // `mutex` guards all mutable state.
    /// The maximum number of folders per request: a helper's work should outweigh the cost of the request.
    private static let portion = 8

    /// The reply to the scan for a folder.
    enum Answer {
        case listing(Result<SMBListing, SMBFailure>)
        /// The scan should list the folder itself.
        case unknown
        /// A helper is listing it. Meanwhile the scan should list this folder, report it with ``put(_:_:)``, and ask
        /// again.
        case meanwhile([String])
    }

    private enum State {
        case waiting, running
        case done(Result<SMBListing, SMBFailure>)
        /// No helper could list it.
        case failed
    }

    private let context: BridgeContext
    private var threads: Int
    private var fileIDs = false
    private var states: [[String]: State] = [:]
    private var waiting: [[String]] = []
    private var running = 0
    private var isStopped = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// - Parameter threads: The number of processes that work in parallel.
    init(_ context: BridgeContext, threads: Int) {
        self.context = context
        self.threads = threads
        window = threads * Self.portion * 3
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Limits the processes to half of the processors, because the share is near and more would only compete.
    func isNear() {
        locked { threads = min(threads, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) / 2)) }
    }

    /// The number of folders to queue ahead.
    let window: Int

    /// Queues the next folders; known ones keep their place.
    ///
    /// - Parameter fileIDs: Whether to include the ids of files.
    func expect(_ folders: [[String]], fileIDs: Bool) {
        locked {
            self.fileIDs = fileIDs
            for folder in folders where states[folder] == nil {
                states[folder] = .waiting
                waiting.append(folder)
            }
            while running < threads, !waiting.isEmpty, running * Self.portion < waiting.count, start() { running += 1 }
            pthread_cond_broadcast(condition)
        }
    }

    /// Returns a helper's result for a folder.
    func take(_ folder: [String]) -> Answer {
        locked {
            while let state = states[folder] {
                switch state {
                case .done(let result):
                    states[folder] = nil
                    return .listing(result)
                case .failed:
                    states[folder] = nil
                    return .unknown
                case .waiting:
                    // No helper has begun: listing it now is faster than waiting.
                    states[folder] = nil
                    waiting.removeAll { $0 == folder }
                    return .unknown
                case .running where waiting.isEmpty: pthread_cond_wait(condition, mutex)
                case .running:
                    let other = waiting.removeFirst()
                    states[other] = .running
                    return .meanwhile(other)
                }
            }
            return .unknown
        }
    }

    /// Stores the scan's own result for a folder that it listed meanwhile.
    func put(_ folder: [String], _ result: Result<SMBListing, SMBFailure>) {
        locked { states[folder] = .done(result) }
    }

    /// Forgets a folder that the scan could not list meanwhile, so that it is listed in its turn.
    func giveBack(_ folder: [String]) {
        locked { states[folder] = nil }
    }

    /// Lets the threads end after their current work.
    func stop() {
        locked {
            isStopped = true
            waiting = []
            pthread_cond_broadcast(condition)
        }
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func start() -> Bool {
        let owner = Unmanaged.passRetained(self)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread: pthread_t = 0
        let failed = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<ListingQueue>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, owner.toOpaque())
        if failed != 0 { owner.release() }
        return failed == 0
    }

    private func run() {
        while let (folders, fileIDs) = next() {
            let results = list(folders, fileIDs: fileIDs)
            locked {
                for (folder, result) in zip(folders, results) { states[folder] = result.map(State.done) ?? .failed }
                pthread_cond_broadcast(condition)
            }
        }
    }

    /// Returns the next portion; nil if the thread should end.
    private func next() -> (folders: [[String]], fileIDs: Bool)? {
        locked {
            while waiting.isEmpty, !isStopped { pthread_cond_wait(condition, mutex) }
            guard !isStopped else { return nil }
            // Take smaller portions towards the end, so that the scan does not wait for one last large portion.
            let folders = Array(waiting.prefix(min(Self.portion, max(1, waiting.count / 4))))
            waiting.removeFirst(folders.count)
            for folder in folders { states[folder] = .running }
            return (folders, fileIDs)
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
