import Testing

@testable import AirbyteManifest

/// Replies that are not JSON.
@Suite
struct DecoderTests {
    private static func translated(_ decoder: String, path: String = "", more: String = "") throws -> Translated {
        try Translated(
            retriever: """
                      record_selector: {extractor: {field_path: [\(path)]}}
                      decoder: \(decoder)
                \(more)
                """)
    }

    @Test func `CSV and lines of JSON are read as such, packed or not`() throws {
        let plain = try Self.translated("{type: CsvDecoder}")
        plain.expect("format: csv")
        #expect(plain.verdict == .carried && !plain.text.contains("records:"), "\(plain.report.text)")
        let packed = try Self.translated(
            "{type: ZipfileDecoder, decoder: {type: CsvDecoder, delimiter: \"\\t\", encoding: latin-1, set_values_to_none: [n/a]}}"
        )
        packed.expect("format: csv", "delimiter: tab", "encoding: latin-1", "null_values: [n/a]")
        #expect(packed.verdict == .carried, "\(packed.report.text)")
        try Self.translated("{type: GzipDecoder, decoder: {type: JsonlDecoder}}").expect("format: ndjson")
    }

    @Test func `elements of XML are records, with a doubt about white space inside of columns`() throws {
        let translated = try Self.translated("{type: XmlDecoder}", path: "feed, item")
        translated.expect(
            "format: xml", "records: feed/item", "id: {type: integer, transform: [trim, empty_as_null]}",
            "updated_at: {type: timestamp, transform: [trim, empty_as_null]}")
        #expect(translated.verdict == .doubtful)
    }

    @Test(arguments: [
        ("{type: IterableDecoder}", "", "each line of its replies is a text"),
        ("{type: CsvDecoder}", "data", "inside the rows of CSV"), ("{type: XmlDecoder}", "", "not repeated elements"),
        ("{type: XmlDecoder}", "'a:feed', item", "not repeated elements"),
        ("{type: ZipfileDecoder, decoder: {type: JsonDecoder}}", "", "ZipfileDecoder, which has no counterpart"),
        ("{type: CustomDecoder, class_name: a.B}", "", "a.B, which has no counterpart"),
    ])
    func `other replies are not carried`(decoder: String, path: String, reason: String) throws {
        let translated = try Self.translated(decoder, path: path)
        #expect(translated.verdict == .notCarried)
        translated.expect(reason)
    }

    @Test func `paging that reads a reply of JSON is not carried for CSV`() throws {
        func translated(_ strategy: String) throws -> Translated {
            try Self.translated(
                "{type: CsvDecoder}",
                more: """
                          paginator:
                            type: DefaultPaginator
                            page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: p}
                            pagination_strategy: \(strategy)
                    """)
        }
        let read = try translated("{type: CursorPagination, cursor_value: \"{{ response.next }}\"}")
        #expect(read.verdict == .notCarried)
        read.expect("its paging reads the reply, which is CSV")
        #expect(try translated("{type: PageIncrement, page_size: 10}").verdict == .carried)
        #expect(
            try translated("{type: CursorPagination, cursor_value: \"{{ headers['x-next'] }}\"}").verdict == .carried)
    }
}
