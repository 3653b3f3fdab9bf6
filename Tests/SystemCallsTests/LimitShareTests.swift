import Foundation
import SystemCalls
import Testing

@Suite struct LimitShareTests {
    @Test func `host and bridge see one another's numbers, and the file goes with the host`() throws {
        var host: LimitShare? = try LimitShare.make()
        let path = try #require(host?.path)
        let bridge = try LimitShare(path: path)
        #expect(bridge.divisor == 0)
        host?.set(divisor: 3, until: LimitShare.now + 60)
        bridge.running = 7
        #expect(bridge.divisor == 3 && host?.running == 7)
        host?.set(divisor: 3, until: LimitShare.now - 0.01)
        #expect(bridge.divisor == 0, "an expired part allows nothing")
        host = nil
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(bridge.running == 7, "a bridge that still runs keeps the page")
    }

    @Test func `a file that is missing or cut is an error`() throws {
        #expect(throws: AtomicFile.Failure.self) { _ = try LimitShare(path: "/nowhere/limits") }
        let host = try LimitShare.make()
        truncate(host.path, 10)
        #expect(throws: AtomicFile.Failure.self) { _ = try LimitShare(path: host.path) }
    }
}
