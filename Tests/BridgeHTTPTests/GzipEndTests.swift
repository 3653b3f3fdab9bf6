import Testing

@testable import BridgeHTTP

/// The end of gzip data in the raw bytes of a body, wherever these are split.
@Suite struct GzipEndTests {
    /// Stands for data of 300 bytes: only the number at the end counts.
    private static let body = (0..<30).map { UInt8($0) | 0x80 } + [44, 1, 0, 0]

    private static func end(_ bytes: [UInt8], splitAt size: Int, isChunked: Bool = false) -> GzipEnd {
        var end = GzipEnd(isChunked: isChunked)
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(bytes.count, start + size)].withUnsafeBytes { end.append($0) }
        }
        return end
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `the number of bytes at the end shows whether it is the end`(size: Int) {
        let whole = Self.end(Self.body, splitAt: size)
        #expect(whole.count == 34 && !whole.isCut(after: 300))
        #expect(whole.isCut(after: 299))
        for count in 1..<Self.body.count {
            #expect(Self.end(Array(Self.body.prefix(count)), splitAt: size).isCut(after: 300), "\(count)")
        }
        #expect(!Self.end([], splitAt: size).isCut(after: 0), "a reply without a body")
    }

    @Test func `a few bytes behind the data do not hide it`() {
        #expect(!Self.end(Self.body + [UInt8](repeating: 9, count: 20), splitAt: 5).isCut(after: 300))
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `chunks are taken off`(size: Int) {
        let lines = ["10;name=1\r\n", "\r\n012 \r\n", "\r\n0;x\r\nTrailer: 5\r\n\r\n"].map { Array($0.utf8) }
        let text = lines[0] + Self.body[..<16] + lines[1] + Self.body[16...] + lines[2]
        let end = Self.end(text, splitAt: size, isChunked: true)
        #expect(end.count == 34 && !end.isCut(after: 300) && end.isCut(after: 301))
    }
}
