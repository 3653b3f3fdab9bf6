internal import RecordBatch
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The wall clock, in the format of the tables.
package enum Clock {
    /// Returns the current time as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, in UTC.
    package static func now() -> String { text(secondsAgo: 0) }

    /// Returns a time after now, in the same format.
    package static func text(after pause: Duration) -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let (seconds, attoseconds) = pause.components
        return Timestamp.text(
            microseconds: (Int64(time.tv_sec) + seconds) * 1_000_000 + Int64(time.tv_nsec) / 1000
                + attoseconds / 1_000_000_000_000)
    }

    /// Returns a time after `moment`, in the same format; a time after now if `moment` is not in that format.
    package static func text(_ moment: String, plus pause: Duration) -> String {
        guard let moment = Timestamp.microseconds(moment) else { return text(after: pause) }
        return Timestamp.text(microseconds: moment + Int64(clamping: Int64(pause / .microseconds(1))))
    }

    /// The time by which the clocks of two hosts may differ: much more, since a little waiting does less harm than a look-up
    /// too early.
    private static let tolerance: Duration = .seconds(86_400)

    /// Returns whether a noted time lies in the future: the clock was wrong when it was noted.
    ///
    /// - Parameter now: The time, in the same format.
    package static func isAhead(_ moment: String, of now: String) -> Bool { moment > text(now, plus: tolerance) }

    /// Returns a time before now, in the same format.
    package static func text(secondsAgo seconds: Int64) -> String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp.text(microseconds: (Int64(time.tv_sec) - seconds) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
