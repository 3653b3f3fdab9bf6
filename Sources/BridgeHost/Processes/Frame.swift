#if PLUGINS
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A message between the host and a child process: a header of 24 bytes, then up to two parts.
///
///     u32 length of both parts, u16 kind, u16 flags, u32 call, u32 fetch, u32 length of the first part, u32 zero
///
/// Both ends run the same executable on one machine, so the byte order is native and frames carry no version.
struct Frame: Sendable {
    enum Kind: UInt16, Sendable {
        case reply = 1
        case log, open, check, discover, write, fetchOpen, fetchNext, fetchClose, cancel, close
        /// `work` is the child's request to another process; `worked` is the answer to it, and to `share`.
        case work, worked
        /// The child's call about a text that processes share.
        case share
    }

    static let headerSize = 24
    /// Marks a ``Kind/reply`` or ``Kind/worked`` as a failure, or an ``Kind/open`` as that of a concurrent bridge.
    static let flag: UInt16 = 1
    /// Marks an ``Kind/open`` of a host that keeps texts which processes share.
    static let sharing: UInt16 = 2
    /// The maximum number of unanswered ``Kind/work`` and ``Kind/share`` frames per child; its other threads wait before they send.
    static let maxWork = 64

    var kind: Kind
    var flags: UInt16 = 0
    var call: UInt32 = 0
    var fetch: UInt32 = 0
    var first: ForeignBytes?
    var second: ForeignBytes?
}

/// The reason why bytes on a socket are not a valid frame.
struct FrameError: Error {
    let reason: String
}

/// Reads and writes frames on a stream socket.
struct FrameSocket: Sendable {
    let descriptor: CInt
    /// The size limits of the two parts, checked before memory is allocated.
    let limits: (first: Int, second: Int)

    /// Writes a whole frame; returns false when the peer is gone.
    func send(_ frame: Frame) -> Bool {
        let first = frame.first?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
        let second = frame.second?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
        defer { withExtendedLifetime(frame) {} }
        guard let length = UInt32(exactly: first.count + second.count) else { return false }
        var header: (UInt32, UInt16, UInt16, UInt32, UInt32, UInt32, UInt32) = (
            length, frame.kind.rawValue, frame.flags, frame.call, frame.fetch, UInt32(first.count), 0
        )
        return withUnsafeMutableBytes(of: &header) { header in
            send([UnsafeRawBufferPointer(header), first, second])
        }
    }

    private func send(_ parts: [UnsafeRawBufferPointer]) -> Bool {
        var vectors = parts.filter { !$0.isEmpty }.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        while !vectors.isEmpty {
            let sent = vectors.withUnsafeMutableBufferPointer { buffer in
                var message = msghdr()
                message.msg_iov = buffer.baseAddress
                message.msg_iovlen = buffer.count
                // Suppress SIGPIPE: a dead child must not end the host.
                return sendmsg(descriptor, &message, CInt(MSG_NOSIGNAL))
            }
            if sent < 0 {
                if errno == EINTR { continue }
                return false
            }
            var left = sent
            while let vector = vectors.first, left >= vector.iov_len {
                left -= vector.iov_len
                vectors.removeFirst()
            }
            if left > 0, let vector = vectors.first {
                vectors[0] = iovec(iov_base: vector.iov_base + left, iov_len: vector.iov_len - left)
            }
        }
        return true
    }

    /// Ends the connection for both sides: what was received can still be read, and then ``receive()`` returns nil.
    func shutDown() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Waits for a whole frame; returns nil when the peer is gone.
    func receive() throws(FrameError) -> Frame? {
        var header: (UInt32, UInt16, UInt16, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0, 0)
        guard withUnsafeMutableBytes(of: &header, { read(into: $0) }) else { return nil }
        guard let kind = Frame.Kind(rawValue: header.1) else { throw FrameError(reason: "unknown kind \(header.1)") }
        guard header.5 <= header.0 else { throw FrameError(reason: "a part longer than its frame") }
        let firstSize = Int(header.5)
        let secondSize = Int(header.0 - header.5)
        guard firstSize <= limits.first else {
            throw FrameError(reason: "a batch of \(firstSize) bytes; the limit is \(limits.first)")
        }
        guard secondSize <= limits.second else {
            throw FrameError(reason: "a page of \(secondSize) bytes; the limit is \(limits.second)")
        }
        var frame = Frame(kind: kind, flags: header.2, call: header.3, fetch: header.4)
        if firstSize > 0 {
            guard let part = try part(firstSize) else { return nil }
            frame.first = part
        }
        if secondSize > 0 {
            guard let part = try part(secondSize) else { return nil }
            frame.second = part
        }
        return frame
    }

    private func part(_ size: Int) throws(FrameError) -> ForeignBytes? {
        // malloc aligns to 16 bytes, as a batch requires.
        guard let memory = malloc(size) else { throw FrameError(reason: "no memory for \(size) bytes") }
        let bytes = ForeignBytes(heap: memory, count: size)
        return read(into: UnsafeMutableRawBufferPointer(start: memory, count: size)) ? bytes : nil
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < buffer.count {
            let count = systemRead(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            filled += count
        }
        return true
    }
}
#endif
