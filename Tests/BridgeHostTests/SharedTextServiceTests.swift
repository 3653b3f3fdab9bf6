import RecordBatch
import Synchronization
import Testing

@testable import BridgeHost

/// The names of the texts that a bridge shares with other processes.
@Suite struct SharedTextServiceTests {
    private final class Texts: SharedTexts {
        func lock(_ name: String) throws -> any LockedText { Text() }

        final class Text: LockedText {
            var value: String? { nil }
            func save(_ text: String) throws {}
            func release() {}
        }
    }

    @Test func `a name too many is refused, and the others stay`() throws {
        let service = SharedTextService(Texts(), bridge: "api", plugin: "rest")
        func call(_ operation: String, _ name: String) throws -> Bool {
            let writer = RecordBatchWriter()
            writer.object {
                writer.member("operation", operation)
                writer.member("name", name)
            }
            if case .done = service.answer(try writer.finish()) { return true }
            return false
        }
        for number in 1...16 {
            #expect(try call("lock", "name \(number)") && call("release", "name \(number)"))
        }
        for _ in 1...2 { #expect(try !call("lock", "name 17")) }
        for number in 1...16 {
            #expect(try call("lock", "name \(number)") && call("release", "name \(number)"), "name \(number)")
        }
    }
}
