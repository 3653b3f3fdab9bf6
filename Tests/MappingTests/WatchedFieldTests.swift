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
        try #require(try asked(remote, lookback, as: type, transformers).since)
    }

    private func asked(
        _ remote: Literal, _ lookback: Int64, as type: AttributeType, _ transformers: [Transformer] = []
    ) throws -> (since: String?, time: String?) {
        var attribute = Attribute.of("changed", type)
        attribute.transformers = transformers
        let model = try CompiledModel.of(Entity("A", key: ["id"], [.of("id", .integer), attribute]))
        let layout = model.entities[0]
        let watched = try #require(WatchedField("changed", among: model.model.entities[0].attributes, in: layout))
        let batch = try Literal.batch([["id": 1, "changed": remote]])
        return try withExtendedLifetime(batch) {
            let page = Mapper(model).map(batch, as: 0)
            let local = try #require(page.cells[watched.field].value)
            let text = try #require(watched.remoteText(in: batch[0]))
            return (
                watched.since(local: local, remote: text, lookback: lookback),
                watched.sinceTime(local: local, remote: text, lookback: lookback)
            )
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

    @Test func `a value in a form of the remote's own is known as a time, too`() throws {
        let format: [Transformer] = [.format("%d.%m.%Y %H:%M")]
        let text: Literal = "01.03.2026 00:02"
        #expect(try asked(text, 0, as: .timestamp, format).time == "2026-03-01T00:02:00.000000Z")
        #expect(try asked(text, 300, as: .timestamp, format).time == "2026-02-28T23:57:00.000000Z")
        let milliseconds = try asked(1_772_323_320_500, 0, as: .timestamp, [.unit(.milliseconds)])
        #expect(milliseconds.time == "2026-03-01T00:02:00.500000Z")
        #expect(try asked("01.03.2026", 86_400, as: .date, [.format("%d.%m.%Y")]).time == "2026-02-28T00:00:00.000000Z")
        #expect(try asked("2026-03-01T00:02:00+01:00", 0, as: .timestamp).time == nil)
        #expect(try asked("1772323320", 0, as: .timestamp).time == nil)
        #expect(try asked(1000, 0, as: .integer).time == nil)
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
