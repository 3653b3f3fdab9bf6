import Testing

@testable import AirbyteManifest

@Suite("Requests of connectors")
struct RequestTests {
    @Test("Path, method, parameters, headers and body are carried, with inputs as variables")
    func request() throws {
        let translated = try Translated(
            requester: """
                        path: "{{ config['region'] }}/items"
                        http_method: POST
                        request_parameters: {expand: "{{ ['a', 'b'] }}", none: "{{ config.get('missing') }}", deep: true}
                        request_headers: {X-Account: "{{ config['api_key'] }}"}
                        request_body_json: {query: {limit: 5, active: true}}
                """)
        translated.expect(
            "url: https://api.example", "path: /v1/eu/items", "method: POST", "expand: [a, b]", "deep: 'True'",
            "headers: {X-Account: '{api_key}'}", "parameters: {api_key: {env: SHOP_API_KEY}}",
            "body: {query: {limit: 5, active: true}}")
        #expect(!translated.text.contains("none:"))
        #expect(translated.verdict == .carried)
    }

    @Test(
        "Authenticators become options of the bridge",
        arguments: [
            (
                "{type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}\"}",
                "{type: bearer, token: {env: SHOP_API_KEY}}"
            ),
            (
                "{type: BasicHttpAuthenticator, username: me, password: \"{{ config['api_key'] }}\"}",
                "{type: basic, user: me, password: {env: SHOP_API_KEY}}"
            ),
            (
                "{type: ApiKeyAuthenticator, header: X-Key, api_token: \"{{ config['api_key'] }}\"}",
                "{type: api_key, header: X-Key, value: {env: SHOP_API_KEY}}"
            ),
            (
                "{type: ApiKeyAuthenticator, header: Authorization, api_token: \"Key {{ config['api_key'] }}\"}",
                "{type: api_key, header: Authorization, scheme: Key, value: {env: SHOP_API_KEY}}"
            ),
            (
                "{type: ApiKeyAuthenticator, inject_into: {type: RequestOption, inject_into: request_parameter, field_name: key}, api_token: \"{{ config['api_key'] }}\"}",
                "{type: api_key, query: key, value: {env: SHOP_API_KEY}}"
            ),
            (
                "{type: JwtAuthenticator, algorithm: HS256, secret_key: \"{{ config['api_key'] }}\", token_duration: 60}",
                "{type: jwt, algorithm: HS256, secret: {env: SHOP_API_KEY}, lifetime: 60}"
            ),
            (
                "{type: SelectiveAuthenticator, authenticator_selection_path: [region], authenticators: {us: {type: NoAuth}, eu: {type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}\"}}}",
                "{type: bearer, token: {env: SHOP_API_KEY}}"
            ),
        ])
    func authenticators(yaml: String, expected: String) throws {
        let translated = try Translated(requester: "        authenticator: \(yaml)")
        translated.expect("auth: \(expected)")
        #expect(translated.verdict == .carried)
    }

    @Test("OAuth with a refresh token, and a login for a session token")
    func tokens() throws {
        try Translated(
            requester: """
                        authenticator:
                          type: OAuthAuthenticator
                          token_refresh_endpoint: https://api.example/token
                          client_id: me
                          client_secret: "{{ config['api_key'] }}"
                          refresh_token: "{{ config['api_key'] }}"
                          scopes: [a, b]
                """
        ).expect(
            "type: oauth2", "token_url: https://api.example/token", "grant: refresh_token", "scope: 'a b'",
            "client_secret: {env: SHOP_API_KEY}")
        try Translated(
            requester: """
                        url_base: https://api.example/v1
                        path: /items
                        authenticator:
                          type: SessionTokenAuthenticator
                          login_requester: {type: HttpRequester, url_base: "https://api.example", path: /login, http_method: POST, request_body_json: {key: "{{ config['api_key'] }}"}}
                          session_token_path: [token]
                          expiration_duration: PT1H
                          request_authentication: {type: ApiKey, inject_into: {type: RequestOption, inject_into: header, field_name: X-Session}}
                """
        ).expect(
            "type: login", "path: /login", "token_path: $.token", "body: {key: {env: SHOP_API_KEY}}", "lifetime: 3600",
            "header: X-Session")
    }

    @Test("A custom requester is not carried, and its entity is a comment with the reason")
    func custom() throws {
        let translated = try Translated(
            requester: "        authenticator: {type: CustomAuthenticator, class_name: x.Y}")
        #expect(translated.verdict == .notCarried)
        translated.expect(
            "entities: {}", "  #   # its authentication: it authenticates with x.Y, which is custom Python")
    }

    @Test("A parameter that Python computes is a comment, and a doubt")
    func lost() throws {
        let translated = try Translated(
            requester: "        request_parameters: {page: \"{{ range(3) | sum }}\", ok: 1}")
        translated.expect("# not sent: query.page: {{ range(3) | sum }}", "query: {ok: 1}")
        #expect(translated.verdict == .doubtful)
    }

    @Test("Filters of replies become rules")
    func responses() throws {
        try Translated(
            requester: """
                        error_handler:
                          type: CompositeErrorHandler
                          error_handlers:
                            - type: DefaultErrorHandler
                              response_filters:
                                - {http_codes: [404], action: IGNORE}
                                - {predicate: "{{ response['ok'] == false }}", action: FAIL, error_message: refused}
                            - type: DefaultErrorHandler
                              backoff_strategies: [{type: ConstantBackoffStrategy, backoff_time_in_seconds: 5}]
                """
        ).expect(
            "{status: 404, action: ignore}", "{when: {path: $.ok, equals: false}, action: fail, message: refused}",
            "# Airbyte waits 5 seconds")
    }

    @Test("A budget becomes the bridge's limits")
    func budget() throws {
        try Translated(
            more: """
                concurrency_level: {type: ConcurrencyLevel, default_concurrency: 4}
                api_budget:
                  type: HTTPAPIBudget
                  policies: [{type: MovingWindowCallRatePolicy, rates: [{limit: 120, interval: PT1M}], matchers: []}]
                """
        ).expect("limits: {requests_per_second: 2, concurrency: 4}")
    }

    @Test("A host that only an input knows gets a placeholder, or the value that was set")
    func hosts() throws {
        let base = "        url_base: \"https://{{ config['api_key'] }}.shop.example/api\""
        try Translated(requester: base).expect("url: https://api-key.shop.example", "# the url needs the input api_key")
        try Translated(
            requester: "        url_base: \"https://{{ config['region'] }}.shop.example\"", set: [("region", "us")]
        )
        .expect("url: https://us.shop.example")
    }
}
