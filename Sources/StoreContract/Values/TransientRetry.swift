#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Runs a transaction again that failed for a transient reason; see ``StoreError/isTransient``.
///
/// The pauses double and are random up to their length, so that two transactions that met once do not meet again at the
/// same pace.
///
/// ```swift
/// let count = try TransientRetry.usual.run { try writeThePage() }
/// ```
package struct TransientRetry: Sendable {
    /// The number of runs, the first included.
    package let tries: Int
    /// The longest pause before the second run, in milliseconds; each further one is twice as long.
    package let firstPause: Int

    /// Six runs, with pauses of at most 50, 100, 200, 400 and 800 ms.
    package static let usual = TransientRetry(tries: 6, firstPause: 50)

    package init(tries: Int, firstPause: Int) {
        self.tries = tries
        self.firstPause = firstPause
    }

    /// The longest pause after a number of failures, in milliseconds.
    package func longestPause(after failures: Int) -> Int { firstPause << (failures - 1) }

    /// Runs `body` until it succeeds, fails for another reason, or has failed too often; blocks during the pauses.
    ///
    /// - Parameter body: A whole transaction, from its beginning; it leaves nothing behind when it throws.
    package func run<Result>(_ body: () throws -> Result) throws -> Result {
        var failures = 0
        while true {
            do {
                return try body()
            } catch let error as StoreError where error.isTransient && failures + 1 < tries {
                failures += 1
                pause(after: failures)
            }
        }
    }

    /// Blocks for a random time of at least half of the longest pause.
    package func pause(after failures: Int) {
        let longest = longestPause(after: failures)
        usleep(UInt32(Int.random(in: longest / 2...longest) * 1000))
    }
}
