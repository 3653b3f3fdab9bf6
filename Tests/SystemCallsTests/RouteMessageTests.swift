import SystemCalls
import Testing

/// What the kernel says of routes and links.
@Suite struct RouteMessageTests {
    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    private static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt32(16 + body.count)) + bytes(type) + [UInt8](repeating: 0, count: 10) + body
    }

    /// A route with an attribute that is skipped, of three bytes with padding, and its link.
    private static let route = message(
        24,
        [2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0] + bytes(UInt16(7)) + bytes(UInt16(15)) + [1, 2, 3, 0]
            + bytes(UInt16(8)) + bytes(UInt16(4)) + bytes(UInt32(9)))

    @Test func `replies are read`() {
        #expect(RouteMessage(Self.route) == .route(.unicast, link: 9))
        let unreachable = Self.message(2, Self.bytes(Int32(-101)))
        #expect(RouteMessage(unreachable) == .failure(101))
        let link = Self.message(16, [0, 0, 0, 0] + Self.bytes(UInt32(9)) + Self.bytes(UInt32(0x41)) + [0, 0, 0, 0])
        #expect(RouteMessage(link) == .link([.up, .running]))
        #expect(RouteMessage(Self.message(3, [])) == .other)
    }

    @Test(arguments: [
        (0x41, true), (0x49, false), (0x1, false), (0x40, false), (0, false),
    ])
    func `a link is usable that is up, has a carrier and leads elsewhere`(flags: UInt32, isUsable: Bool) {
        #expect(RouteMessage.LinkFlags(rawValue: flags).isUsable == isUsable)
    }

    @Test func `a reply that is cut off anywhere, or lies about its lengths, is harmless`() {
        for count in 0..<Self.route.count { #expect(RouteMessage(Self.route.prefix(count)) == nil) }
        for place in Self.route.indices {
            for value: UInt8 in [0, 1, 3, 255] {
                var changed = Self.route
                changed[place] = value
                if case .route(_, let link?) = RouteMessage(changed) { #expect(link > 0 || place >= 40) }
            }
        }
    }

    @Test func `addresses are those of IP`() {
        #expect(RouteAddress("192.0.2.1") != nil && RouteAddress("2001:db8::1") != nil)
        for text in ["", "example.com", "192.0.2", "192.0.2.1/24", "::1%lo", "192.0.2.1 "] {
            #expect(RouteAddress(text) == nil)
        }
    }

    @Test func `the kernel says that this machine reaches itself`() throws {
        let socket = try RouteSocket()
        #expect(try socket.reaches(try #require(RouteAddress("127.0.0.1"))))
    }
}
