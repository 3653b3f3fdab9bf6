import Model
import Testing

@testable import AirbyteManifest

@Suite
struct RequestTests {
    @Test func `path, method, parameters, headers and body are carried, with inputs as variables`() throws {
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

    @Test(arguments: [
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
    func `authenticators become options of the bridge`(yaml: String, expected: String) throws {
        let translated = try Translated(requester: "        authenticator: \(yaml)")
        translated.expect("auth: \(expected)")
        #expect(translated.verdict == .carried)
    }

    @Test func `a secret in the manifest itself becomes an environment variable`() throws {
        let basic = try Translated(
            requester:
                "        authenticator: {type: BasicHttpAuthenticator, username: \"{{ config['api_key'] }}\", password: x1}"
        )
        basic.expect("password: {env: SHOP_PASSWORD}", "# the connector has the password of its authentication itself")
        #expect(!basic.text.contains("x1"))
        let bearer = try Translated(requester: "        authenticator: {type: BearerAuthenticator, api_token: t0ken}")
        bearer.expect("{type: bearer, token: {env: SHOP_TOKEN}}")
        #expect(!bearer.text.contains("t0ken"))
        try Translated(requester: "        authenticator: {type: BasicHttpAuthenticator, username: me}").expect(
            "{type: basic, user: me, password: ''}")
    }

    @Test(arguments: [
        ("request_parameters: {api_key: sekrit, q: x}", "query: {api_key: '{api_key}', q: x}"),
        ("request_parameters: \"access_token=sekrit&q=x\"", "query: {access_token: '{access_token}', q: x}"),
        ("request_parameters: {api_key: 5387}", "query: {api_key: '{api_key}'}"),
        ("request_headers: {X-Api-Key: sekrit}", "headers: {X-Api-Key: '{X_Api_Key}'}"),
        ("request_headers: {Authorization: Bearer sekrit}", "Authorization: {env: SHOP_AUTHORIZATION}"),
        ("request_body_json: {filter: {password: sekrit}, q: x}", "body: {filter: {password: '{password}'}, q: x}"),
        ("request_body_data: {key: sekrit, q: x}", "body: {key: '{key}', q: x}"),
        ("request_body_data: \"token=sekrit&q=x\"", "body: 'token={token}&q=x'"),
        ("path: \"/items?api_key=sekrit\"", "path: '/v1/items?api_key={api_key}'"),
        ("url_base: https://ann:sekrit@other.example/v2", "user: {env: SHOP_USERNAME}"),
        (
            "authenticator: {type: ApiKeyAuthenticator, inject_into: {type: RequestOption, inject_into: body_json, field_path: [a, k]}, api_token: sekrit}",
            "body: {a: {k: '{api_key}'}}"
        ),
        (
            "authenticator: {type: JwtAuthenticator, algorithm: HS256, secret_key: sekrit}",
            "secret: {env: SHOP_SECRET_KEY}"
        ),
    ])
    func `no credential of a request is copied`(requester: String, line: String) throws {
        let translated = try Translated(requester: "        \(requester)")
        #expect(!translated.text.contains("sekrit") && !translated.text.contains("5387"), "\(translated.text)")
        translated.expect(line)
        #expect(translated.verdict == .carried, "\(translated.report.text)")
    }

    @Test func `what only has the name of a credential, or an input as its value, stays`() throws {
        try Translated(
            requester: """
                        request_parameters: {include_token: "true", country_code: de, api_key: "{{ config['api_key'] }}"}
                        request_headers: {Authorization: "Key {{ config['api_key'] }}"}
                        request_body_json: {max_tokens: 5}
                """
        ).expect(
            "include_token: 'true'", "country_code: de", "api_key: '{api_key}'", "Authorization: 'Key {api_key}'",
            "max_tokens: 5", "parameters: {api_key: {env: SHOP_API_KEY}}")
    }

    @Test func `OAuth with a refresh token, and a login for a session token`() throws {
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
            "type: oauth2", "token_url: https://api.example/token", "grant: refresh_token", "scopes: [a, b]",
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

    @Test(arguments: [
        ("authenticator: {type: BasicHttpAuthenticator, username: me}", "its login is authorized itself"),
        ("request_headers: {X-App: shop}", "its login sends request_headers"),
        ("request_body_json: {data: {password: secret-1}}", "data in the body of its login is an object"),
    ])
    func `a login that sends more than a body is not carried`(member: String, reason: String) throws {
        let translated = try Translated(
            requester: """
                        url_base: https://api.example/v1
                        path: /items
                        authenticator:
                          type: SessionTokenAuthenticator
                          login_requester: {type: HttpRequester, url_base: "https://api.example", path: /login, \(member)}
                          session_token_path: [token]
                """)
        translated.expect(reason)
        #expect(translated.verdict == .notCarried)
    }

    @Test func `a custom requester is not carried, and its entity is a comment with the reason`() throws {
        let translated = try Translated(
            requester: "        authenticator: {type: CustomAuthenticator, class_name: x.Y}")
        #expect(translated.verdict == .notCarried)
        translated.expect(
            "entities: {}", "  #   # its authentication: it authenticates with x.Y, which is custom Python")
    }

    @Test func `a parameter that Python computes is a comment, and a doubt`() throws {
        let translated = try Translated(
            requester: "        request_parameters: {page: \"{{ range(3) | sum }}\", ok: 1}")
        translated.expect("# not sent: query.page: {{ range(3) | sum }}", "query: {ok: 1}")
        #expect(translated.verdict == .doubtful)
    }

    @Test func `filters of replies become rules`() throws {
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
            "{status: 404, action: ignore}", "# Airbyte waits 5 seconds",
            "when: {path: $.ok, equals: false}, action: fail, message: refused}")
    }

    @Test func `a later handler overrides one that fails`() throws {
        let translated = try Translated(
            requester: """
                        error_handler:
                          type: CompositeErrorHandler
                          error_handlers:
                            - {type: DefaultErrorHandler, response_filters: [{http_codes: [400], action: FAIL}]}
                            - {type: DefaultErrorHandler, response_filters: [{http_codes: [400], action: IGNORE}]}
                """)
        translated.expect("[{status: 400, action: ignore}, {status: 400, action: fail}]")
    }

    @Test(arguments: [
        // The failure may be overridden by the same status, or by a handler that takes a success.
        ("{http_codes: [400], action: FAIL}", "{http_codes: [400], action: IGNORE}", true),
        ("{predicate: \"{{ response['ok'] == false }}\", action: FAIL}", "{http_codes: [429], action: RETRY}", true),
        ("{http_codes: [403], action: FAIL}", "{http_codes: [429], action: RETRY}", false),
        ("{http_codes: [403], action: FAIL}", "{http_codes: [403], action: FAIL}", false),
    ])
    func `a failure among other rules that a later handler may override is a doubt`(
        failure: String, later: String, isDoubt: Bool
    ) throws {
        let translated = try Translated(
            requester: """
                        error_handler:
                          type: CompositeErrorHandler
                          error_handlers:
                            - {type: DefaultErrorHandler, response_filters: [{http_codes: [404], action: IGNORE}, \(failure)]}
                            - {type: DefaultErrorHandler, response_filters: [\(later)]}
                """)
        #expect(translated.verdict == (isDoubt ? .doubtful : .carried), "\(translated.report.text)")
        #expect(
            translated.report.text.contains(
                "that one handler fails is an error; in Airbyte a later handler may take it")
                == isDoubt, "\(translated.report.text)")
    }

    @Test func `texts in a body that are Python's numbers are numbers, and null is left out`() throws {
        let translated = try Translated(
            requester: """
                        http_method: POST
                        request_body_json: {a: "5", b: "05", c: "-1.5", d: "True", e: "{{ none }}", f: {g: "7", h: null}, i: "1e", j: "2024-10-10"}
                """)
        translated.expect("body: {a: 5, b: '05', c: -1.5, d: true, f: {g: 7}, i: '1e', j: '2024-10-10'}")
    }

    @Test func `a list in a body has its variables, and a field of a slice needs no default`() throws {
        try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: updated_at
                      datetime_format: "%s"
                      start_datetime: "2024-01-01T00:00:00Z"
                """,
            requester: """
                        request_body_json: {kinds: "{{ [config['api_key']] }}"}
                        request_parameters:
                          q: "after:{{ stream_interval.get('start_time', '') or '1900' if stream_interval else '1900' }}"
                """
        ).expect("body: {kinds: ['{api_key}']}", "query: {q: 'after:{since}'}")
    }

    @Test func `any one condition of a filter is enough; a test of a text is a doubt`() throws {
        func filtered(_ filter: String) throws -> Translated {
            try Translated(
                requester: "        error_handler: {type: DefaultErrorHandler, response_filters: [{\(filter)}]}")
        }
        let both = try filtered("http_codes: [403], predicate: \"{{ response.code == 7 }}\", action: FAIL")
        both.expect("{status: 403, action: fail}", "when: {path: $.code, equals: 7}, action: fail}")
        let ignored = try filtered("http_codes: [403], action: IGNORE")
        ignored.expect("{status: 403, action: ignore}", "and bmo deletes nothing")
        #expect(ignored.verdict == .carried)
        #expect(!(try filtered("http_codes: [404, 410], action: IGNORE")).text.contains("deletes nothing"))
        #expect(try filtered("http_codes: [400], error_message_contains: denied, action: FAIL").verdict == .carried)
        #expect(try filtered("error_message_contains: denied, action: FAIL").verdict == .doubtful)
        #expect(try filtered("error_message_contains: denied, action: IGNORE").verdict == .doubtful)
        let part = try filtered("predicate: \"{{ 'denied' in response.data }}\", action: FAIL")
        #expect(part.verdict == .doubtful)
        #expect(!part.text.contains("$.data.denied"))
    }

    @Test(arguments: ["IGNORE", "SUCCESS"])
    func `records of an ignored success are read, and an ignored failure has none`(action: String) throws {
        func filtered(_ filter: String) throws -> Translated {
            try Translated(
                requester:
                    "        error_handler: {type: DefaultErrorHandler, response_filters: [{\(filter), action: \(action)}]}"
            )
        }
        let tested = try filtered("predicate: \"{{ 'error' in response }}\"")
        tested.expect(
            "{status: '2xx', when: {path: $.error}, action: accept}",
            "{status: ['4xx', '5xx'], when: {path: $.error}, action: ignore}", "and bmo deletes nothing")
        let listed = try filtered("http_codes: [200, 403, 404]")
        listed.expect("{status: [403, 404], action: ignore}")
        #expect(!listed.text.contains("accept"), "bmo reads the records of a success without a rule")
        #expect(tested.verdict == .carried && listed.verdict == .carried)
    }

    @Test func `authentication that bmo cannot do is an obstacle of the stream`() throws {
        let key = "\"{{ config['api_key'] }}\""
        let oauth =
            "type: OAuthAuthenticator, token_refresh_endpoint: \"https://api.example/token\", client_id: me, "
            + "client_secret: \(key), refresh_token: \(key)"
        for lost in ["refresh_token_name: code", "send_refresh_request_as_query_params: true"] {
            #expect(try Translated(requester: "        authenticator: {\(oauth), \(lost)}").verdict == .notCarried)
        }
        for address in ["\"\"", "/token", "null"] {
            let relative = oauth.replacing("\"https://api.example/token\"", with: address)
            #expect(try Translated(requester: "        authenticator: {\(relative)}").verdict == .notCarried)
        }
        let updated = try Translated(
            requester: "        authenticator: {\(oauth), refresh_token_updater: {refresh_token_name: refresh_token}}")
        #expect(updated.verdict == .doubtful)
        let jwt = try Translated(
            requester: "        authenticator: {type: JwtAuthenticator, secret_key: \(key), jwt_payload: {iss: \(key)}}"
        )
        #expect(jwt.verdict == .notCarried)
    }

    @Test func `a line break in a text of the manifest does not end its comment`() throws {
        let manifest = #"{"version": "1\nbridges: {x: 1}", "streams": []}"#
        let text = try Connector.translate(
            files: ["manifest.yaml": manifest], name: "a", set: [], database: "a", command: ""
        ).text
        #expect(!text.contains("\nbridges: {x"))
    }

    @Test func `a secret by its name stays out of the file, and equal names in two groups have two variables`() throws {
        let inputs = Inputs(
            [
                "properties": [
                    "password": ["type": "string"],
                    "source": ["properties": ["api_key": ["type": "string"]]],
                    "target": ["properties": ["api_key": ["type": "string"]]],
                ]
            ], set: [("password", "x"), ("source.api_key", "y"), ("target.api_key", "z")])
        #expect(inputs.known == ["source": [:], "target": [:]])
        guard case .open(let input)? = inputs.value(at: ["password"]) else {
            Issue.record("the password is not an input of the environment")
            return
        }
        #expect(input.isSecret)
        let names = InputNames()
        #expect(names.name(of: ["source", "api_key"]) == "api_key")
        #expect(names.name(of: ["target", "api_key"]) == "target_api_key")
        #expect(names.name(of: ["source", "api_key"]) == "api_key")
    }

    @Test func `a budget becomes the bridge's limits`() throws {
        try Translated(
            more: """
                concurrency_level: {type: ConcurrencyLevel, default_concurrency: 4}
                api_budget:
                  type: HTTPAPIBudget
                  policies: [{type: MovingWindowCallRatePolicy, rates: [{limit: 120, interval: PT1M}], matchers: []}]
                """
        ).expect("limits: {requests_per_second: 2, concurrency: 4}")
    }

    @Test func `a host that only an input knows gets a placeholder, or the value that was set`() throws {
        let base = "        url_base: \"https://{{ config['api_key'] }}.shop.example/api\""
        try Translated(requester: base).expect("url: https://api-key.shop.example", "# the url needs the input api_key")
        try Translated(
            requester: "        url_base: \"https://{{ config['region'] }}.shop.example\"", set: [("region", "us")]
        )
        .expect("url: https://us.shop.example")
    }
}
