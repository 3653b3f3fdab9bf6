internal import Glibc
internal import Synchronization

/// An open file that can be locked; closed with its last reference.
final class Descriptor: Sendable {
    private let number: Mutex<Int32>

    /// Nil, with the reason in `errno`, when the file cannot be opened.
    init?(path: String, flags: Int32) {
        // Close on exec: a process that is started while the lock is held must not keep it.
        let number = open(path, flags | O_CLOEXEC, 0o666)
        guard number >= 0 else { return nil }
        self.number = Mutex(number)
    }

    deinit { close {} }

    /// Closes the file, after `body` the first time.
    func close(after body: () -> Void) {
        number.withLock { number in
            guard number >= 0 else { return }
            body()
            Glibc.close(number)
            number = -1
        }
    }

    /// Whether the lock could be taken at once; the reason is in `errno`.
    func lock(_ kind: Int32) -> Bool { number.withLock { flock($0, kind | LOCK_NB) } == 0 }

    /// Whether the path leads to this very file.
    func isStill(at path: String) -> Bool {
        var own = stat()
        var other = stat()
        guard number.withLock({ fstat($0, &own) }) == 0, stat(path, &other) == 0 else { return false }
        return own.st_ino == other.st_ino && own.st_dev == other.st_dev
    }

    /// The first 4 KiB as text.
    var contents: String {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = number.withLock { pread($0, buffer.baseAddress, buffer.count, 0) }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(max(0, count)), as: UTF8.self)
        }
    }

    /// Puts this text in place of the file's; what cannot be written is left out, since it is for people only.
    func replaceContents(_ text: String) {
        var text = text
        number.withLock { number in
            ftruncate(number, 0)
            _ = text.withUTF8 { pwrite(number, $0.baseAddress, $0.count, 0) }
        }
    }
}
