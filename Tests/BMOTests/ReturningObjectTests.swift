import BMO
import BridgeKit
import ImportTestSupport
import Model
import RecordBatch
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// An object that its listing lacks for a while, and a source that returns only what is new.
@Suite struct ReturningObjectTests {
    /// Countries, and facts about them with a token.
    private final class CountryBridge: Bridge {
        static let descriptor = BridgeDescriptor(
            name: "countries", version: "1.0", summary: "Countries", optionsSchema: "{}", entitySchema: "{}",
            capabilities: [.fetch, .incremental])
        static let codes = Mutex(["FR", "NO"])
        static let tokens = Mutex<[String?]>([])

        init(options: BridgeOptions, context: BridgeContext) {}

        func fetch(_ request: FetchRequest) throws -> any RecordSource {
            let hasFacts = request.section.has("facts")
            if hasFacts { Self.tokens.withLock { $0.append(request.token) } }
            return Listing(hasFacts: hasFacts, isNew: request.token == nil)
        }

        func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
            throw BridgeError(.unsupported, "nothing is sent")
        }
    }

    private final class Listing: RecordSource {
        private let hasFacts: Bool
        private let isNew: Bool

        init(hasFacts: Bool, isNew: Bool) {
            self.hasFacts = hasFacts
            self.isNew = isNew
        }

        func next(into writer: RecordBatchWriter) throws -> Page {
            var page = Page(isPageEnd: true, isEnd: true, isComplete: true)
            if hasFacts {
                page.token = "t"
                page.isUnchanged = !isNew
                for code in isNew ? ["FR", "NO"] : [] { write(code, area: 7, to: writer) }
            } else {
                for code in CountryBridge.codes.withLock(\.self) { write(code, area: nil, to: writer) }
            }
            return page
        }

        private func write(_ code: String, area: Int?, to writer: RecordBatchWriter) {
            writer.object {
                writer.member("code", code)
                if let area { writer.member("area", area) }
            }
        }

        func cancel() {}
    }

    @Test func `a source is asked for everything once when an object returns`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            version: 1
            bridges: {api: {plugin: countries}}
            entities:
              Country:
                bridge: api
                key: code
                attributes: {code: text, area: integer}
                countries: {}
                sources: {facts: {bridge: api, attributes: [area], incremental: token, countries: {facts: true}}}
            """, to: "bmo.yml")
        let manager = try await RequestManager(
            config: folder.appending("bmo.yml"), stores: SQLiteStores(), bridges: [BridgeExport(CountryBridge.self)])
        func sync(_ codes: String...) async throws -> [String?] {
            CountryBridge.codes.withLock { $0 = codes }
            CountryBridge.tokens.withLock { $0 = [] }
            #expect(try await manager.sync().succeeded)
            return CountryBridge.tokens.withLock(\.self)
        }
        #expect(try await sync("FR", "NO") == [nil])
        #expect(try await sync("FR", "NO") == ["t"])
        #expect(try await sync("FR") == ["t"])
        #expect(try await sync("FR", "NO") == [nil])
        let rows = try SQLiteFile(folder.appending("bmo.sqlite")).rows("SELECT code, area FROM Country ORDER BY code")
        #expect(rows == [["'FR'", "7"], ["'NO'", "7"]])
        #expect(try await sync("FR", "NO") == ["t"])
        try await manager.close()
    }
}
