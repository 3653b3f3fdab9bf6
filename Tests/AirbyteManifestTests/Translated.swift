import Model
import Testing

@testable import AirbyteManifest

/// A small manifest around the parts that a test is about.
struct Translated {
    let text: String
    let report: ConnectorReport

    /// - Parameters:
    ///   - stream: YAML of a stream's members, indented by four spaces.
    ///   - retriever: YAML of the retriever's members beside the requester, indented by six spaces.
    ///   - requester: YAML of the requester's members, indented by eight spaces.
    init(
        stream: String = "", retriever: String = "", requester: String = "", more: String = "",
        files: [String: String] = [:], set: [(name: String, value: String)] = []
    ) throws {
        let manifest = """
            version: 6.0.0
            type: DeclarativeSource
            check: {type: CheckStream, stream_names: [users]}
            definitions:
              users:
                type: DeclarativeStream
                name: users
                primary_key: id
                retriever:
                  type: SimpleRetriever
                  requester: {type: HttpRequester, url_base: "https://api.example", path: /users}
                  record_selector: {extractor: {field_path: [data]}}
                schema_loader:
                  type: InlineSchemaLoader
                  schema: {properties: {id: {type: integer}, name: {type: [string, "null"]}}}
            streams:
              - type: DeclarativeStream
                name: items
            \(stream.contains("primary_key") ? "" : "    primary_key: [id]")
            \(stream)
            \(stream.contains("schema_loader") ? "" : Self.schema)
                retriever:
                  type: SimpleRetriever
            \(retriever.contains("record_selector") ? "" : "      record_selector: {extractor: {field_path: [data, items]}}")
            \(retriever)
                  requester:
                    type: HttpRequester
            \(requester.contains("url_base") ? "" : "        url_base: https://api.example/v1")
            \(requester.contains("path:") ? "" : "        path: /items")
            \(requester)
            spec:
              connection_specification:
                required: [api_key, start_date, window]
                properties:
                  api_key: {type: string, airbyte_secret: true}
                  start_date: {type: string, examples: ["2024-01-01T00:00:00Z"]}
                  region: {type: string, default: eu}
                  window: {type: integer}
            \(more)
            """
        try self.init(manifest: manifest, files: files, set: set)
    }

    init(manifest: String, files: [String: String] = [:], set: [(name: String, value: String)] = []) throws {
        let translation = try Connector.translate(
            files: files.merging(["manifest.yaml": manifest]) { $1 }, name: "shop", set: set, database: "shop.sqlite",
            command: "bmo introspect airbyte shop")
        text = translation.text
        report = translation.report
    }

    private static let schema = """
            schema_loader:
              type: InlineSchemaLoader
              schema: {properties: {id: {type: integer}, updated_at: {type: string, format: date-time}}}
        """

    /// The verdict of the stream that is not among the definitions.
    var verdict: ConnectorReport.Verdict? { report.streams.first?.verdict }

    /// Expects lines of the configuration, wherever they are.
    func expect(_ lines: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation) {
        for line in lines { #expect(text.contains(line), "no \(line) in\n\(text)", sourceLocation: sourceLocation) }
    }
}
