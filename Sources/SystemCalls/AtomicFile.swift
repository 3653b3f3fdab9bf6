#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Writes whole files: another process sees all of the new content or none of it.
package enum AtomicFile {
    /// The reason why a file cannot be written.
    package struct Failure: Error, Equatable, Sendable {
        /// The system's error number.
        package let number: Int32

        /// The number for a file that does not exist.
        package static let missing = ENOENT

        package init(number: Int32) { self.number = number }

        /// The system's words for it.
        package var words: String { String(cString: strerror(number)) }
    }

    /// Writes a file beside `path` and renames it to `path`, which it creates or replaces.
    ///
    /// - Parameters:
    ///   - mode: The permissions of the file, less those that the process's umask withholds.
    ///   - outlivesCrash: Whether the new content is on the disk once this returns.
    package static func write(
        _ bytes: some Collection<UInt8>, to path: String, mode: UInt32, outlivesCrash: Bool = false
    ) throws(Failure) {
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max))"
        try create(temporary, bytes, mode: mode, outlivesCrash: outlivesCrash)
        guard rename(temporary, path) == 0 else {
            let failure = Failure(number: errno)
            unlink(temporary)
            throw failure
        }
        guard outlivesCrash else { return }
        // The rename is on the disk once the folder is.
        let folder = open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Writes a file that does not exist yet, and removes it again if it cannot be written whole.
    ///
    /// - Throws: ``Failure``, with EEXIST if the file exists.
    package static func create(
        _ path: String, _ bytes: some Collection<UInt8>, mode: UInt32, outlivesCrash: Bool = false
    ) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        var number = writeAll(Array(bytes), to: descriptor)
        if outlivesCrash, number == 0, fsync(descriptor) != 0 { number = errno }
        if close(descriptor) != 0, number == 0 { number = errno }
        guard number != 0 else { return }
        unlink(path)
        throw Failure(number: number)
    }

    /// Returns the system's error number, or zero.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : ENOSPC }
                done += count
            }
            return 0
        }
    }
}
