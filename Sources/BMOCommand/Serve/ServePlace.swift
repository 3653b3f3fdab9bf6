internal import Foundation
internal import WebPage
internal import WebServer

/// Where the page listens, by `--listen` or `--socket`.
struct ServePlace: Sendable {
    let address: WebServer.Address

    /// Reads the options.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage for an address that cannot be parsed.
    init(listen given: String?, socket: String?) throws {
        if let socket {
            guard given == nil else {
                throw CommandFailure("--listen and --socket cannot be combined", exitCode: CommandFailure.usage)
            }
            guard socket.utf8.count <= Self.longestPath else {
                throw CommandFailure(
                    "the path of --socket has \(socket.utf8.count) bytes, and that of a socket may have "
                        + "\(Self.longestPath); name a shorter one", exitCode: CommandFailure.usage)
            }
            address = .unix(path: socket)
            return
        }
        let listen = given ?? ServeOptions.usualAddress
        func failure() -> CommandFailure {
            CommandFailure(
                "the value \"\(listen)\" of --listen is not an address; use a form like 127.0.0.1:8080, [::1]:8080 or 8080",
                exitCode: CommandFailure.usage)
        }
        if let port = UInt16(listen) {
            address = .tcp(host: "127.0.0.1", port: Int(port))
            return
        }
        var host = listen[...]
        var port = 0
        if listen.hasPrefix("[") {
            guard let end = listen.firstIndex(of: "]") else { throw failure() }
            host = listen[listen.index(after: listen.startIndex)..<end]
            let rest = listen[listen.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":", let number = UInt16(rest.dropFirst()) else { throw failure() }
                port = Int(number)
            }
        } else if let mark = listen.firstIndex(of: ":") {
            host = listen[..<mark]
            guard let number = UInt16(listen[listen.index(after: mark)...]) else { throw failure() }
            port = Int(number)
        }
        guard !host.isEmpty else { throw failure() }
        if !listen.contains(":") {
            // `8080x` is a port with a mistake; a host such as a container's `3f2a1bc9d0e4` has a port beside it.
            let isNumber = host.first?.isNumber == true && !host.contains(".")
            guard !isNumber, !host.contains(" ") else { throw failure() }
        }
        address = .tcp(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
    }

    /// The maximum size of a socket's path, in bytes, without the NUL at its end.
    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// The path of the socket; nil for a port.
    var socket: String? { if case .unix(let path) = address { path } else { nil } }

    /// Whether only this machine reaches the page.
    var isLocal: Bool {
        switch address {
        case .tcp(let host, _):
            host == "::1" || host.hasPrefix("127.") && host.split(separator: ".").allSatisfy { UInt8($0) != nil }
        case .unix: true
        }
    }

    /// Returns the host names under which the page answers.
    func hosts(with names: [String]) -> HostRule {
        switch address {
        case .tcp(let host, _) where !isLocal:
            let isAny = ["0.0.0.0", "::"].contains(host)
            return HostRule(names: Set(names + (isAny ? [] : [bracketed(host)])), allowsAddresses: isAny)
        case .tcp(let host, _):
            return HostRule(
                names: HostRule.loopback.names.union(names).union([bracketed(host)]), allowsAddresses: false)
        case .unix: return HostRule(names: HostRule.loopback.names.union(names), allowsAddresses: false)
        }
    }

    /// Returns the beginning of the page's addresses.
    func origin(port: Int?) -> String {
        switch address {
        case .tcp(let host, _):
            "http://\(bracketed(["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host)):\(port ?? 80)"
        case .unix: "http://localhost"
        }
    }

    private func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Removes the socket that an ended process left.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage if the file is not a socket, or a process listens on it.
    func prepare() throws {
        guard case .unix(let path) = address else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw CommandFailure(
                "\(path) exists and is not a socket; name another file", exitCode: CommandFailure.usage)
        }
        guard !Self.isListenedOn(path) else {
            throw CommandFailure("another process listens on \(path)", exitCode: CommandFailure.usage)
        }
        unlink(path)
    }

    private static func isListenedOn(_ path: String) -> Bool {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count <= longestPath else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
