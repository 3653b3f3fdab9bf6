import BMO
import BridgeTestSupport
import InMemoryTracing
import Metrics
import MetricsTestKit
import StoreTestSupport
import TestSupport
import Testing
import Tracing

/// What a program that embeds the library learns through its own tracer and metrics system.
@Suite(.overBothStores, .namingTheStore) struct TelemetryTests {
    private static let section = "count: 3000, page_size: 1000, batch_size: 300"

    /// A span's path, such as `bmo.sync/bmo.entity`.
    private func path(_ span: FinishedInMemorySpan, in all: [FinishedInMemorySpan]) -> String {
        guard let parent = all.first(where: { $0.spanID == span.parentSpanID }) else { return span.operationName }
        return path(parent, in: all) + "/" + span.operationName
    }

    private func text(_ value: (any SpanAttributeConvertible)?) -> String? { value.map { "\($0.toSpanAttribute())" } }

    @Test func `a sync is a trace of its entities, their pages, and the waits for the bridge`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(CountingHost.numbers(section: Self.section))
        let tracer = InMemoryTracer()
        try await withTracer(tracer) { _ = try await place.sync(workspace) }
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.finishedSpans
        #expect(Set(spans.map(\.traceID)).count == 1)
        let paths = Dictionary(grouping: spans) { path($0, in: spans) }.mapValues(\.count)
        let page = "bmo.sync/bmo.entity/bmo.page"
        #expect(paths["bmo.sync"] == 1 && paths["bmo.sync/bmo.entity"] == 1 && paths[page] == 3, "\(paths)")
        // Four batches a page.
        #expect(paths["\(page)/bmo.fetch"] == 12 && paths.count == 4, "\(paths)")
        let entity = try #require(spans.first { $0.operationName == "bmo.entity" })
        #expect(text(entity.attributes["bmo.entity"]) == text("Number"))
        #expect(text(entity.attributes["bmo.records.inserted"]) == text(3000))
        #expect(entity.status == nil)
        let pages = spans.filter { $0.operationName == "bmo.page" }
        #expect(pages.map { text($0.attributes["bmo.records"]) } == Array(repeating: text(1000), count: 3))
    }

    @Test func `the spans of what fails say why`() async throws {
        let place = try LibraryWorkspace.counting()
        let failing = try await place.workspace(
            CountingHost.numbers(options: "fail_at: 1500, fail_times: 1000", section: Self.section))
        let tracer = InMemoryTracer()
        try await withTracer(tracer) { _ = try await place.sync(failing) }
        #expect(tracer.activeSpans.isEmpty, "each span ends")
        let spans = tracer.finishedSpans
        let entity = try #require(spans.first { $0.operationName == "bmo.entity" })
        #expect(entity.status?.code == .error && text(entity.attributes["error.type"]) == text("unreachable"))
        #expect(spans.first { $0.operationName == "bmo.sync" }?.status?.code == .error)
        let pages = spans.filter { $0.operationName == "bmo.page" }
        #expect(pages.count == 2 && pages.map(\.errors.count).reduce(0, +) == 1)
    }

    @Test func `a push is a trace of its writes`() async throws {
        let place = try LibraryWorkspace.notes(style: "refuse")
        let manager = try await place.manager()
        let tracer = InMemoryTracer()
        try await withTracer(tracer) {
            _ = try await manager.save([.create("Note", values: ["text": .text("a")])], workflow: .localOnly)
            _ = try await manager.push()
        }
        let spans = tracer.finishedSpans
        let write = try #require(spans.first { $0.operationName == "bmo.write" })
        #expect(path(write, in: spans) == "bmo.push/bmo.write" && write.kind == .client)
        #expect(text(write.attributes["bmo.outcome"]) == text("refused"))
        #expect(write.status?.message?.contains("422") == true, "\(String(describing: write.status))")
        try await manager.close()
    }

    /// A metrics system is set up once per process, so this is the only test that does.
    private static let metrics: TestMetrics = {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }()

    @Test(.overSQLiteOnly) func `a sync and a push are counted by the program's metrics system`() async throws {
        let metrics = Self.metrics
        let place = try LibraryWorkspace.counting()
        // Other tests of this process are counted, too: the name is this test's alone.
        let numbers = CountingHost.numbers(section: Self.section).replacing("Number:", with: "Counted:")
        let workspace = try await place.workspace(numbers)
        for _ in 0..<2 { _ = try await place.sync(workspace) }
        let inserted = try metrics.expectCounter(
            "bmo_changes_total", [("entity", "Counted"), ("change", "inserted")])
        #expect(inserted.totalValue == 3000)
        #expect(try metrics.expectCounter("bmo_records_total", [("entity", "Counted")]).totalValue == 6000)
        #expect(try metrics.expectGauge("bmo_rows", [("entity", "Counted")]).lastValue == 3000)
    }
}
