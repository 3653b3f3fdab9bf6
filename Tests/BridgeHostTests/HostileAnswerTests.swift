import BridgeTestSupport
import Testing
import TestSupport

@testable import BridgeHost

@Suite struct HostileAnswerTests {
    @Test(arguments: BridgeConnectionTests.isolations)
    func `a batch that breaks the format is a protocol failure`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        let stream = try await connection.fetch(try request(["garbage_at": 5]))
        #expect(try await stream.next()?.ids == [0, 1, 2, 3])
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .malformed)
        #expect(
            failure.description == "numbers: protocol: the bridge answered fetch_next with a batch that violates the "
                + "format: not a batch: wrong magic; report it to the bridge's author")
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a page of wrong types is a protocol failure`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        let failure = try await failure { _ = try await ids(connection.fetch(try request(["bad_page_at": 0]))) }
        #expect(failure.message == "the bridge answered fetch_next with a page whose `page_end` is not bool")
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `an error that is none is a protocol failure`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost().connect(isolation)
        let failure = try await failure { _ = try await ids(connection.fetch(try request(["bad_error_at": 0]))) }
        #expect(
            failure.message
                == "the bridge answered with an unreadable error (fetch_next): not a batch: wrong magic")
        await connection.close()
    }

    @Test(arguments: BridgeConnectionTests.isolations)
    func `a batch over the limit is refused`(isolation: PluginListing.Isolation) async throws {
        let connection = try await CountingHost { $0.batchSize = 4096 }.connect(isolation)
        let failure = try await failure {
            _ = try await ids(connection.fetch(try request(["count": 1000, "batch_size": 1000], pageSize: 1000)))
        }
        #expect(failure.code == .malformed)
        #expect(failure.message.hasSuffix("bytes; the limit is 4096"))
        #expect(try await ids(connection.fetch(try request())).count == 10)
        await connection.close()
    }
}
