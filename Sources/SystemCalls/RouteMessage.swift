#if os(Linux)
/// A reply of rtnetlink, by `linux/netlink.h` and `linux/rtnetlink.h`; numbers are in the machine's order of bytes.
package enum RouteMessage: Equatable {
    /// What happens to packets on a route (rtm_type).
    package enum Kind: UInt8 {
        case unicast = 1
        case local = 2
    }

    /// The flags of a link (ifi_flags).
    package struct LinkFlags: OptionSet {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let up = LinkFlags(rawValue: 0x1)
        package static let loopback = LinkFlags(rawValue: 0x8)
        package static let running = LinkFlags(rawValue: 0x40)

        /// Whether it leads to other machines, and has a carrier.
        package var isUsable: Bool { isSuperset(of: [.up, .running]) && !contains(.loopback) }
    }

    /// The kernel refused the request with this error number, such as that of a missing route.
    case failure(Int32)
    /// A route, with the index of its link; nil for a kind that discards packets, or one that is not known.
    case route(Kind?, link: UInt32?)
    case link(LinkFlags)
    case other

    private static let headerSize = 16
    private static let error: UInt16 = 2
    private static let newLink: UInt16 = 16
    private static let getLink: UInt16 = 18
    private static let newRoute: UInt16 = 24
    private static let getRoute: UInt16 = 26
    private static let request: UInt16 = 1
    private static let destination: UInt16 = 1
    private static let outgoingLink: UInt16 = 4

    /// Reads the first message of a reply; nil if it is cut off.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        func number<Number: FixedWidthInteger>(_ type: Number.Type, at place: Int) -> Number? {
            guard place >= 0, place + MemoryLayout<Number>.size <= bytes.count else { return nil }
            return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: type) }
        }
        guard let length = number(UInt32.self, at: 0), let type = number(UInt16.self, at: 4),
            Int(length) >= Self.headerSize, Int(length) <= bytes.count
        else { return nil }
        switch type {
        case Self.error:
            guard let code = number(Int32.self, at: 16) else { return nil }
            self = .failure(code == .min ? .max : -code)
        case Self.newLink:
            guard let flags = number(UInt32.self, at: 24) else { return nil }
            self = .link(LinkFlags(rawValue: flags))
        case Self.newRoute:
            guard let kind = number(UInt8.self, at: 23) else { return nil }
            var link: UInt32?
            // Attributes after rtmsg, each of a length, a type and a value, and padded to four bytes.
            var place = 28
            while let size = number(UInt16.self, at: place), let type = number(UInt16.self, at: place + 2) {
                guard size >= 4, place + Int(size) <= Int(length) else { break }
                if type == Self.outgoingLink, size >= 8 { link = number(UInt32.self, at: place + 4) }
                place += (Int(size) + 3) & ~3
            }
            self = .route(Kind(rawValue: kind), link: link)
        default: self = .other
        }
    }

    /// Returns the question which route leads to an address.
    package static func question(routeTo address: RouteAddress) -> [UInt8] {
        var body = [address.family, UInt8(address.bytes.count * 8)] + [UInt8](repeating: 0, count: 10)
        body += Self.bytes(UInt16(4 + address.bytes.count)) + Self.bytes(destination) + address.bytes
        return message(getRoute, body)
    }

    /// Returns the question in which state a link is.
    package static func question(link: UInt32) -> [UInt8] {
        message(getLink, [0, 0, 0, 0] + bytes(link) + [UInt8](repeating: 0, count: 8))
    }

    private static func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
        bytes(UInt32(headerSize + body.count)) + bytes(type) + bytes(request) + [UInt8](repeating: 0, count: 8) + body
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}
#endif
