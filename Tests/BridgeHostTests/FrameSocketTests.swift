import Glibc
import Testing

@testable import BridgeHost

@Suite struct FrameSocketTests {
    private let near: CInt
    private let far: CInt

    init() throws {
        var sockets: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0)
        (near, far) = (sockets[0], sockets[1])
    }

    /// Ends a socket for all copies of it: a process that another test starts has copies until its `exec`.
    private func end(_ socket: CInt) {
        shutdown(socket, CInt(SHUT_RDWR))
        close(socket)
    }

    private func receive(_ bytes: [UInt8], first: Int = 100, second: Int = 100) throws -> Frame? {
        defer { close(near) }
        try #require(write(far, bytes, bytes.count) == bytes.count)
        end(far)
        return try FrameSocket(descriptor: near, limits: (first, second)).receive()
    }

    /// A header: length, kind, flags, call, fetch, first, zero.
    private func header(length: UInt32, kind: UInt16, first: UInt32) -> [UInt8] {
        let words: [UInt32] = [length, UInt32(kind), 7, 8, first, 0]
        return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    @Test func `a frame arrives as it was sent`() throws {
        let sent = Frame(
            kind: .reply, flags: Frame.flag, call: 3, fetch: 4, first: ForeignBytes(copying: "records"),
            second: ForeignBytes(copying: "page"))
        #expect(FrameSocket(descriptor: far, limits: (100, 100)).send(sent))
        let frame = try #require(try FrameSocket(descriptor: near, limits: (100, 100)).receive())
        #expect(frame.kind == .reply)
        #expect([UInt32(frame.flags), frame.call, frame.fetch] == [1, 3, 4])
        #expect(frame.first.map { String(decoding: $0.bytes, as: UTF8.self) } == "records")
        #expect(frame.second.map { String(decoding: $0.bytes, as: UTF8.self) } == "page")
        end(near)
        #expect(!FrameSocket(descriptor: far, limits: (100, 100)).send(sent), "a closed socket costs no SIGPIPE")
        close(far)
    }

    @Test func `a frame promising more than the limit is refused before it is read`() throws {
        let error = #expect(throws: FrameError.self) {
            try receive(header(length: 0xFFFF_FFF0, kind: 1, first: 0xFFFF_FFF0))
        }
        #expect(error?.reason == "a batch of 4294967280 bytes; the limit is 100")
    }

    @Test func `a page over the limit is refused`() throws {
        let error = #expect(throws: FrameError.self) { try receive(header(length: 101, kind: 1, first: 0)) }
        #expect(error?.reason == "a page of 101 bytes; the limit is 100")
    }

    @Test func `a part longer than its frame is refused`() throws {
        let error = #expect(throws: FrameError.self) { try receive(header(length: 5, kind: 1, first: 6)) }
        #expect(error?.reason == "a part longer than its frame")
    }

    @Test func `an unknown kind is refused`() throws {
        let error = #expect(throws: FrameError.self) { try receive(header(length: 0, kind: 99, first: 0)) }
        #expect(error?.reason == "unknown kind 99")
    }

    @Test(arguments: [0, 10, 24, 30])
    func `a frame that is cut off is the end`(count: Int) throws {
        let whole = header(length: 8, kind: 1, first: 4) + [1, 2, 3, 4, 5, 6, 7, 8]
        #expect(try receive(Array(whole[..<count])) == nil)
    }
}
