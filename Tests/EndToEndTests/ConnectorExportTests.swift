import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A connector whose stream is an export becomes a configuration that creates the job and reads its files.
    @Suite struct ConnectorExportTests {
        private static func manifest(_ url: String) -> String {
            """
            version: 6.0.0
            type: DeclarativeSource
            definitions:
              requester:
                type: HttpRequester
                url_base: "\(url)"
                authenticator: {type: BearerAuthenticator, api_token: "{{ config['token'] }}"}
            streams:
              - type: DeclarativeStream
                name: orders
                primary_key: id
                schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: integer}, item: {type: string}}}}
                retriever:
                  type: AsyncRetriever
                  record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
                  creation_requester: {$ref: "#/definitions/requester", http_method: POST, path: exports, request_body_data: {what: orders}}
                  polling_requester:
                    {$ref: "#/definitions/requester", http_method: GET, path: "exports/{{ creation_response['job']['id'] }}"}
                  status_extractor: {type: DpathExtractor, field_path: [state]}
                  status_mapping: {running: [running], completed: [done], failed: [failed], timeout: [timeout]}
                  download_target_extractor: {type: DpathExtractor, field_path: [result, files, "*", url]}
                  download_requester: {type: HttpRequester, http_method: GET, url_base: "{{ download_target }}", path: ""}
                  download_extractor: {type: ResponseToFileExtractor}
            spec: {connection_specification: {properties: {token: {type: string, airbyte_secret: true}}, required: [token]}}
            """
        }

        @Test func `a connector's export becomes a configuration that syncs`() async throws {
            let place = try await RemoteWorkspace("export-jobs.py", environment: ["SHOP_TOKEN": "opensesame-77"])
            try place.folder.write(Self.manifest(place.url), to: "manifest.yaml")
            try place.folder.write("", to: "asked")
            let run = try await place.bmo(
                "introspect", "airbyte", "manifest.yaml", "--name", "shop", "--report", "-o", "bmo.yml")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages("1 streams: 1 carried, 0 carried with doubts, 0 not carried")
            // The job is done at the second request for its state; the manifest has no interval.
            let file = place.folder.appending("bmo.yml")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("state: $.state"), "\(text)")
            try place.folder.write(
                text.replacing("state: $.state", with: "interval: 0.1, state: $.state"), to: "bmo.yml")
            try await place.expectSuccess("check")
            try await place.expectSuccess("sync")
            #expect(
                try await place.query(
                    "SELECT group_concat(id || ' ' || item, ', ') FROM (SELECT * FROM orders ORDER BY id)")
                    == "1 apple, 2 pear, 3 plum")
            let asked = try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8)
            // Only the API itself gets the credentials.
            #expect(
                asked == "/exports +\n/exports/job%201 +\n/exports/job%201 +\n/files/1.csv\n/files/2.csv.gz\n",
                "\(asked)")
        }
    }
}
