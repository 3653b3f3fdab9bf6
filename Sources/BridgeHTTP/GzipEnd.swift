/// Watches the raw bytes of a gzip body for the end of its data: libcurl takes a body that breaks off for whole where nothing but
/// the end of the connection, or a proxy that did not notice, says where it ends.
///
/// The data end in the number of bytes that they hold (RFC 1952, section 2.3.1). So the last bytes are all that is kept.
struct GzipEnd {
    /// How many bytes of the body came, without what frames them.
    private(set) var count = 0
    private var chunks: ChunkScanner?
    private var tail: [UInt8] = []

    /// Some servers send a few bytes more, which not every libcurl refuses.
    private static let tailSize = 64
    /// A head and the shortest data before the number.
    private static let leastBefore = 14

    /// - Parameter isChunked: Whether the body comes in chunks.
    init(isChunked: Bool) { chunks = isChunked ? ChunkScanner() : nil }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard chunks != nil else { return keep(bytes[...]) }
        var rest = bytes[...]
        while let data = chunks?.next(&rest) { keep(data) }
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        count += bytes.count
        tail.append(contentsOf: bytes.suffix(Self.tailSize))
        if tail.count > Self.tailSize { tail.removeFirst(tail.count - Self.tailSize) }
    }

    /// Whether the body ended before its data, which were decompressed to so many bytes.
    func isCut(after size: Int) -> Bool {
        guard count > 0 else { return false }
        let wanted = withUnsafeBytes(of: UInt32(truncatingIfNeeded: size).littleEndian) { Array($0) }
        let first = max(0, Self.leastBefore - (count - tail.count))
        guard first + 4 <= tail.count else { return true }
        return !(first...tail.count - 4).contains { tail[$0..<$0 + 4].elementsEqual(wanted) }
    }
}

/// Finds the data in a chunked body (RFC 9112, section 7.1), which may be split anywhere.
private struct ChunkScanner {
    private enum State {
        /// In the line that tells a chunk's size, which it is so far.
        case size(Int, isOver: Bool)
        case data(left: Int)
        /// In the line end behind the data.
        case end
        /// Behind the last chunk.
        case over
    }

    private var state = State.size(0, isOver: false)

    /// The next piece of data, which is taken off the bytes; nil when these have no more.
    mutating func next(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        while let byte = bytes.first {
            switch state {
            case .data(let left):
                let data = bytes.prefix(left)
                bytes = bytes.dropFirst(data.count)
                state = data.count < left ? .data(left: left - data.count) : .end
                return data
            case .size(let size, let isOver):
                bytes = bytes.dropFirst()
                if byte == UInt8(ascii: "\n") {
                    state = size == 0 ? .over : .data(left: size)
                } else if !isOver, let digit = Character(UnicodeScalar(byte)).hexDigitValue, size < Int.max >> 8 {
                    state = .size(size << 4 | digit, isOver: false)
                } else {
                    // What follows is an extension.
                    state = .size(size, isOver: true)
                }
            case .end:
                bytes = bytes.dropFirst()
                if byte == UInt8(ascii: "\n") { state = .size(0, isOver: false) }
            case .over: bytes = bytes.dropFirst(bytes.count)
            }
        }
        return nil
    }
}
