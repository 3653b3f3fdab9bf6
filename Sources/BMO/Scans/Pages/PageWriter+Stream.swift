internal import BridgeHost
internal import SystemCalls
internal import Tracing

extension PageWriter {
    /// Imports the batches of a stream and closes it.
    ///
    /// While one batch is imported, the next one waits mapped, and the bridge produces a third. More of them may wait
    /// if they were recognised: a store behind a network takes a while to begin.
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
        var waiting: [Import] = []
        var pages = spans
        do {
            while let fetched = try await pages.fetching({ try await next(of: stream) }) {
                let page = pages.taking(fetched)
                do {
                    // A failed import cancels the stream.
                    let job = try await start(fetched, listener, onFailure: { stream.cancel() })
                    waiting.append(Import(job: job, page: page))
                } catch {
                    page?.end()
                    throw error
                }
                if fetched.page.end || fetched.page.pageEnd && isEnough(recordsHandedOver) { break }
                while let first = waiting.first,
                    first.job.result.isFulfilled
                        || waiting.count > 1 && waiting.reduce(0, { $0 + $1.cost }) > Import.maxCost
                {
                    try await waiting.removeFirst().finish()
                }
                if isOver.withLock({ $0 }) { break }
            }
            while !waiting.isEmpty { try await waiting.removeFirst().finish() }
            // The beginning of a page behind what is known.
            if isOver.withLock({ $0 }) { await takeBack() }
        } catch {
            pages.end(with: error)
            // The earlier pages are committed, or the first failed batch has the cause.
            while !waiting.isEmpty { try await waiting.removeFirst().finish() }
            throw error
        }
        pages.end(with: nil)
    }

    /// A batch that is being imported.
    private struct Import {
        /// The most that the batches which wait may cost together, in bytes.
        static let maxCost = 4 << 20

        let job: Job
        /// The span of the page that the batch ends.
        let page: (any Span)?

        /// What it costs to let the batch wait: a mapped one waits only behind the one that is imported.
        var cost: Int { job.recognizedBytes ?? Self.maxCost + 1 }

        func finish() async throws {
            defer { page?.end() }
            do {
                try await job.result.value.get()
            } catch {
                page?.recordError(error)
                throw error
            }
        }
    }

    /// Returns the next batch; a page that broke off is rolled back and fetched again.
    private func next(of stream: RecordStream) async throws -> FetchedBatch? {
        while true {
            do {
                return try await stream.next()
            } catch {
                // Not `catch where`: Swift 6.3.1 crashes on it after a typed throw.
                guard error.breaksPage, error.isRetryable, !error.startsOver else { throw error }
                await takeBack()
                try await stream.reopen()
            }
        }
    }
}
