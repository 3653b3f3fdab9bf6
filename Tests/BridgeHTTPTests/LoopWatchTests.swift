import Foundation
import Testing

@testable import BridgeHTTP

@Suite struct LoopWatchTests {
    private func expire(_ watch: LoopWatch) -> Bool {
        watch.enter(.init(seconds: 0.05, option: "timeout"))
        usleep(300_000)
        return watch.leave()
    }

    @Test func `a descriptor that another socket got is not shut down`() throws {
        let watch = LoopWatch()
        let watched = watch.open(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var pair: [Int32] = [0, 0]
        try #require(watched >= 0 && socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        // As after a close that the watch was not told of: the number now belongs to something else.
        try #require(dup2(pair[0], watched) == watched)
        #expect(expire(watch))
        watch.stop()
        var byte: UInt8 = 7
        #expect(write(pair[1], &byte, 1) == 1)
        #expect(read(watched, &byte, 1) == 1 && byte == 7)
        for descriptor in [watched] + pair { close(descriptor) }
    }

    @Test func `a socket of its own is`() throws {
        let watch = LoopWatch()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let watched = watch.open(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(server)
            close(watched)
        }
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                var length = size
                return bind(server, raw, size) == 0 && listen(server, 1) == 0 && getsockname(server, raw, &length) == 0
                    && connect(watched, raw, size) == 0
            }
        }
        try #require(isConnected)
        #expect(expire(watch))
        watch.stop()
        var byte: UInt8 = 0
        #expect(read(watched, &byte, 1) == 0, "the end of the connection")
    }
}
