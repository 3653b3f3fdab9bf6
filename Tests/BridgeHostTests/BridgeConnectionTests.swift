import BridgeTestSupport
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHost

/// What holds wherever the bridge runs.
@Suite struct BridgeConnectionTests {
    static let isolations: [PluginListing.Isolation] = [.inProcess, .childProcess]

    @Test(arguments: isolations)
    func `a fetch brings all records in order with their pages`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation, options: ["count": 10])
        let stream = try await connection.fetch(try request())
        var seen: [String] = []
        while let batch = try await stream.next() {
            let page = batch.page
            seen.append("\(batch.ids) cursor \(page.cursor ?? "-") \(page.pageEnd) \(page.end) \(page.complete)")
            #expect(page.total == 10)
        }
        #expect(
            seen == [
                "[0, 1, 2, 3] cursor - false false false",
                "[4, 5, 6, 7] cursor 8 true false false",
                "[8, 9] cursor 10 true true true",
            ])
        #expect(try await stream.next() == nil)
        await stream.close()
        await connection.close()
    }

    @Test(arguments: isolations)
    func `a fetch continues at a cursor`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation, options: ["count": 10])
        #expect(try await ids(connection.fetch(try request(cursor: "8"))) == [8, 9])
        await connection.close()
    }

    @Test(arguments: isolations)
    func `nested values arrive as they were`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation, options: ["count": 13])
        let stream = try await connection.fetch(try request(["batch_size": 100], pageSize: 100))
        let batch = try #require(try await stream.next())
        let records = try #require(batch.records)
        withExtendedLifetime(records) {
            #expect(records[12].json == #"{"id":12,"name":"number 12","nested":{"even":true,"digits":[2,1]}}"#)
        }
        await stream.close()
        await connection.close()
    }

    @Test(arguments: isolations)
    func `check discover and write answer`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        #expect(try await connection.check() == "buffers=0")
        let entities = try await connection.discover()
        withExtendedLifetime(entities) { #expect(entities[0]["name"]?.text == "Number") }
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("operation")
            writer.text("create")
            writer.key("values")
            writer.object {
                writer.key("name")
                writer.text("Aruba")
            }
        }
        let answer = try #require(try await connection.write(try writer.finish()))
        withExtendedLifetime(answer) { #expect(answer[0].json == #"{"id":1,"name":"Aruba"}"#) }
        await connection.close()
    }

    @Test func `every buffer of a bridge is released once`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        for _ in 0..<3 { #expect(try await ids(connection.fetch(try request())).count == 10) }
        let broken = try await connection.fetch(try request(["garbage_at": 5]))
        _ = try await failure { _ = try await ids(broken) }
        try await eventually("no buffer is left") { try await connection.check() == "buffers=0" }
        await connection.close()
    }

    @Test(arguments: isolations)
    func `wrong options are the failure of connect`(isolation: PluginListing.Isolation) async throws {
        let host = try CountingHost()
        let failure = try await failure {
            _ = try await host.connect(isolation, options: ["refuse": "`url` is missing"])
        }
        #expect(failure.description == "numbers: configuration: `url` is missing")
    }

    @Test func `what a bridge cannot do is not asked of it`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        let failure = try await failure { _ = try await connection.write(try batch(["operation": "delete"])) }
        #expect(failure.code == .unsupported)
        #expect(failure.message == "the bridge `counting` cannot delete")
        await connection.close()
    }

    @Test func `a bridge that asks for a child process gets one always`() async throws {
        let host = try CountingHost(["COUNTING_ISOLATION=\"child_process\""])
        let connection = try await host.connect(.inProcess)
        #expect(connection.isolation == .childProcess)
        await connection.close()
    }

    @Test func `in process a second fetch waits for the first to close`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        let first = try await connection.fetch(try request())
        let second = Task { try await ids(connection.fetch(try request())) }
        // A call between two calls of a fetch is served while the second fetch waits.
        #expect(try await connection.check() != nil)
        #expect(try await ids(first).count == 10)
        #expect(try await second.value.count == 10)
        await connection.close()
    }

    @Test func `a fetch that waits for its turn can be cancelled`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        let first = try await connection.fetch(try request())
        let second = Task { try await connection.fetch(try request()) }
        second.cancel()
        let failure = try await failure { _ = try await second.value }
        #expect(failure.code == .cancelled)
        await first.close()
        await connection.close()
    }

    @Test func `in children several fetches run at a time`() async throws {
        let connection = try await CountingHost().connect(.childProcess)
        let streams = [
            try await connection.fetch(try request()), try await connection.fetch(try request()),
            try await connection.fetch(try request()),
        ]
        for stream in streams { #expect(try await stream.next()?.ids == [0, 1, 2, 3]) }
        for stream in streams { #expect(try await ids(stream) == [4, 5, 6, 7, 8, 9]) }
        await connection.close()
    }

    @Test(arguments: isolations)
    func `a concurrent bridge serves several fetches from one instance`(isolation: PluginListing.Isolation) async throws
    {
        let connection = try await CountingHost(["COUNTING_CONCURRENT=1"]).connect(isolation)
        let blocked = try await connection.fetch(try request(["block_at": 0]))
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await blocked.close()
        await connection.close()
    }

    @Test(arguments: isolations)
    func `a closed connection says so`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        await connection.close()
        let failure = try await failure { _ = try await connection.check() }
        #expect(failure.message == "the connection is closed")
    }

    @Test(arguments: isolations)
    func `an unclosed stream gives its place back`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost { $0.workers = 1 }.connect(isolation)
        _ = try await connection.fetch(try request()).next()
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }
}
