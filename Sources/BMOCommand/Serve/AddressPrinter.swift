internal import RecordBatch
internal import SystemCalls

/// Prints the addresses that begin sessions, one at a time.
final class AddressPrinter: Sendable {
    private let place: ServePlace
    private let json: Bool
    private let output: EventOutput
    private let port = Mutex<Int?>(nil)

    /// - Parameter json: Whether each address is printed as a JSON object instead of a line of text.
    init(_ place: ServePlace, json: Bool, output: EventOutput) {
        self.place = place
        self.json = json
        self.output = output
    }

    /// Prints the first address.
    ///
    /// - Parameter token: Begins a session; nil where a password does.
    func start(port: Int?, token: String?) {
        self.port.withLock { $0 = port }
        if let token { return print(token: token) }
        show("\(place.origin(port: port))/")
    }

    /// Prints an address.
    func print(token: String) {
        let origin = place.origin(port: port.withLock { $0 })
        show("\(origin)/login?token=\(token)")
    }

    private func show(_ address: String) {
        output.print(
            json
                ? RecordBatchWriter.json { writer in
                    writer.member("event", "serve")
                    writer.member("open", address)
                } : "open \(address)")
    }
}
