internal import RecordBatch
internal import TextFormats
internal import Tracing

/// Spans as a request of OTLP (ExportTraceServiceRequest) in its JSON form.
///
/// Source: opentelemetry-proto, `trace.proto`, and the OTLP specification, "JSON Protobuf Encoding": names in
/// lowerCamelCase, identifiers in hexadecimal, 64-bit integers as text, enumerations as numbers.
enum OTLPTraces {
    /// Returns a request.
    ///
    /// - Parameter resource: What describes this program, with its `service.name`.
    static func request(_ spans: [OTLPSpan.Ended], resource: [(name: String, value: String)]) -> String {
        RecordBatchWriter.json { writer in
            list("resourceSpans", writer) {
                writer.member(
                    "resource",
                    object: {
                        list("attributes", writer, resource) { pair in
                            write(pair.name, .string(pair.value), writer)
                        }
                    })
                list("scopeSpans", writer) {
                    writer.member(
                        "scope",
                        object: {
                            writer.member("name", "bmo")
                            writer.member("version", ProgramVersion.text)
                        })
                    list("spans", writer, spans) { write($0, writer) }
                }
            }
        }
    }

    /// Writes a member that is a list of objects.
    private static func list<Element>(
        _ name: String, _ writer: RecordBatchWriter, _ elements: [Element], _ body: (Element) -> Void
    ) {
        writer.member(name, array: { for element in elements { writer.object { body(element) } } })
    }

    /// Writes a member that is a list of one object.
    private static func list(_ name: String, _ writer: RecordBatchWriter, _ body: () -> Void) {
        list(name, writer, [()]) { body() }
    }

    private static func write(_ span: OTLPSpan.Ended, _ writer: RecordBatchWriter) {
        writer.member("traceId", span.identity.trace)
        writer.member("spanId", span.identity.span)
        if let parent = span.parent { writer.member("parentSpanId", parent) }
        writer.member("name", span.name)
        // SPAN_KIND_INTERNAL and SPAN_KIND_CLIENT
        writer.member("kind", span.kind == .client ? 3 : 1)
        writer.member("startTimeUnixNano", String(span.start))
        writer.member("endTimeUnixNano", String(span.end))
        var attributes: [(name: String, value: SpanAttribute)] = []
        span.attributes.forEach { attributes.append(($0, $1)) }
        list("attributes", writer, attributes.sorted { $0.name < $1.name }) { write($0.name, $0.value, writer) }
        guard let failure = span.failure else { return }
        // STATUS_CODE_ERROR
        writer.member(
            "status",
            object: {
                writer.member("code", 2)
                writer.member("message", failure)
            })
    }

    private static func write(_ name: String, _ value: SpanAttribute, _ writer: RecordBatchWriter) {
        writer.member("key", name)
        writer.member(
            "value",
            object: {
                switch value {
                case .int32(let number): writer.member("intValue", String(number))
                case .int64(let number): writer.member("intValue", String(number))
                case .double(let number): writer.member("doubleValue", number)
                case .bool(let flag): writer.member("boolValue", flag)
                case .string(let text): writer.member("stringValue", text)
                case .stringConvertible(let value): writer.member("stringValue", "\(value)")
                // bmo sets no lists.
                default: writer.member("stringValue", "")
                }
            })
    }
}
