/// The limits that keep a client from exhausting the server's memory and time.
package struct ServerLimits: Sendable {
    /// The maximum size of the request line and the header fields, in bytes.
    package var headBytes = 16 << 10
    /// The maximum size of a body, in bytes.
    package var bodyBytes = 1 << 20
    /// The time for a request to arrive completely.
    package var requestTime: Duration = .seconds(10)
    /// The time for a client to take a part of a response; a body of more than 64 KiB has several.
    package var responseTime: Duration = .seconds(30)
    /// The bytes per second that a client must take of a longer response, beyond the time for a part.
    package var responseRate = 64 << 10
    /// The number of connections at a time; further ones are closed.
    package var connections = 64

    /// Creates the default limits.
    package init() {}
}
