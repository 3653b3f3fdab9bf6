#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

// For types that have methods named as these functions, which hide them.

/// Reads bytes (read(2)).
package func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

/// Writes bytes (write(2)).
package func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// Opens a file (open(2)).
package func systemOpen(_ path: String, _ flags: CInt, _ mode: UInt16) -> CInt { open(path, flags, mode_t(mode)) }

/// Closes a descriptor (close(2)).
@discardableResult
package func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }

/// Sends a signal (kill(2)).
@discardableResult
package func systemKill(_ process: CInt, _ signal: CInt) -> CInt { kill(process, signal) }

/// Returns whether no further file can be opened, because this process or the machine has too many open.
package func hasTooManyOpenFiles() -> Bool {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor < 0 else {
        close(descriptor)
        return false
    }
    return errno == EMFILE || errno == ENFILE
}
