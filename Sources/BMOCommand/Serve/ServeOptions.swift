internal import ArgumentParser

/// Where the web interface listens, and who may see it.
struct ServeOptions: ParsableArguments {
    /// Where it listens by default.
    static let usualAddress = "127.0.0.1:0"

    @Option(
        help: ArgumentHelp(
            "Listen on this address: HOST, HOST:PORT or PORT; port 0 chooses a free one. (default: 127.0.0.1:0)",
            valueName: "address"))
    var listen: String?

    @Option(help: ArgumentHelp("Listen on a Unix socket instead, for a reverse proxy.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where to read the password: env:NAME or file:PATH. Programs may send it as a bearer token.",
            valueName: "place"))
    var password: String?

    @Option(
        name: .customLong("host"), parsing: .singleValue,
        help: ArgumentHelp(
            "Also answer under this host name or address, such as that of a reverse proxy; may be repeated.",
            valueName: "name"))
    var hosts: [String] = []

    /// Whether none of them is given.
    var areUsual: Bool { listen == nil && socket == nil && password == nil && hosts.isEmpty }
}
