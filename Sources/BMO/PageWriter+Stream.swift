internal import BridgeHost

extension PageWriter {
    /// Imports what a stream brings and closes it: while one batch is imported the next one waits mapped, and the bridge makes a
    /// third.
    ///
    /// - Parameter isEnough: Whether nothing more is wanted after pages with so many records.
    /// - Throws: What the bridge or the store throws; the pages before are in.
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
                // Nobody asks for more of what cannot be kept.
                waiting.append(try await start(fetched, listener, onFailure: { stream.cancel() }))
                if fetched.page.pageEnd, isEnough(recordsHandedOver) { break }
                if waiting.count > 1 { try await waiting.removeFirst().value.get() }
            }
            for job in waiting { try await job.value.get() }
        } catch {
            // The pages before are in, or the first batch that failed says why.
            for job in waiting { try await job.value.get() }
            throw error
        }
    }

    /// The next batch; a page that broke in its middle is taken back and fetched again.
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
