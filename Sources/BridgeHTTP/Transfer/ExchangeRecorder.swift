internal import BridgeKit

/// Records one reply as it arrives; guarded by the lock of the exchange's state.
final class ExchangeRecorder {
    private let take: ExchangeTape.Take
    private let url: String
    private var response: HTTPResponse?
    private var body: [UInt8] = []

    /// Header fields of the connection, or of the body's form before it was decoded.
    private static let passing: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length", "date", "age", "host",
    ]
    /// The pseudo header field for the URL that answered after redirects.
    static let finalURL = "@url"
    /// The pseudo header field for a redirect to an origin to which credentials were not sent.
    static let lostCredentials = "@lost-credentials"

    init(_ take: ExchangeTape.Take, url: String) {
        self.take = take
        self.url = HTTPURL(url)?.text ?? url
    }

    func begin(_ response: HTTPResponse) {
        self.response = response
        take.learn(response.headers.map { Exchange.Field($0.name, $0.value) })
    }

    func append(_ bytes: UnsafeRawBufferPointer) { body += bytes }

    /// Writes the exchange; if that fails, the exchange throws the error.
    @discardableResult
    func finish(_ error: BridgeError?) -> BridgeError? {
        do {
            if let error, error.code != .cancelled {
                try take.finish(
                    .failure(code: error.code, message: error.message, isRetryable: error.isRetryable))
                return nil
            }
            // A caller that cancels has read enough of the reply, or will repeat the request.
            guard let response else { return nil }
            var fields = response.headers.filter { !Self.passing.contains($0.name.lowercased()) }
                .map { Exchange.Field($0.name, $0.value) }
            if response.url != url { fields.append(Exchange.Field(Self.finalURL, response.url)) }
            if response.lostCredentials { fields.append(Exchange.Field(Self.lostCredentials, "true")) }
            try take.finish(.answer(status: "\(response.status)", headers: fields, body: body))
            return nil
        } catch {
            return error as? BridgeError ?? BridgeError(.internal, "\(error)")
        }
    }
}
