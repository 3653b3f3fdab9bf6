import Testing

@testable import BridgeHTTP

/// The wait that rate-limit fields ask for.
@Suite struct RateLimitFieldsTests {
    private static let now = 1_796_000_000

    private func wait(_ headers: [(name: String, value: String)]) -> Double? {
        let response = HTTPResponse(
            status: 429, headers: headers, url: "http://api.example/", lostCredentials: false, sessionHeader: nil,
            redactor: HTTPRedactor(secrets: []))
        return RateLimitFields.wait(response, now: Self.now)
    }

    @Test(
        arguments: [
            ("5", 5), ("86400", 86400), ("1796000007", 7), ("1796000007000", 7), ("1795999999", nil),
            ("1795999999000", nil), ("-5", nil), ("soon", nil),
        ] as [(String, Double?)])
    func `a reset is seconds, or a point in time in seconds or milliseconds`(reset: String, seconds: Double?) {
        let fields = [(name: "X-RateLimit-Remaining", value: "0"), (name: "X-RateLimit-Reset", value: reset)]
        #expect(wait(fields) == seconds)
        #expect(wait([(name: "RateLimit", value: "remaining=0, reset=\(reset)")]) == seconds)
    }

    @Test func `a limit that is not reached asks for no wait`() {
        let fields = [(name: "X-RateLimit-Remaining", value: "1"), (name: "X-RateLimit-Reset", value: "5")]
        #expect(wait(fields) == nil && wait([]) == nil)
    }
}
