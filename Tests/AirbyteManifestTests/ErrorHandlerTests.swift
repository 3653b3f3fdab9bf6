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

    private static func rules(_ predicate: String, action: String = "FAIL") throws -> Translated {
        try Translated(
            requester:
                "        error_handler: {type: DefaultErrorHandler, response_filters: [{predicate: \"{{ \(predicate) }}\", action: \(action)}]}"
        )
    }

    @Test(arguments: [
        ("'not enabled' in response.message", "when: {path: $.message, contains: 'not enabled'}"),
        ("'message' in response and 'x' in response.get('message', '')", "when: {path: $.message, contains: x}"),
        ("response['errors'][0]['code'] in ['a', 'b']", "when: {path: '$.errors[0].code', equals: b}"),
        ("response.code == 5 or response.status == 'x'", "when: {path: $.status, equals: x}"),
        ("response.ok is false", "when: {path: $.ok, equals: false}"),
        ("response.state is none", "when: {path: $.state, equals: null}"),
    ])
    func `a predicate becomes conditions on the body`(predicate: String, when: String) throws {
        let translated = try Self.rules(predicate)
        translated.expect(when)
        #expect(translated.verdict == .carried, "\(translated.report.text)")
        let ignored = try Self.rules(predicate, action: "IGNORE")
        ignored.expect("{status: ['4xx', '5xx'], \(when), action: ignore}")
        #expect(ignored.verdict == .carried)
    }

    @Test func `each alternative of a predicate has its rule`() throws {
        try Self.rules("response.code in [1, 2]").expect("equals: 1}", "equals: 2}")
    }

    @Test(arguments: [
        "response.message.startswith('x')", "'x' in response.data", "response.a == 1 and response.b == 2",
        "response.message | lower == 'x'", "response.code in []", "not response.ok",
        "response.get('code', 0) == 0", "response.get('status', '') in ['', 'b']", "400 <= response.code < 500",
    ])
    func `another predicate is a doubt`(predicate: String) throws {
        #expect(try Self.rules(predicate).verdict == .doubtful)
    }

    @Test func `a part of a message is looked for in the usual places, which is a doubt`() throws {
        let translated = try Translated(
            requester:
                "        error_handler: {type: DefaultErrorHandler, response_filters: [{error_message_contains: no plan, action: IGNORE}]}"
        )
        translated.expect(
            "{status: ['4xx', '5xx'], when: {path: $.message, contains: 'no plan'}, action: ignore}",
            "when: {path: $.error.message, contains: 'no plan'}")
        #expect(translated.verdict == .doubtful && !translated.text.contains("action: accept"))
    }
}
