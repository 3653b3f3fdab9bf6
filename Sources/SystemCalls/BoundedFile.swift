#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads files up to a limit, so that a large or an endless one does not fill the memory.
package enum BoundedFile {
    /// The reason why a file cannot be read.
    package enum Failure: Error, Equatable, Sendable {
        /// The path contains a NUL, at which the system would cut it off.
        case invalidPath
        /// The file cannot be opened; with the system's error number.
        case unopenable(Int32)
        /// The file was opened and cannot be read, as a folder; with the system's error number.
        case unreadable(Int32)
        /// The file is a folder, a pipe, a device or a socket, where only regular files are read.
        case irregular
        /// A pipe or a device gave no data within ``BoundedFile/patience``.
        case silent
        case tooLarge
    }

    /// The files that are read.
    package enum Kind: Sendable {
        /// All that have bytes, including pipes and devices.
        case any
        case regular
    }

    /// The time limit for data from a pipe or a device, in milliseconds.
    package static let patience: Int32 = 5000

    private static let chunkSize = 64 << 10

    /// Reads a file of at most `limit` bytes.
    package static func read(
        _ path: String, limit: Int, kind: Kind = .any, followsLinks: Bool = true
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        try scan(path, kind: kind, followsLinks: followsLinks) { chunk throws(Failure) in
            guard chunk.count <= limit - bytes.count else { throw .tooLarge }
            bytes += chunk
            return true
        }
        return bytes
    }

    /// Reads the first `count` bytes of a file, or all of a shorter one.
    package static func prefix(of path: String, _ count: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        try scan(path, kind: .any) { chunk throws(Failure) in
            bytes += chunk.prefix(count - bytes.count)
            return bytes.count < count
        }
        return bytes
    }

    /// Reads a file piece by piece, until its end or until `body` returns false.
    ///
    /// - Parameter followsLinks: Whether a symbolic link at the end of the path is followed; otherwise it cannot be opened.
    package static func scan(
        _ path: String, kind: Kind = .any, followsLinks: Bool = true,
        _ body: (ArraySlice<UInt8>) throws(Failure) -> Bool
    ) throws(Failure) {
        guard !path.utf8.contains(0) else { throw .invalidPath }
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw .unopenable(errno) }
        defer { close(descriptor) }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegular || kind == .any else { throw .irregular }
        var chunk = [UInt8](repeating: 0, count: chunkSize)
        while true {
            if !isRegular, status.st_mode & S_IFMT != S_IFDIR { try wait(for: descriptor) }
            let count = systemRead(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            guard count > 0, try body(chunk[..<count]) else { return }
        }
    }

    /// Waits until a read does not block.
    private static func wait(for descriptor: Int32) throws(Failure) {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var ready: Int32
        repeat { ready = poll(&waiting, 1, patience) } while ready < 0 && errno == EINTR
        guard ready != 0 else { throw .silent }
    }
}

extension BoundedFile.Failure {
    /// The system's words for the failure.
    package var words: String {
        let number =
            switch self {
            case .unopenable(let number), .unreadable(let number): number
            case .invalidPath, .irregular: EINVAL
            case .silent: ETIMEDOUT
            case .tooLarge: EFBIG
            }
        return String(cString: strerror(number))
    }
}
