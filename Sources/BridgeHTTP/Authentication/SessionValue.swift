internal import SystemCalls

/// A value that the remote sends in a header field and expects back: the option `session_header`.
final class SessionValue: Sendable {
    let header: String
    private let redactor: HTTPRedactor
    private let value = Mutex<String?>(nil)

    init(_ header: String, redactor: HTTPRedactor) {
        self.header = header
        self.redactor = redactor
    }

    /// The value received last.
    var current: String? { value.withLock { $0 } }

    /// Returns the request with the value, which replaces the header field from the options.
    func add(to request: HTTPRequest) -> HTTPRequest {
        guard request.sendsCredentials, let current else { return request }
        var request = request
        request.headers.removeAll { $0.name.isSameField(as: header) }
        request.headers.append((name: header, value: current))
        return request
    }

    /// The statuses with which servers ask for a new value.
    ///
    /// A `429` may send a value too, but asks for a pause instead.
    private static let refusals: Set<Int> = [400, 401, 403, 409, 412, 419]

    /// Stores the value from a reply; returns whether the reply refuses the request because of the missing value.
    ///
    /// - Parameter sent: The value sent with the request.
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
