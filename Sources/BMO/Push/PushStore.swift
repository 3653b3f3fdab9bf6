internal import Importer
internal import Model
internal import SQLiteStore

/// The store as a push uses it: on a thread of its own, and patient while a page of a sync is open.
///
/// What the remote has done must come to be known here: giving up early would leave the edit unknown.
final class PushStore: Sendable {
    let store: SQLiteStore
    private let path: String
    private let thread = ImportThread()
    private static let patience: Duration = .seconds(600)

    init(_ store: SQLiteStore, path: String) {
        self.store = store
        self.path = path
    }

    /// Runs a piece of work, again while another connection is writing.
    func run<Result: Sendable>(_ body: @escaping @Sendable (SQLiteStore) throws -> Result) async throws -> Result {
        let end = ContinuousClock.now + Self.patience
        while true {
            do {
                return try await thread.run { [store] in try body(store) }
            } catch let error as StoreError where error.code == .busy && ContinuousClock.now < end {
                // Not cancelled: what is on its way comes to its end.
                await Task { try? await Task.sleep(for: .milliseconds(50)) }.value
            }
        }
    }

    /// Whether an object may be taken as listed.
    ///
    /// A walk that is on its way, or was interrupted, may have passed by the object's place before it was there: it would
    /// take it for gone. Only later walks count then.
    func mayList(_ place: PushSender.Place) async throws -> Bool {
        guard place.request.parent == nil, FileLock.holder(of: path) == nil else { return false }
        let scope = WalkScope(entity: place.entity.name)
        return try await run { try $0.progress(of: scope) } == nil
    }
}

/// How long to wait after failures: twice as long each time, at a random point of the second half.
enum Backoff {
    static let first: Duration = .seconds(1)
    static let longest: Duration = .seconds(900)

    static func pause(
        afterFailures count: Int, atLeast least: Duration? = nil, first: Duration = first, longest: Duration = longest,
        random: Double = .random(in: 0..<1)
    ) -> Duration {
        var pause = min(first, longest)
        for _ in 1..<max(2, min(count, 64)) where pause < longest && count > 1 { pause = min(pause * 2, longest) }
        return max(pause * (0.5 + 0.5 * random), least ?? .zero)
    }
}
