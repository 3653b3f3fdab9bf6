import ImportTestSupport
import Mapping
import Model
import RecordBatch
import Testing
import TestSupport

/// What the next scan asks for: the newest value less a lookback, as the remote would write it.
@Suite struct WatchedFieldTests {
    private func since(
        _ remote: Literal, _ lookback: Int64, as type: AttributeType, _ transformers: [Transformer] = []
    ) throws -> String {
        var attribute = Attribute.of("changed", type)
        attribute.transformers = transformers
        let model = try CompiledModel.of(Entity("A", key: ["id"], [.of("id", .integer), attribute]))
        let layout = model.entities[0]
        let watched = try #require(WatchedField("changed", among: model.model.entities[0].attributes, in: layout))
        let batch = try Literal.batch([["id": 1, "changed": remote]])
        return try withExtendedLifetime(batch) {
            let page = Mapper(model).map(batch, as: 0)
            let local = try #require(page.cells[watched.field].value)
            return watched.since(
                local: local, remote: try #require(watched.remoteText(in: batch[0])), lookback: lookback)
        }
    }

    @Test(arguments: [
        ("2026-03-01T00:02:00Z", "2026-02-28T23:57:00Z"),
        ("2026-03-01T00:02:00.5Z", "2026-02-28T23:57:00.5Z"),
        ("2026-03-01T00:02:00,1234567+02:00", "2026-02-28T23:57:00,1234560+02:00"),
        ("2026-03-01 00:02:00", "2026-02-28 23:57:00"),
        ("2026-03-01t00:02-0330", "2026-02-28t23:57-0330"),
        ("2026-03-01", "2026-02-28"),
        ("1772323320", "1772323020"),
        ("1772323320.25", "1772323020.25"),
    ])
    func `a time keeps the form of the remote`(remote: String, expected: String) throws {
        #expect(try since(.text(remote), 300, as: .timestamp) == expected)
    }

    @Test func `without a lookback the text is the remotes`() throws {
        #expect(
            try since("2026-03-01T00:02:00.123456789+02:00", 0, as: .timestamp) == "2026-03-01T00:02:00.123456789+02:00"
        )
    }

    @Test func `units and formats are kept`() throws {
        #expect(try since(1_772_323_320_500, 300, as: .timestamp, [.unit(.milliseconds)]) == "1772323020500")
        #expect(try since("01.03.2026 00:02", 300, as: .timestamp, [.format("%d.%m.%Y %H:%M")]) == "28.02.2026 23:57")
    }

    @Test func `a date goes back whole days`() throws {
        #expect(try since("2026-03-01", 86_400, as: .date) == "2026-02-28")
        #expect(try since("2026-03-01", 60, as: .date) == "2026-02-28", "the day before, rather than too little")
    }

    @Test func `an integer goes back by a difference`() throws {
        #expect(try since(1000, 10, as: .integer) == "990")
        #expect(try since("ff", 15, as: .integer, [.base(16)]) == "f0")
        #expect(try since(.integer(.min), 1, as: .integer) == "\(Int64.min)")
    }
}
