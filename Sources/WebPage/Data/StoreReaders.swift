internal import BMO
internal import Dispatch
internal import StoreContract
internal import SystemCalls

/// Stores opened for reading, one per page that is being rendered, used on threads that may block.
final class StoreReaders: Sendable {
    private struct Idle {
        let store: any Store
        /// Nil for a server's database.
        let file: FileIdentity?
        let opened: ContinuousClock.Instant
    }

    /// The maximum number of stores that stay open between pages.
    private static let maxIdle = 4
    /// How long a store stays open.
    private static let maxAge: Duration = .seconds(30)

    private let workspace: Workspace
    private let queue = DispatchQueue(label: "bmo.page", attributes: .concurrent)
    private let idle = Mutex<[Idle]>([])

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// Reads the database.
    ///
    /// - Throws: ``PageFailure`` if the database does not exist; `StoreError`; what `body` throws.
    func read<Result: Sendable>(_ body: @escaping @Sendable (any Store) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Swift.Result { try readHere(body) })
            }
        }
    }

    /// Runs work that blocks and does not need an open store.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private func readHere<Result>(_ body: (any Store) throws -> Result) throws -> Result {
        let taken = try take()
        do {
            let result = try body(taken.store)
            giveBack(taken)
            return result
        } catch {
            // The error may come from a file that was replaced.
            try? taken.store.close()
            throw error
        }
    }

    private func take() throws -> Idle {
        let path = workspace.configuration.databasePath
        let file = FileIdentity(path)
        let (young, old) = idle.withLock { idle -> (Idle?, [Idle]) in
            // The path may lead to another file by now.
            let now = ContinuousClock.now
            func isOld(_ reader: Idle) -> Bool { now - reader.opened > Self.maxAge || reader.file != file }
            let old = idle.filter(isOld)
            idle.removeAll(where: isOld)
            return (idle.popLast(), old)
        }
        for old in old { try? old.store.close() }
        if let young { return young }
        guard workspace.stores.exists(path) else { throw PageFailure.noDatabase }
        return Idle(store: try workspace.openStoreForReading(), file: file, opened: .now)
    }

    private func giveBack(_ reader: Idle) {
        let isKept = idle.withLock { idle in
            guard idle.count < Self.maxIdle else { return false }
            idle.append(reader)
            return true
        }
        if !isKept { try? reader.store.close() }
    }

    /// Closes the idle stores.
    func close() {
        let all = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        for reader in all { try? reader.store.close() }
    }
}
