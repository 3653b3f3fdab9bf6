internal import Foundation

/// The number of files that this process may have open.
enum OpenFileLimit {
    /// The highest limit that bmo asks for, and the one after a refusal: macOS may allow only 10,240 (`OPEN_MAX`).
    ///
    /// The programs that bmo starts inherit it, and some of them close each descriptor that the limit allows.
    private static let tries: [rlim_t] = [65_536, 10_240]

    /// Raises the limit as far as a process may do so by itself.
    ///
    /// Systems set it low, to 1024 or 256, because select(2) knows no more files; bmo does not use it.
    static func raise() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        for most in tries {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, most)
            // The system may have a lower maximum of its own.
            guard limit.rlim_cur < raised.rlim_cur, setrlimit(resource, &raised) != 0 else { return }
        }
    }
}
