package import BridgeKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Bytes needed again at the end of a reply: in memory at first, then in an unlinked temporary file.
///
/// Not thread-safe.
package final class SpillFile {
    /// The number of bytes kept in memory.
    package static let memory = 4 << 20

    private var buffer: [UInt8] = []
    private var file: Int32 = -1
    /// The number of bytes in the file; the buffer holds the bytes after them.
    private var written = 0

    /// The total number of bytes.
    package var count: Int { written + buffer.count }

    deinit { if file >= 0 { close(file) } }

    /// Creates an empty one.
    package init() {}

    /// Appends bytes and returns their position.
    @discardableResult
    package func append(_ bytes: some Collection<UInt8>) throws(BridgeError) -> Int {
        let place = count
        buffer.append(contentsOf: bytes)
        if buffer.count > Self.memory { try flush() }
        return place
    }

    /// Returns the bytes at a position.
    package func read(_ place: Int, count: Int) throws(BridgeError) -> [UInt8] {
        if place < written, place + count > written { try flush() }
        if place >= written { return Array(buffer[(place - written)..<(place - written + count)]) }
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress.map { $0 + done }, count - done, place + done)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw Self.failure("read back") }
            done += got
        }
        return bytes
    }

    private func flush() throws(BridgeError) {
        if file < 0 {
            let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            file = Self.nameless(in: folder)
            guard file >= 0 else { throw Self.failure("make a temporary file in \(folder) for") }
        }
        var done = 0
        while done < buffer.count {
            let put = buffer.withUnsafeBytes {
                pwrite(file, $0.baseAddress.map { $0 + done }, $0.count - done, written + done)
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { throw Self.failure("write") }
            done += put
        }
        written += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Creates an unlinked file, which disappears when its descriptor is closed.
    private static func nameless(in folder: String) -> Int32 {
        var template = Array("\(folder)/bmo-reply-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        if file >= 0 {
            unlink(template)
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        }
        return file
    }

    private static func failure(_ what: String) -> BridgeError {
        BridgeError(
            .limit, "can't \(what) the part of a reply that is needed later: \(String(cString: strerror(errno)))",
            remedy: "free some space, or set TMPDIR to a folder with space")
    }
}
