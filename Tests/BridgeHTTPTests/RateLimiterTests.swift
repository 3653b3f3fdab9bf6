import Testing

@testable import BridgeHTTP

/// When requests may begin, by numbers alone.
@Suite struct RateLimiterTests {
    /// Returns the instants at which requests begin, with a clock that goes from `start` to `end` in steps.
    private func begin(_ limiter: inout RateLimiter, from start: Double, to end: Double) -> [Double] {
        stride(from: start, to: end, by: 0.001).filter { now in
            guard limiter.take(now: now) == nil else { return false }
            limiter.finish()
            return true
        }
    }

    @Test func `a process that has its limits alone may begin a second's requests at once`() {
        var limiter = RateLimiter(rate: 10, concurrency: 2)
        #expect(begin(&limiter, from: 0, to: 1).count == 19)
    }

    @Test func `a shared rate is divided, without a burst`() {
        var limiter = RateLimiter(rate: 40, concurrency: 16, sharing: .rate)
        #expect(begin(&limiter, from: 0, to: 1).isEmpty, "no part yet")
        limiter.divide(by: 4, now: 1)
        #expect((9...10).contains(begin(&limiter, from: 1, to: 2).count))
        limiter.divide(by: 2, now: 2)
        #expect((19...20).contains(begin(&limiter, from: 2, to: 3).count))
        // The pause is not made up for.
        #expect((20...21).contains(begin(&limiter, from: 10, to: 11).count))
        limiter.divide(by: 0, now: 11)
        #expect(begin(&limiter, from: 11, to: 12).isEmpty)
    }

    @Test func `a shared number of requests is divided, and a smaller part is exceeded until requests end`() {
        var limiter = RateLimiter(rate: nil, concurrency: 5, sharing: .rateAndConcurrency)
        limiter.divide(by: 2, now: 0)
        #expect(limiter.take(now: 0) == nil && limiter.take(now: 0) == nil)
        #expect(limiter.take(now: 0) == .infinity)
        #expect(!limiter.isExceeded)
        limiter.divide(by: 5, now: 1)
        #expect(limiter.isExceeded)
        limiter.finish()
        #expect(!limiter.isExceeded && limiter.take(now: 1) == .infinity)
        limiter.finish()
        #expect(limiter.take(now: 1) == nil)
        limiter.divide(by: 0, now: 2)
        #expect(limiter.isExceeded)
    }

    @Test func `a number of requests that is not set is not divided`() {
        var limiter = RateLimiter(rate: nil, concurrency: 16, sharing: .rate)
        limiter.divide(by: 100, now: 0)
        for _ in 1...16 { #expect(limiter.take(now: 0) == nil) }
        #expect(limiter.take(now: 0) == .infinity)
    }
}
