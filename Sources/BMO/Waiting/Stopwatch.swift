/// The time since it was made, by a clock of any kind.
struct Stopwatch: Sendable {
    /// About 30 years: clocks of the system cannot represent every later moment, and trap.
    private static let longest = Duration.seconds(1_000_000_000)

    private let read: @Sendable () -> Duration
    private let pause: @Sendable (Duration) async throws -> Void

    init(_ clock: some _Concurrency.Clock<Duration>) {
        let start = clock.now
        read = { start.duration(to: clock.now) }
        pause = { try await clock.sleep(for: max(.zero, min($0, Self.longest))) }
    }

    /// The time since the stopwatch was made.
    var elapsed: Duration { read() }

    /// Sleeps for a time of the clock.
    func sleep(for duration: Duration) async throws { try await pause(duration) }
}
