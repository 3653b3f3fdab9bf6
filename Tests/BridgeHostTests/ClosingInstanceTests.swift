import BridgeTestSupport
import Dispatch
import RecordBatch
import TestSupport
import Testing

@testable import BridgeHost

/// Calls that arrive while an instance in the host's process closes.
@Suite struct ClosingInstanceTests {
    @Test func `a fetch is not opened in an instance that closes`() async throws {
        let instance = try await Self.instance()
        let gate = DispatchSemaphore(value: 0)
        let checked = Promise<Void>()
        // Keeps the thread of the instance busy, so that its end waits.
        instance.submit(.check) { _ in
            checked.fulfil(())
            gate.wait()
        }
        await checked.value
        let closed = Promise<Void>()
        instance.close { closed.fulfil(()) }
        let opened = Promise<BridgeReply>()
        instance.submit(.fetchOpen(1, try request().batch(cursor: nil))) { opened.fulfil($0) }
        let reply = await opened.value
        gate.signal()
        await closed.value
        #expect(reply.isFailureWithoutReason, "the bridge would read the options of a freed instance")
    }

    @Test func `an instance closes whatever is opened meanwhile`() async throws {
        for _ in 0..<100 {
            let instance = try await Self.instance()
            let request = try request().batch(cursor: nil)
            let opened = (1...UInt32(8)).map { ($0, Promise<BridgeReply>()) }
            let closed = Promise<Bool>()
            for (number, reply) in opened {
                if number == 4 {
                    DispatchQueue.global().async { instance.close { closed.fulfil(true) } }
                }
                instance.submit(.fetchOpen(number, request)) { reply.fulfil($0) }
            }
            let late = closed.fulfil(after: .seconds(20), with: false)
            #expect(await closed.value)
            late.cancel()
            for (_, reply) in opened { _ = await reply.value }
        }
    }

    private static func instance() async throws -> BridgeInstance {
        let instance = BridgeInstance(
            plugin: try LoadedPlugin.load(CompiledBridge.counting()), isConcurrent: true, log: { _, _ in })
        let opened = Promise<BridgeReply>()
        instance.open(try batch([:])) { opened.fulfil($0) }
        let reply = await opened.value
        try #require(reply.isDone)
        return instance
    }
}

extension BridgeReply {
    fileprivate var isDone: Bool { if case .done = self { true } else { false } }

    fileprivate var isFailureWithoutReason: Bool { if case .failed(nil) = self { true } else { false } }
}
