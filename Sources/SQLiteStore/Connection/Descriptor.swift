internal import StoreContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// An open file that can be locked; closed with its last reference.
final class Descriptor: Sendable {
    private let number: Mutex<Int32>

    /// Opens the file; nil, with the reason in `errno`, if that fails.
    init?(path: String, flags: Int32, mode: mode_t = 0o666) {
        // Close on exec: a process started while the lock is held must not inherit it.
        let number = open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { return nil }
        self.number = Mutex(number)
    }

    deinit { close {} }

    /// Closes the file once, after running `body`.
    func close(after body: () -> Void) {
        number.withLock { number in
            guard number >= 0 else { return }
            body()
            systemClose(number)
            number = -1
        }
    }

    /// Takes the lock without waiting; returns false, with the reason in `errno`, if that fails.
    func lock(_ kind: Int32) -> Bool { number.withLock { flock($0, kind | LOCK_NB) } == 0 }

    /// Returns whether the path still leads to this file.
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

    /// Replaces the file's contents with this text, which only people read; ignores write failures.
    func replaceContents(_ text: String) {
        var text = text
        number.withLock { number in
            ftruncate(number, 0)
            _ = text.withUTF8 { pwrite(number, $0.baseAddress, $0.count, 0) }
        }
    }
}
