#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Detects the end of brotli data by decoding them a second time: only the last block is marked as last (RFC 7932,
/// section 9.2).
///
/// The decoder is the library that libcurl itself has loaded.
final class BrotliScanner: DataScanner {
    private typealias Create =
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> OpaquePointer?
    private typealias Destroy = @convention(c) (OpaquePointer?) -> Void
    private typealias Decode =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
            UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> Int32

    private struct Library: Sendable {
        let create: Create
        let destroy: Destroy
        let decode: Decode

        init?() {
            guard let handle = dlopen("libbrotlidec.so.1", RTLD_NOW),
                let create = dlsym(handle, "BrotliDecoderCreateInstance"),
                let destroy = dlsym(handle, "BrotliDecoderDestroyInstance"),
                let decode = dlsym(handle, "BrotliDecoderDecompressStream")
            else { return nil }
            self.create = unsafeBitCast(create, to: Create.self)
            self.destroy = unsafeBitCast(destroy, to: Destroy.self)
            self.decode = unsafeBitCast(decode, to: Decode.self)
        }
    }

    private static let library = Library()
    /// Whether the end of brotli data can be detected on this machine.
    static var isPossible: Bool { library != nil }

    /// Members of `BrotliDecoderResult`.
    private static let (isSuccess, needsInput, needsOutput): (Int32, Int32, Int32) = (1, 2, 3)

    private let library: Library
    private let decoder: OpaquePointer
    private let sink = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
    private(set) var isOver = false

    init?() {
        guard let library = Self.library, let decoder = library.create(nil, nil, nil) else { return nil }
        self.library = library
        self.decoder = decoder
    }

    deinit {
        library.destroy(decoder)
        sink.deallocate()
    }

    func scan(_ bytes: UnsafeRawBufferPointer) {
        var left = bytes.count
        var next = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        while !isOver {
            var room = sink.count
            var target = sink.baseAddress
            let result = library.decode(decoder, &left, &next, &room, &target, nil)
            isOver = result == Self.isSuccess
            guard result == Self.needsOutput else { return }
        }
    }
}
