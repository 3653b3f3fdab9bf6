internal import Glibc

/// Splits bytes from a pipe into lines of limited length.
struct LineBuffer {
    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    /// The end of the bytes already searched for a line's end.
    private var seen = 0
    private(set) var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// Reads some of the available bytes; returns false at the end of the pipe.
    mutating func read(from descriptor: CInt) -> Bool {
        compact()
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var count: Int
        repeat { count = Glibc.read(descriptor, &chunk, chunk.count) } while count < 0 && errno == EINTR
        if count < 0 { return errno == EAGAIN }
        bytes += chunk[..<count]
        isTooLong = bytes.count - start > limit && !bytes[start...].prefix(limit).contains(UInt8(ascii: "\n"))
        return count > 0
    }

    private mutating func compact() {
        guard start > 0 else { return }
        bytes.removeFirst(start)
        seen -= start
        start = 0
    }

    /// Returns the next complete line, without its end.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[seen...].firstIndex(of: UInt8(ascii: "\n")) else {
            seen = bytes.count
            return nil
        }
        let line = Array(bytes[start..<end])
        start = end + 1
        seen = start
        return line
    }

    /// Removes and returns the bytes after the last line's end.
    mutating func rest() -> [UInt8]? {
        guard start < bytes.count else { return nil }
        defer { (start, seen) = (bytes.count, bytes.count) }
        return Array(bytes[start...])
    }
}
