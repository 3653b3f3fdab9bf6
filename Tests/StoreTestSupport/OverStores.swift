package import Testing

extension StoreKind {
    /// The store that fixtures open; a file of SQLite unless the suite runs over others too.
    @TaskLocal package static var current = StoreKind.sqlite
}

/// Runs each test of a suite over several stores, one after the other; an issue names its store.
package struct OverStores: SuiteTrait, TestTrait, TestScoping {
    let kinds: [StoreKind]

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        for kind in kinds { try await StoreKind.$current.withValue(kind) { try await function() } }
    }
}

/// Runs a test of such a suite over SQLite only, as it needs another program that writes the file, or looks at tables of
/// the bookkeeping.
package struct OverSQLiteOnly: TestTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if StoreKind.current == .sqlite { try await function() }
    }
}

extension Trait where Self == OverStores {
    /// Over all stores.
    package static var overAllStores: Self { OverStores(kinds: StoreKind.allCases) }

    /// Over the stores that keep a database between two processes.
    package static var overDatabases: Self { OverStores(kinds: StoreKind.allCases.filter { $0 != .memory }) }

    /// Over the store that needs a server.
    package static var overServers: Self { OverStores(kinds: StoreKind.allCases.filter { !$0.isLocal }) }

    /// Over the stores that need no server: what a suite of the library proves does not depend on the store's kind.
    package static var overBothStores: Self { OverStores(kinds: [.memory, .sqlite]) }
}

extension Trait where Self == OverSQLiteOnly {
    package static var overSQLiteOnly: Self { OverSQLiteOnly() }
}

extension Trait where Self == IssueHandlingTrait {
    /// Names the store in each issue.
    package static var namingTheStore: Self {
        .compactMapIssues { issue in
            var issue = issue
            issue.comments.append("over the store \(StoreKind.current.rawValue)")
            return issue
        }
    }
}
