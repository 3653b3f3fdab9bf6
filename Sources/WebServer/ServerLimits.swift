/// The limits that keep a client from exhausting the server's memory and time.
package struct ServerLimits: Sendable {
    /// The maximum size of the request line and the header fields, in bytes.
    package var headBytes = 16 << 10
    /// The maximum size of a body, in bytes.
    package var bodyBytes = 1 << 20
    /// The time for a request to arrive completely.
    package var requestTime: Duration = .seconds(10)
    /// The time for a client to receive a response.
    package var responseTime: Duration = .seconds(30)
    /// The number of connections at a time; further ones are closed.
    package var connections = 64

    /// Creates the default limits.
    package init() {}
}
