import BridgeTestSupport
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHost

@Suite struct DocumentationTests {
    @Test(arguments: BridgeConnectionTests.isolations)
    func `the example of the documentation compiles and works`(isolation: PluginListing.Isolation) async throws {
        let page = try TemporaryFolder.text("\(PackageFolder.path)/docs/bridges.md")
        let begin = try #require(page.firstRange(of: "```c\n"))
        let end = try #require(page[begin.upperBound...].firstRange(of: "```\n"))
        let folder = try TemporaryFolder(staysUntilExit: true)
        let source = try folder.write(Array(page[begin.upperBound..<end.lowerBound].utf8), as: "moons.c")
        try CompiledBridge.compile(source, to: "\(folder.path)/libMoonsBridge.so")
        let host = BridgeHost(
            searchPaths: [SearchPath(folder.path)], executable: Products.testHost, logger: LogLines().logger)
        let plugin = try await host.plugin(named: "moons")
        let connection = try await host.connect(
            to: plugin, options: try batch([:]), name: "moons", isolation: isolation)
        let stream = try await connection.fetch(FetchRequest(entity: "Moon"))
        let fetched = try #require(try await stream.next())
        let records = try #require(fetched.records)
        withExtendedLifetime(records) {
            #expect((0..<records.count).map { records[$0].json }.first == #"{"name":"Io"}"#)
            #expect(records.count == 4)
        }
        #expect(fetched.page.complete)
        #expect(try await stream.next() == nil)
        await connection.close()
    }
}
