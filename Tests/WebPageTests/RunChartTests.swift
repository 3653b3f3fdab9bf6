import ImportTestSupport
import Mapping
import MemoryStore
import Model
import StoreContract
import Testing

@testable import WebPage

/// The chart of `/runs`.
@Suite struct RunChartTests {
    private static func run(
        _ id: Int64, _ outcome: String = "finished", took seconds: Int? = 2, summary: String? = nil,
        _ counts: (inout RunRecord.Counts) -> Void
    ) -> RunRecord {
        var run = RunRecord(
            id: id, kind: "sync", started: "2026-11-2\(id)T10:00:00.000000Z",
            finished: seconds.map { "2026-11-2\(id)T10:00:0\($0).500000Z" }, outcome: outcome, summary: summary)
        counts(&run.counts)
        return run
    }

    private static let runs = [
        run(4, "running", took: nil) { $0.inserted = 1 }, run(3, "failed") { $0.deleted = 30 },
        run(2) {
            $0.inserted = 10
            $0.updated = 5
        },
        run(1, summary: #"{"entities":[{"entity":"A","inserted":90,"deleted":0},{"entity":"B","inserted":10}]}"#) {
            $0.loaded = 2
        },
    ]

    @Test func `the rows before the newest run follow from the changes`() {
        let bars = RunChart(Self.runs, rows: 81).bars
        #expect(bars.map(\.run) == [1, 2, 3, 4])
        #expect(bars.map(\.rows) == [100, 110, 80, 81])
        #expect(bars.map(\.changes) == [100, 15, 30, 1])
        #expect(bars.map(\.milliseconds) == [2500, 2500, 2500, nil])
        #expect(bars.map(\.isBad) == [false, false, true, false])
    }

    @Test func `the chart has a title, a description and the value of each bar`() {
        let text = String(decoding: RunChart(Self.runs, rows: 81).view.bytes, as: UTF8.self)
        #expect(text.contains("role=\"img\"") && text.contains("<title>Runs over time</title><desc>4 runs from "))
        #expect(text.contains("Rows after the run: at most 110, at last 81."))
        #expect(text.contains("<title>run 2, sync, 2026-11-22 10:00:00: 15</title>"), "\(text)")
        #expect(text.contains(": 2500 ms</title>"))
        // Three panels; the run that has not ended has no duration.
        #expect(text.ranges(of: "<rect class=\"bar").count == 11)
        #expect(text.ranges(of: "class=\"bar failed\"").count == 3)
        #expect(!text.contains("style="))
    }

    @Test func `the chart of an entity has the runs that changed it`() throws {
        let model = try CompiledModel.of(
            Entity("A", key: ["id"], [.of("id", .integer)]), Entity("B", key: ["id"], [.of("id", .integer)]))
        let store = try MemoryStores().open("none", model: model, for: .writing)
        let found = try RunEffect.of(Array(Self.runs.dropFirst(3)), model.entities[0], family: ["A"], in: store)
        #expect(found.effects.map(\.growth) == [90] && found.effects.map(\.changes) == [90] && !found.isCut)
        let large = Self.run(1) { $0.inserted = 2000 }
        #expect(try RunEffect.of([large], model.entities[0], family: ["A"], in: store).isCut)
    }

    @Test func `one run makes no chart, and runs without changes are drawn`() {
        #expect(RunChart([Self.runs[1]], rows: 0).view == .empty)
        let idle = RunChart([Self.run(2, took: 0) { _ in }, Self.run(1, took: 0) { _ in }], rows: 0)
        #expect(idle.bars.map(\.rows) == [0, 0])
        #expect(String(decoding: idle.view.bytes, as: UTF8.self).contains("height=\"0\""))
    }
}
