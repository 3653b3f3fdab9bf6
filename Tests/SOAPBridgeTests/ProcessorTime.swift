import Glibc

/// Processor time in seconds, which does not grow while others compute.
enum ProcessorTime {
    static func ofThread() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
