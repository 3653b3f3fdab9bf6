import Testing

@testable import AirbyteManifest

/// Parents that share a name.
@Suite
struct ParentTests {
    /// A manifest with two children, each of which has a parent of the name `kinds` with a requester of its own.
    private static func translated(_ requesters: String...) throws -> Translated {
        let streams = requesters.enumerated().map { index, requester in
            let path = requester.contains("path:") ? "" : ", path: /kinds"
            let parent =
                "{type: DeclarativeStream, name: kinds, primary_key: id, $parameters: {unused: \(index)}, "
                + "retriever: {type: SimpleRetriever, requester: {type: HttpRequester, url_base: \"https://api.example\"\(path), "
                + "\(requester)}, record_selector: {extractor: {field_path: [data]}}}}"
            return """
                  - type: DeclarativeStream
                    name: child\(index)
                    primary_key: id
                    retriever:
                      type: SimpleRetriever
                      requester: {type: HttpRequester, url_base: "https://api.example", path: "c/{{ stream_slice.kind }}"}
                      record_selector: {extractor: {field_path: [data]}}
                      partition_router:
                        type: SubstreamPartitionRouter
                        parent_stream_configs:
                          - {type: ParentStreamConfig, parent_key: id, partition_field: kind, stream: \(parent)}
                """
        }
        return try Translated(
            manifest: "version: 6.0.0\ntype: DeclarativeSource\nstreams:\n" + streams.joined(separator: "\n"))
    }

    private static let pairs = [
        ("http_method: POST, request_body_json: {kind: b}", "http_method: POST, request_body_json: {kind: a}"),
        ("request_headers: {X-Kind: b}", "request_headers: {X-Kind: a}"),
        ("request_parameters: {all: false}", "request_parameters: {}"),
        (
            "$parameters: {kind: b}, path: \"{{ parameters.kind }}\"",
            "$parameters: {kind: a}, path: \"{{ parameters.kind }}\""
        ),
    ]

    @Test(arguments: pairs)
    func `two parents of one name that request something else are two entities`(own: String, other: String) throws {
        try Self.translated(own, other).expect("of_kinds: {to: kinds}", "of_kinds_parent: {to: kinds_parent}")
        let one = try Self.translated(own, own)
        one.expect("of_kinds: {to: kinds}")
        #expect(!one.text.contains("kinds_parent"), "parameters that nothing names do not matter")
    }

    @Test func `what holds anyway makes no other parent`() throws {
        let one = try Self.translated("http_method: GET", "use_cache: true, name: x, request_headers: {}")
        #expect(!one.text.contains("kinds_parent"))
    }
}
