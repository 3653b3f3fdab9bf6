import Testing

@testable import AirbyteManifest

/// What several error handlers make of one reply.
@Suite
struct ErrorHandlerTests {
    private static func translated(_ handlers: String...) throws -> Translated {
        try Translated(
            requester: """
                        error_handler:
                          type: CompositeErrorHandler
                          error_handlers:
                \(handlers.map { "            - {type: DefaultErrorHandler, response_filters: [\($0)]}" }.joined(separator: "\n"))
                """)
    }

    @Test func `a later handler decides only about replies that those before it leave`() throws {
        let first = "{http_codes: [404], action: IGNORE}"
        let translated = try Self.translated(
            first, "{http_codes: [403, 422, 500], action: IGNORE}, {http_codes: [410], action: IGNORE}")
        translated.expect(
            "{status: 404, action: ignore}, {status: 403, action: ignore}]",
            "not carried: a rule for 410: an earlier handler has taken or retried such a reply already")
        let success = try Self.translated(first, "{predicate: \"{{ response.ok == false }}\", action: RETRY}")
        success.expect("status: [400, 401, 403, 404, 405, 429]", "when: {path: $.ok, equals: false}, action: retry}")
        #expect(!success.text.contains("'2xx'"))
    }

    @Test func `a later handler decides about any reply that those before it fail`() throws {
        try Self.translated("{http_codes: [500], action: FAIL}", "{http_codes: [500, 502], action: IGNORE}")
            .expect("[{status: 500, action: ignore}, {status: 500, action: fail}]")
    }

    @Test func `a failure of a success is a doubt where a later handler takes it`() throws {
        let failure = "{predicate: \"{{ response.ok == false }}\", action: FAIL}"
        let translated = try Self.translated(failure, "{http_codes: [429], action: RETRY}")
        translated.expect("in Airbyte a later handler may take it")
        #expect(translated.verdict == .doubtful)
        #expect(try Self.translated("{http_codes: [429], action: RETRY}", failure).verdict == .carried)
    }
}
