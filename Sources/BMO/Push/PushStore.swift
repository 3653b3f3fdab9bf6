internal import Importer
internal import Model
internal import StoreContract

/// The store for a push, on its own thread, with retries while a sync has an open page.
///
/// The results of accepted edits must be recorded: giving up early would leave the edits unknown.
final class PushStore: Sendable {
    let store: any Store
    private let isImporting: @Sendable (any Store) throws -> Bool
    private let thread = ImportThread()
    private static let patience: Duration = .seconds(600)

    /// - Parameter isImporting: Whether a process holds the lock to write the database.
    init(_ store: any Store, isImporting: @escaping @Sendable (any Store) throws -> Bool) {
        self.store = store
        self.isImporting = isImporting
    }

    /// Runs `body`, with retries while another connection writes.
    func run<Result: Sendable>(_ body: @escaping @Sendable (any Store) throws -> Result) async throws -> Result {
        let end = ContinuousClock.now + Self.patience
        while true {
            do {
                return try await thread.run { [store] in try body(store) }
            } catch let error as StoreError where error.code == .busy && ContinuousClock.now < end {
                // Not cancelled: a started operation has to complete.
                await Task { try? await Task.sleep(for: .milliseconds(50)) }.value
            }
        }
    }

    /// Returns whether an object may be marked as listed.
    ///
    /// A running or interrupted scan may have passed the object's position before the object existed, and would take it
    /// for deleted. In that case only later scans count; so they do if the database cannot say whether one is running.
    func mayList(_ place: PushSender.Destination) async throws -> Bool {
        guard place.request.parent == nil else { return false }
        let scope = ScanScope(entity: place.entity.name)
        return try await run { [isImporting] store in
            guard let runs = try? isImporting(store), !runs else { return false }
            return try store.progress(of: scope) == nil
        }
    }
}

/// The delay after failures, which doubles each time, at a random point of the second half.
enum Backoff {
    static let first: Duration = .seconds(1)
    static let longest: Duration = .seconds(900)
    /// The longest pause that a remote's wish makes of it, a week.
    static let longestWish: Duration = .seconds(604_800)

    static func pause(
        afterFailures count: Int, atLeast least: Duration? = nil, first: Duration = first, longest: Duration = longest,
        random: Double = .random(in: 0..<1)
    ) -> Duration {
        var pause = min(first, longest)
        for _ in 1..<max(2, min(count, 64)) where pause < longest && count > 1 { pause = min(pause * 2, longest) }
        return max(pause * (0.5 + 0.5 * random), min(least ?? .zero, longestWish))
    }
}

extension OutboxEntry {
    /// Returns whether the time of its next try has come.
    ///
    /// It also has if it is further away than any pause: the clock was wrong when it was noted.
    func isDue(at now: String) -> Bool {
        guard let notBefore else { return true }
        return notBefore <= now || notBefore > Clock.text(now, plus: Backoff.longestWish)
    }

    /// Returns whether `grace` is over since it was sent, after which a missing edit will not arrive; nil if it is not known
    /// when it was sent.
    func isLate(at now: String, grace: Duration) -> Bool? {
        notBefore.map { Clock.text($0, plus: grace) <= now || Clock.isAhead($0, of: now) }
    }
}
