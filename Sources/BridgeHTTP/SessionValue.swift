internal import Synchronization

/// What the remote hands out in a header field and wants to have back: the option `session_header`.
final class SessionValue: Sendable {
    let header: String
    private let redactor: HTTPRedactor
    private let value = Mutex<String?>(nil)

    init(_ header: String, redactor: HTTPRedactor) {
        self.header = header
        self.redactor = redactor
    }

    /// The value that was handed out last.
    var current: String? { value.withLock { $0 } }

    /// A request with the value; the header field that the options set makes room for it.
    func add(to request: HTTPRequest) -> HTTPRequest {
        guard request.sendsCredentials, let current else { return request }
        var request = request
        request.headers.removeAll { $0.name.lowercased() == header.lowercased() }
        request.headers.append((name: header, value: current))
        return request
    }

    /// Statuses of servers that want another value than they got; a `429` hands out one too, and wants to be left alone.
    private static let refusals: Set<Int> = [400, 401, 403, 409, 412, 419]

    /// Keeps what a reply hands out; whether it refuses the request for want of it.
    ///
    /// - Parameter sent: The value that went along.
    func learn(from response: HTTPResponse, sent: String?) -> Bool {
        guard !response.lostCredentials, let given = response.header(header), !given.isEmpty else { return false }
        let isNew = value.withLock { value in
            defer { value = given }
            return value != given
        }
        if isNew { redactor.learn(session: given) }
        return Self.refusals.contains(response.status) && given != sent
    }
}
