import StoreTestSupport
import Testing

extension StoreKind {
    /// The store that ``StoreFixture`` opens; a file of SQLite unless the suite runs over both stores.
    @TaskLocal static var current = StoreKind.sqlite
}

/// Runs each test of a suite over both stores, one after the other; an issue names its store.
struct OverBothStores: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for kind in StoreKind.allCases { try await StoreKind.$current.withValue(kind) { try await function() } }
    }
}

/// Runs a test of such a suite over SQLite only, as it needs another program that writes the file, or looks at tables of
/// the bookkeeping.
struct OverSQLiteOnly: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if StoreKind.current == .sqlite { try await function() }
    }
}

extension Trait where Self == OverBothStores {
    static var overBothStores: Self { OverBothStores() }
}

extension Trait where Self == OverSQLiteOnly {
    static var overSQLiteOnly: Self { OverSQLiteOnly() }
}

extension Trait where Self == IssueHandlingTrait {
    /// Names the store in each issue.
    static var namingTheStore: Self {
        .compactMapIssues { issue in
            var issue = issue
            issue.comments.append("over the store \(StoreKind.current.rawValue)")
            return issue
        }
    }
}
