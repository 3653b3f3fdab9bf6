/// Watches the raw bytes of a gzip body for the end of its data.
///
/// libcurl accepts a truncated body as complete if only the end of the connection, or a proxy that did not notice,
/// marks its end. The data end with their decompressed size (RFC 1952, section 2.3.1), so only the last bytes are kept.
struct GzipEnd: BodyEnd {
    /// The number of body bytes received, without framing.
    private(set) var count = 0
    private var chunks: ChunkScanner?
    private var tail: [UInt8] = []

    /// Some servers send a few extra bytes, which not every libcurl refuses.
    private static let tailSize = 64
    /// The size of a header and the shortest data before the size field.
    private static let leastBefore = 14

    /// - Parameter isChunked: Whether the body uses chunked transfer coding.
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

    /// Whether the body ended before its data, which were decompressed to `size` bytes.
    func isCut(after size: Int) -> Bool {
        guard count > 0 else { return false }
        let wanted = withUnsafeBytes(of: UInt32(truncatingIfNeeded: size).littleEndian) { Array($0) }
        let first = max(0, Self.leastBefore - (count - tail.count))
        guard first + 4 <= tail.count else { return true }
        return !(first...tail.count - 4).contains { tail[$0..<$0 + 4].elementsEqual(wanted) }
    }
}
