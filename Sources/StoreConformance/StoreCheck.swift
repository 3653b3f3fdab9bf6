/// One check: a named function that throws a finding.
struct StoreCheck: Sendable {
    let name: String
    let body: @Sendable (StoreSubject) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (StoreSubject) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// All checks, protocol by protocol.
    static let all =
        rows + types + texts + pages + scans + sharedTransactions + orphans + history + outbox + edits + conflicts
        + queries
        + collections + feed + uses
        + sharedTexts
}
