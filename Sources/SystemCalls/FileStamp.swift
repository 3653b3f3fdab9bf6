#if canImport(Darwin)
package import Darwin
#elseif canImport(Musl)
package import Musl
#else
package import Glibc
#endif

/// Identifies the content of a file without reading it: its device, inode and size, and the times of the last change of
/// its content and of its inode; the latter cannot be set back.
///
/// A file system's clock has ticks, so that two changes shortly after each other can have the same time: a stamp says
/// nothing of changes that come less than ``tick`` after the last one that it knows.
package struct FileStamp: Equatable, Sendable {
    /// The stamp as text, without line breaks.
    package let text: String
    /// The file.
    package let identity: FileIdentity
    /// The time of the last change, since 1970.
    package let changed: Duration
    /// Whether the file system notes only whole seconds, or the file was changed at the beginning of one.
    package let hasWholeSeconds: Bool
    /// The size of the file, in bytes.
    package let size: Int64
    /// Whether the file belongs to the user of this process, and other users cannot write it.
    package let isPrivate: Bool

    /// The longest tick of file systems whose times have fractions of a second.
    package static let tick: Duration = .milliseconds(20)

    /// Returns nil if the file does not exist, or cannot be looked at.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        let (content, inode) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (content, inode) = (status.st_mtim, status.st_ctim)
        #endif
        text = "\(status.st_dev):\(status.st_ino):\(status.st_size):\(Self.text(content)):\(Self.text(inode))"
        identity = FileIdentity(of: status)
        changed = Self.sinceEpoch(inode)
        hasWholeSeconds = content.tv_nsec == 0 || inode.tv_nsec == 0
        size = Int64(status.st_size)
        isPrivate = status.st_uid == geteuid() && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    /// The stamp of the running program; nil if its file is not known, as on Apple's systems.
    package static var ofProgram: FileStamp? {
        #if os(Linux)
        FileStamp("/proc/self/exe")
        #else
        nil
        #endif
    }

    /// The time since the last change of the file; nil if the clock cannot be read.
    package var age: Duration? {
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        return Self.sinceEpoch(now) - changed
    }

    /// Returns the time since 1970.
    ///
    /// 64 bits of nanoseconds would overflow in the year 2262, and a file's time can be set to a later one.
    package static func sinceEpoch(_ time: timespec) -> Duration {
        Duration(
            secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }

    private static func text(_ time: timespec) -> String { "\(time.tv_sec).\(time.tv_nsec)" }
}
