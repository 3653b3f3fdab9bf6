#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The time since an arbitrary start, which no change of the system's clock moves (CLOCK_MONOTONIC).
package enum MonotonicClock {
    package static var seconds: Double {
        let now = now
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    package static var nanoseconds: UInt64 {
        let now = now
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    package static var milliseconds: Int { Int(nanoseconds / 1_000_000) }

    private static var now: timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time
    }
}
