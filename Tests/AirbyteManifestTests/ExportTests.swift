import Testing

@testable import AirbyteManifest

/// `AsyncRetriever`: a job that is created, asked for its state, and whose files are read.
@Suite
struct ExportTests {
    private func translated(
        creation: String = "path: exports, request_body_json: {type: orders}",
        polling: String = "path: \"exports/{{ creation_response['id'] }}\"",
        download: String = "{type: HttpRequester, http_method: GET, url_base: \"{{ download_target }}\", path: \"\"}",
        more: String = "download_decoder: {type: CsvDecoder}",
        target: String = "download_target_extractor: {type: DpathExtractor, field_path: [urls]}", stream: String = ""
    ) throws -> Translated {
        try Translated(
            manifest: """
                version: 6.0.0
                type: DeclarativeSource
                definitions:
                  base: {type: HttpRequester, url_base: "https://api.example/v1", authenticator: {type: BearerAuthenticator, api_token: "{{ config['token'] }}"}}
                streams:
                  - type: DeclarativeStream
                    name: orders
                    primary_key: id
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: string}, at: {type: string, format: date-time}}}}
                    \(stream)
                    retriever:
                      type: AsyncRetriever
                      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
                      status_mapping: {running: [pending, running], completed: [ready], failed: [failed], timeout: [expired]}
                      status_extractor: {type: DpathExtractor, field_path: [job, state]}
                      \(target)
                      creation_requester: {$ref: "#/definitions/base", http_method: POST, \(creation)}
                      polling_requester: {$ref: "#/definitions/base", http_method: GET, \(polling)}
                      download_requester: \(download)
                      \(more)
                spec: {connection_specification: {properties: {token: {type: string, airbyte_secret: true}}, required: [token]}}
                """)
    }

    /// Expects that the stream is not carried, with this reason.
    private func refuse(_ translated: Translated, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(translated.verdict == .notCarried, sourceLocation: sourceLocation)
        translated.expect(": \(reason)\n", sourceLocation: sourceLocation)
    }

    @Test func `its requests become export, and its cursor the window of the job`() throws {
        let translated = try translated(
            creation: "path: exports, request_body_json: {type: orders, after: \"{{ stream_interval.start_time }}\"}",
            more:
                "polling_job_timeout: 30\n      download_decoder: {type: GzipDecoder, decoder: {type: CsvDecoder, delimiter: \";\", set_values_to_none: [\"\", n/a]}}",
            stream:
                "incremental_sync: {type: DatetimeBasedCursor, cursor_field: at, datetime_format: \"%Y-%m-%d\", start_datetime: \"2024-01-01\"}"
        )
        translated.expect(
            "incremental: {field: at}", "since: {start: '2024-01-01', format: '%Y-%m-%d'}", "format: csv",
            "delimiter: ';'", "empty_as_null: true", "null_values: [n/a]",
            "create: {path: /v1/exports, body: {type: orders, after: '{since}'}}",
            "files: {urls: $.urls}")
        translated.expect(
            "path: '/v1/exports/{id}'", "state: $.job.state", "done: [ready]", "failed: [failed, expired]",
            "time_limit: 1800")
        #expect(translated.verdict == .carried)
    }

    @Test func `the job may be known by another member, a header field or a URL`() throws {
        try translated(polling: "path: \"exports/{{ creation_response.data.job_id }}\"")
            .expect("id: $.data.job_id")
        try translated(polling: "path: \"exports/{{ stream_slice['create_job_response'].headers['X-Job'] }}\"")
            .expect("path: '/v1/exports/{id}'", "id: X-Job")
        try translated(polling: "url_base: \"{{ creation_response['links']['status'] }}\", path: \"\"")
            .expect("status_url: $.links.status")
    }

    @Test func `files may be lines of JSON, JSON with a path, or at a path of the API`() throws {
        try translated(more: "download_decoder: {type: JsonlDecoder}").expect("format: ndjson")
        try translated(more: "download_extractor: {type: DpathExtractor, field_path: [data, orders]}")
            .expect("format: json", "records: $.data.orders")
        try translated(more: "download_extractor: {type: ResponseToFileExtractor}").expect(
            "format: csv", "empty_as_null: true")
        let own = try translated(
            download:
                "{$ref: \"#/definitions/base\", http_method: GET, path: \"exports/{{ creation_response['id'] }}/file\"}",
            target: "")
        own.expect("files: {path: '/v1/exports/{id}/file'}")
        #expect(own.verdict == .carried)
        try translated(
            download: "{type: HttpRequester, url_base: \"\", path: \"{{ stream_slice['url'] }}\"}", more: "",
            target: "urls_extractor: {type: DpathExtractor, field_path: [urls]}"
        ).expect("format: csv", "files: {urls: $.urls}")
    }

    @Test func `what an export cannot do is said`() throws {
        refuse(
            try translated(polling: "path: \"exports/{{ creation_response.id }}/{{ creation_response.key }}\""),
            "its requests use two values of the job's reply, $.id and $.key")
        refuse(
            try translated(more: "download_target_requester: {$ref: \"#/definitions/base\", path: links}"),
            "the links of its files come from a request of their own, download_target_requester")
        refuse(
            try translated(more: "download_decoder: {type: XmlDecoder}"), "its files are read by XmlDecoder")
        refuse(
            try translated(
                polling: "url_base: \"https://other.example\", path: \"exports/{{ creation_response.id }}\""),
            "its polling_requester has another address or authentication than its creation_requester")
        let kept = try translated(
            more:
                "download_decoder: {type: CsvDecoder}\n      delete_requester: {$ref: \"#/definitions/base\", http_method: DELETE, path: x}"
        )
        kept.expect("# not carried: delete_requester: Airbyte deletes the job afterwards; bmo leaves it to the API")
        #expect(kept.verdict == .carried)
    }
}
