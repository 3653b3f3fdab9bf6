import Testing

@testable import BridgeHost

/// When a scan that returns the same batches again counts as endless.
@Suite struct RepeatGuardTests {
    private static let batch = Array("records".utf8)

    private func isEndless(_ guardian: inout RepeatGuard) -> Bool {
        Self.batch.withUnsafeBytes { guardian.isEndless(after: $0) }
    }

    @Test func `a listing of the same batches is endless`() {
        var guardian = RepeatGuard()
        let first = (0..<RepeatGuard.most + 2).firstIndex { _ in isEndless(&guardian) }
        // The first batch is new, and the second one is only then remembered whole.
        #expect(first == RepeatGuard.most + 1)
    }

    @Test func `listings with the same records are not endless`() {
        var guardian = RepeatGuard()
        var ends = 0
        for _ in 0..<RepeatGuard.mostListings - 1 {
            if isEndless(&guardian) { ends += 1 }
            if guardian.isEndlessAfterListing() { ends += 1 }
        }
        #expect(ends == 0)
        let isOver = guardian.isEndlessAfterListing()
        #expect(isOver)
    }

    @Test func `a listing after others is endless on its own`() {
        var guardian = RepeatGuard()
        _ = isEndless(&guardian)
        let isOver = guardian.isEndlessAfterListing()
        let ends = (0..<RepeatGuard.most + 2).contains { _ in isEndless(&guardian) }
        #expect(!isOver && ends)
    }
}
