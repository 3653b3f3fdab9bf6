import Foundation
import Testing

/// A port of 127.0.0.1 that nobody serves: who connects to it is seen.
final class SilentPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(made >= 0)
        descriptor = made
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                bind(made, plain, size) == 0 && listen(made, 5) == 0 && getsockname(made, plain, &size) == 0
            }
        }
        try #require(status)
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }

    /// Whether anybody has connected so far.
    var wasCalled: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }
}
