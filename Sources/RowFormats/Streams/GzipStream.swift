import BridgeKit
import CZlib

/// The content of a gzip file (RFC 1952), which may have several members.
package final class GzipStream: ByteStream {
    static let pieceBytes = 1 << 18

    private let source: any ByteStream
    private var stream = z_stream()
    private var input: [UInt8] = []
    private var used = 0
    private var isInMember = true
    /// Whether a member was complete.
    private var hasWhole = false
    /// Whether the current member has produced no output yet.
    private var isFresh = true

    /// - Throws: ``BridgeError`` if zlib has no memory.
    package init(_ source: any ByteStream) throws {
        self.source = source
        // 15 bits of window, and 16 for a gzip header.
        guard inflateInit2_(&stream, 15 + 16, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw BridgeError(.internal, "zlib has no memory")
        }
    }

    deinit { inflateEnd(&stream) }

    package func read() throws -> [UInt8]? {
        while true {
            if used == input.count {
                guard let piece = try source.read() else {
                    if isInMember { throw FileFault(reason: "ends in the middle of its gzip data") }
                    return nil
                }
                input = piece
                used = 0
            }
            if !isInMember {
                // Another member follows, or padding.
                while used < input.count, input[used] == 0 { used += 1 }
                if used == input.count { continue }
                inflateReset(&stream)
                isInMember = true
                isFresh = true
            }
            var status = Z_OK
            let output = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
                input.withUnsafeMutableBufferPointer { input in
                    stream.next_in = input.baseAddress.map { $0 + used }
                    stream.avail_in = UInt32(input.count - used)
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(buffer.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    used = input.count - Int(stream.avail_in)
                }
                count = buffer.count - Int(stream.avail_out)
            }
            switch status {
            case Z_STREAM_END:
                isInMember = false
                hasWhole = true
            case Z_OK, Z_BUF_ERROR: break
            case Z_DATA_ERROR where hasWhole && isFresh && output.isEmpty:
                throw FileFault(
                    reason: "has something after its gzip data that is not gzip (\(message))",
                    remedy: "remove it, or write the file again")
            default: throw FileFault(reason: "is not well-formed gzip: \(message)")
            }
            if !output.isEmpty {
                isFresh = false
                return output
            }
        }
    }

    private var message: String { stream.msg.map { String(cString: $0) } ?? "broken data" }
}
