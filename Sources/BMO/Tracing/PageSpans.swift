internal import BridgeHost
internal import RecordBatch
internal import Tracing

/// The spans of a scan's pages.
struct PageSpans {
    private let entity: String
    private let bridge: String
    /// Looked up once, because each look-up takes a lock and a dynamic cast.
    private let tracer = InstrumentationSystem.tracer
    /// The span of the page whose records are arriving.
    private var open: (span: any Span, records: Int)?

    init(entity: String, bridge: String) {
        self.entity = entity
        self.bridge = bridge
    }

    /// Waits for the bridge's next records, within the span of their page.
    mutating func fetching(
        _ body: () async throws -> FetchedBatch?
    ) async throws -> FetchedBatch? {
        let page = open?.span ?? begin()
        let fetched: FetchedBatch?
        do {
            fetched = try await tracer.withSpan("bmo.fetch", context: page.context, ofKind: .client) { _ in
                try await body()
            }
        } catch {
            end(with: error)
            throw error
        }
        open?.records += fetched?.records?.count ?? 0
        if let location = fetched?.page.location { page.attributes["bmo.location"] = location }
        if fetched == nil { end(with: nil) }
        return fetched
    }

    private mutating func begin() -> any Span {
        let span = tracer.startSpan("bmo.page")
        span.attributes["bmo.entity"] = entity
        span.attributes["bmo.bridge"] = bridge
        open = (span, 0)
        return span
    }

    /// Returns the span of a page that these records end; nil if more follow.
    ///
    /// It ends when the page is committed.
    mutating func taking(_ fetched: FetchedBatch) -> (any Span)? {
        guard fetched.page.pageEnd || fetched.page.end, let (span, records) = open else { return nil }
        open = nil
        span.attributes["bmo.records"] = records
        return span
    }

    /// Ends the span of the page whose records are arriving.
    mutating func end(with error: (any Error)?) {
        guard let span = open?.span else { return }
        if let error { span.recordError(error) }
        span.end()
        open = nil
    }
}
