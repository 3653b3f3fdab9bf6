internal import BridgeKit
internal import RecordBatch
internal import SystemCalls

/// The scans of several slices, or of one up to a time, one after the other, as one scan.
///
/// A resume point names the slice and then the position in it. After an incomplete slice there is none.
final class SlicedSource: RecordSource {
    private let slices: [Slice]
    private let make: (Slice, FetchRequest) throws -> any ListingSource
    private var request: FetchRequest
    private var index: Int
    private let now: Int64
    private let digest: String
    private var current: (any ListingSource)?
    private let running = Mutex(Running())
    private var isComplete = true
    private var isPositional: Bool
    private var warnings: [String] = []

    /// The requests of the slice being read, which another thread may cancel.
    private struct Running {
        var requests: RunningRequests?
        var isCancelled = false
    }

    /// - Parameters:
    ///   - now: The time from which the slices were derived.
    ///   - point: The place to resume from; one in other slices leads to the beginning.
    ///   - make: Makes the scan of one slice.
    init(
        _ slices: [Slice], _ request: FetchRequest, now: Int64, at point: SlicePoint?,
        make: @escaping (Slice, FetchRequest) throws -> any ListingSource
    ) {
        self.slices = slices
        self.make = make
        let digest = SlicePoint.digest(of: slices)
        self.digest = digest
        let known = point.flatMap { $0.digest == digest && $0.slice < slices.count ? $0 : nil }
        self.now = now
        index = known?.slice ?? 0
        // The pages of the earlier slices may have been numbered.
        isPositional = index > 0
        self.request = request
        self.request.cursor = known?.cursor
        // A validator or token applies to a whole listing, not to a slice.
        if slices.count > 1 { self.request.token = nil }
    }

    func cancel() {
        let requests = running.withLock { running in
            running.isCancelled = true
            return running.requests
        }
        requests?.cancel()
    }

    /// Returns the scan of the slice being read.
    private func source() throws -> any ListingSource {
        if let current { return current }
        let source = try make(slices[index], request)
        current = source
        let isCancelled = running.withLock { running in
            running.requests = source.running
            return running.isCancelled
        }
        if isCancelled { source.cancel() }
        return source
    }

    private func point(_ cursor: String?) -> String {
        SlicePoint(slice: index, now: now, digest: digest, cursor: cursor).text
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        var page = try source().next(into: writer)
        if slices.count > 1 {
            page.token = nil
            page.total = nil
        }
        guard page.isEnd else {
            page.cursor = isComplete ? page.cursor.map { point($0) } : nil
            return page
        }
        isComplete = isComplete && page.isComplete
        isPositional = isPositional || page.isPositional
        warnings += page.warnings.filter { !warnings.contains($0) }
        current = nil
        request.cursor = nil
        index += 1
        if index < slices.count {
            page.isEnd = false
            page.endsListing = true
            page.isComplete = false
            page.isPositional = false
            page.warnings = []
            // After an incomplete slice, a resumed scan would take the listing as complete.
            page.cursor = isComplete ? point(nil) : nil
            return page
        }
        page.isComplete = isComplete
        page.isPositional = isComplete && isPositional
        page.warnings = warnings
        return page
    }
}
