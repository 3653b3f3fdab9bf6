import Testing

@testable import BridgeHTTP

/// Where zstd data end, wherever their bytes are split.
@Suite struct ZstandardScannerTests {
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// A skippable frame of two bytes; a frame with a window, a dictionary and a checksum of a raw, a repeated and an empty last block.
    private static let frames: [(name: String, bytes: [UInt8])] = [
        (
            "skippable, then single",
            [0x53, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9] + magic + [0x20, 3, 0x19, 0, 0, 1, 2, 3]
        ),
        (
            "all parts",
            magic + [0x05, 0x40, 7] + [0x10, 0, 0, 1, 2] + [0x82, 0, 0, 5] + [0x01, 0, 0] + [1, 2, 3, 4]
        ),
        ("wide sizes", magic + [0xC3] + [UInt8](repeating: 0, count: 13) + [0x09, 0, 0, 1]),
    ]

    private static func scanner(_ bytes: some Collection<UInt8>, splitAt size: Int) -> ZstandardScanner {
        let scanner = ZstandardScanner()
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            Array(rest.prefix(size)).withUnsafeBytes { scanner.scan($0) }
            rest = rest.dropFirst(size)
        }
        return scanner
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `data are over at the end of a frame, and nowhere before`(size: Int) {
        for (name, bytes) in Self.frames {
            #expect(Self.scanner(bytes, splitAt: size).isOver, "\(name)")
            for count in 0..<bytes.count {
                #expect(!Self.scanner(bytes.prefix(count), splitAt: size).isOver, "\(name) \(count)")
            }
        }
        let two = Self.frames[1].bytes + Self.frames[2].bytes
        #expect(Self.scanner(two, splitAt: size).isOver)
        #expect(!Self.scanner(two.dropLast(), splitAt: size).isOver)
        #expect(!Self.scanner([1, 2, 3, 4] + Self.frames[1].bytes, splitAt: size).isOver, "no zstd")
    }
}
