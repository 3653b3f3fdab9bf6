internal import CZlib

/// Detects the end of gzip or deflate data by decoding them a second time.
///
/// Only the last block is marked as last (RFC 1951, section 3.2.3).
final class InflateScanner: DataScanner {
    enum Format {
        case gzip
        /// The zlib format as specified (RFC 1950), or raw deflate as some servers send it.
        case deflate
    }

    private let format: Format
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let sink = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    private var hasBegun = false
    private(set) var isOver = false

    init(_ format: Format) {
        self.format = format
        stream.initialize(to: z_stream())
    }

    deinit {
        if hasBegun { inflateEnd(stream) }
        stream.deallocate()
        sink.deallocate()
    }

    func scan(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver, let first = bytes.first, begin(first) else { return }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        repeat {
            stream.pointee.next_out = sink.baseAddress
            stream.pointee.avail_out = UInt32(sink.count)
            let code = inflate(stream, Z_NO_FLUSH)
            if code == Z_STREAM_END { isOver = true }
            // libcurl reports broken data; they have no end here.
            guard code == Z_OK else { return }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    }

    private func begin(_ first: UInt8) -> Bool {
        guard !hasBegun else { return true }
        // The first byte of the zlib format names deflate and a window of at most 32 KiB; no raw block begins like
        // that.
        let isBare = first & 0x0F != 8 || first >> 4 > 7
        let bits: Int32 = format == .gzip ? 31 : isBare ? -15 : 15
        hasBegun = inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        return hasBegun
    }
}
