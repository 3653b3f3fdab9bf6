internal import Glibc

extension WebServer {
    /// Returns why the server cannot listen on an address, and the remedy.
    static func words(_ number: CInt) -> String {
        switch number {
        case EADDRINUSE: "the address is already in use; choose another port, or 0 for a free one"
        case EADDRNOTAVAIL: "this machine does not have the address"
        case EACCES: "this user is not permitted; choose a port above 1023"
        default: strerror(number).map { String(cString: $0) } ?? "error \(number)"
        }
    }
}
