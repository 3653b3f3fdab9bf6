internal import Glibc
internal import RecordBatch

/// The wall clock, in the form that the tables use.
package enum Clock {
    /// Now as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, UTC.
    package static func now() -> String { text(secondsAgo: 0) }

    /// A moment after now, in the same form.
    package static func text(after pause: Duration) -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, attoseconds) = pause.components
        return Timestamp.text(
            microseconds: (Int64(time.tv_sec) + seconds) * 1_000_000 + Int64(time.tv_nsec) / 1000
                + attoseconds / 1_000_000_000_000)
    }

    /// A moment before now, in the same form.
    package static func text(secondsAgo seconds: Int64) -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp.text(microseconds: (Int64(time.tv_sec) - seconds) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
