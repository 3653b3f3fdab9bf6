internal import Synchronization

/// Prints the addresses that begin sessions, one at a time.
final class AddressPrinter: Sendable {
    private let place: ServePlace
    private let port = Mutex<Int?>(nil)

    init(_ place: ServePlace) { self.place = place }

    /// Prints the first address.
    ///
    /// - Parameter token: Begins a session; nil where a password does.
    func start(port: Int?, token: String?) {
        self.port.withLock { $0 = port }
        if let token { return print(token: token) }
        Swift.print("open \(place.origin(port: port))/")
        _ = Terminal.flushOutput()
    }

    /// Prints an address.
    func print(token: String) {
        let origin = place.origin(port: port.withLock { $0 })
        Swift.print("open \(origin)/login?token=\(token)")
        _ = Terminal.flushOutput()
    }
}
