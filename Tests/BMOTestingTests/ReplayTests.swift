import BMO
import BMOTesting
import BridgeKit
import Foundation
import RESTBridge
import TestSupport
import Testing

/// A fixture that `bmo fixtures record` wrote serves the tests of an app.
@Suite struct ReplayTests {
    private let fixture = PackageFolder.path + "/Fixtures/cases/rest-paging"

    @Test func `recorded exchanges answer without a network`() async throws {
        let manager = try await RequestManager.replaying(fixture, bridges: [BridgeExport(RESTBridge.self)])
        let result = try await manager.fetch(ObjectRequest("Team")).remote
        #expect(result.isComplete && result.pageCount > 1)
        #expect(try await manager.count(ObjectRequest("Team")) == result.inserted.count)
        try await manager.close()
    }

    @Test func `a request that was not recorded fails`() async throws {
        let folder = try TemporaryFolder()
        for name in ["bmo.yml", "case.yml"] {
            try folder.write(String(contentsOfFile: "\(fixture)/\(name)", encoding: .utf8), to: name)
        }
        try FileManager.default.createDirectory(
            atPath: folder.appending("exchanges"), withIntermediateDirectories: true)
        let manager = try await RequestManager.replaying(folder.path, bridges: [BridgeExport(RESTBridge.self)])
        let error = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Team")).remote
        }
        #expect(error.message.contains("not recorded"), "\(error)")
        try await manager.close()
    }
}
