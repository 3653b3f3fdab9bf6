internal import Glibc

extension WebServer {
    /// Returns why the server cannot listen on an address, and the remedy.
    static func words(_ number: CInt) -> String {
        switch number {
        case EADDRINUSE: "it is in use already; name another port, or 0 for any free one"
        case EADDRNOTAVAIL: "this machine does not have the address"
        case EACCES: "this user may not; name a port above 1023"
        default: strerror(number).map { String(cString: $0) } ?? "error \(number)"
        }
    }
}
