import BridgeKit
import CSMBClient
import Glibc
import RecordBatch

/// Folders that a walk will list soon, shared by threads that each wait for a process of their own.
///
/// The walk asks for what it needs next, in its order; what a helper could not list the walk lists itself, and while a
/// helper is still at the folder that it needs, it lists one of those behind: nobody waits while there is something to do.
final class ListingQueue: @unchecked Sendable {
    // All that changes is used with `mutex` held only.
    /// Folders in one request, at most: a helper's answer should cost more than its asking.
    private static let portion = 8

    /// What the walk gets for a folder.
    enum Answer {
        case listing(Result<SMBListing, SMBFailure>)
        /// The walk should list the folder itself.
        case unknown
        /// A helper is at it: meanwhile the walk should list this one, say so with ``put(_:_:)``, and ask again.
        case meanwhile([String])
    }

    private enum State {
        case waiting, running
        case done(Result<SMBListing, SMBFailure>)
        /// No helper could.
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

    /// - Parameter threads: How many processes work at a time.
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

    /// The share is near: a process more than the processors can serve would only take time from the others.
    func isNear() {
        locked { threads = min(threads, max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) / 2)) }
    }

    /// How many folders it should know ahead.
    let window: Int

    /// Says which folders come next; those that it knows stay where they are.
    ///
    /// - Parameter fileIDs: Whether the ids of files are wanted.
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

    /// What a helper says of a folder.
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
                    // Nobody has begun: that is quicker done than waited for.
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

    /// What the walk found out of a folder that it listed meanwhile.
    func put(_ folder: [String], _ result: Result<SMBListing, SMBFailure>) {
        locked { states[folder] = .done(result) }
    }

    /// The walk could not list it meanwhile.
    func giveBack(_ folder: [String]) {
        locked { states[folder] = nil }
    }

    /// The threads end after what they do.
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

    /// The next portion; nil when the thread is to end.
    private func next() -> (folders: [[String]], fileIDs: Bool)? {
        locked {
            while waiting.isEmpty, !isStopped { pthread_cond_wait(condition, mutex) }
            guard !isStopped else { return nil }
            // Towards the end less at a time, so that nobody waits for the last portion alone.
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
