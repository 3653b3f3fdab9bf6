#if os(Linux)
#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A socket over which the kernel reports changes of links, addresses and routes, and says where an address is reached:
/// rtnetlink(7).
package final class RouteSocket: Sendable {
    /// A call that failed.
    package struct Failure: Error, Equatable, Sendable {
        /// The name of the call.
        package let call: String
        /// The system's error number.
        package let number: Int32
    }

    /// What it hears of.
    package enum Changes: UInt32, Sendable {
        case none = 0
        /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
        case all = 0x551
    }

    private let descriptor: Int32

    /// Opens a socket.
    ///
    /// - Throws: ``Failure`` where the system has no netlink, as in some sandboxes.
    package init(hearing changes: Changes = .none) throws(Failure) {
        // SOCK_RAW and SOCK_CLOEXEC, whose types differ between C libraries.
        let descriptor = socket(AF_NETLINK, 3 | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        self.descriptor = descriptor
        // sockaddr_nl: family, padding, port (the kernel chooses one) and groups.
        var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, changes.rawValue)
        let isBound = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0 }
        }
        guard isBound else { throw Failure(call: "bind", number: errno) }
    }

    deinit { close(descriptor) }

    /// What ends a wait.
    package enum Event: Sendable {
        case change, timeLimit, stop
    }

    /// Waits for a change, and takes all that have come.
    ///
    /// - Parameters:
    ///   - stop: A descriptor that ends the wait once its other end is closed.
    ///   - milliseconds: The time limit; nil for none.
    package func next(orEndOf stop: Int32, milliseconds: Int32? = nil) -> Event {
        var descriptors = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&descriptors, 2, milliseconds ?? -1)
            if count < 0, errno == EINTR { continue }
            if count < 0 || descriptors[1].revents != 0 { return .stop }
            guard count > 0 else { return .timeLimit }
            // What was reported is asked for again: if the kernel had no room for a message (ENOBUFS), nothing is lost.
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                guard count > 0 || count < 0 && [ENOBUFS, EINTR].contains(errno) else { break }
            }
            return .change
        }
    }

    /// Returns whether packets to an address leave this machine now: there is a route, and its link is up and running.
    ///
    /// No packet is sent. An address of this machine is always reached.
    ///
    /// - Throws: ``Failure``.
    package func reaches(_ address: RouteAddress) throws(Failure) -> Bool {
        switch try ask(RouteMessage.question(routeTo: address)) {
        case .route(.local, _): return true
        case .route(.unicast, let link?):
            guard case .link(let flags) = try ask(RouteMessage.question(link: link)) else { return false }
            return flags.isUsable
        default: return false
        }
    }

    private func ask(_ question: [UInt8]) throws(Failure) -> RouteMessage {
        guard send(descriptor, question, question.count, 0) == question.count else {
            throw Failure(call: "send", number: errno)
        }
        // The kernel answers at once; the limit is for a system that does not.
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, 2000) < 0, errno == EINTR {}
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { throw Failure(call: "recv", number: errno) }
        return RouteMessage(buffer.prefix(count)) ?? .other
    }
}

/// An IP address, as rtnetlink has it.
package struct RouteAddress: Sendable, Equatable {
    let family: UInt8
    let bytes: [UInt8]

    /// Creates an address from its text, such as `192.0.2.1` or `2001:db8::1`; nil for anything else.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            (family, self.bytes) = (UInt8(AF_INET), Array(bytes.prefix(4)))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            (family, self.bytes) = (UInt8(AF_INET6), bytes)
        } else {
            return nil
        }
    }
}
#endif
