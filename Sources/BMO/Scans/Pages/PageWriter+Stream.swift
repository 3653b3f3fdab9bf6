internal import BridgeHost

extension PageWriter {
    /// Imports the batches of a stream and closes it.
    ///
    /// While one batch is imported, the next one waits mapped, and the bridge produces a third.
    ///
    /// - Parameter isEnough: Whether this number of records on complete pages suffices.
    /// - Throws: Errors of the bridge or the store; earlier pages are committed.
    func importAll(
        of stream: RecordStream, _ listener: Listener, until isEnough: (Int) -> Bool = { _ in false }
    ) async throws {
        do {
            try await handOver(stream, listener, isEnough)
        } catch {
            await takeBack()
            await stream.close()
            throw error
        }
        await stream.close()
    }

    private func handOver(
        _ stream: RecordStream, _ listener: Listener, _ isEnough: (Int) -> Bool
    ) async throws {
        var waiting: [Job] = []
        do {
            while let fetched = try await next(of: stream) {
                // A failed import cancels the stream.
                waiting.append(try await start(fetched, listener, onFailure: { stream.cancel() }))
                if fetched.page.pageEnd, isEnough(recordsHandedOver) { break }
                if waiting.count > 1 { try await waiting.removeFirst().value.get() }
            }
            for job in waiting { try await job.value.get() }
        } catch {
            // The earlier pages are committed, or the first failed batch has the cause.
            for job in waiting { try await job.value.get() }
            throw error
        }
    }

    /// Returns the next batch; a page that broke off is rolled back and fetched again.
    private func next(of stream: RecordStream) async throws -> FetchedBatch? {
        while true {
            do {
                return try await stream.next()
            } catch {
                // Not `catch where`: Swift 6.3.1 crashes on it after a typed throw.
                guard error.breaksPage, error.isRetryable else { throw error }
                await takeBack()
                try await stream.reopen()
            }
        }
    }
}
