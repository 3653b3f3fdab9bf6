internal import BridgeKit
internal import RecordBatch

/// The scans of several slices, one after the other, as one scan.
///
/// A resume point names the slice and then the position in it: `s3 p2 page:2`. After an incomplete slice there is none.
final class SlicedSource: RecordSource {
    private let slices: [Slice]
    private let make: (Slice, FetchRequest) throws -> any RecordSource
    private var request: FetchRequest
    private var index: Int
    private var current: (any RecordSource)?
    private var isComplete = true
    private var isPositional = false
    private var warnings: [String] = []

    /// - Parameter make: Makes the scan of one slice.
    init(_ slices: [Slice], _ request: FetchRequest, make: @escaping (Slice, FetchRequest) throws -> any RecordSource) {
        self.slices = slices
        self.make = make
        let point = Self.point(request.cursor)
        self.request = request
        self.request.cursor = point.cursor
        // A validator or token applies to a whole listing, not to a slice.
        self.request.token = nil
        index = min(point.slice, slices.count - 1)
    }

    private static func point(_ text: String?) -> (slice: Int, cursor: String?) {
        guard let text, text.hasPrefix("s") else { return (0, text) }
        let parts = text.dropFirst().split(separator: " ", maxSplits: 1)
        guard let first = parts.first, let slice = Int(first), slice >= 0 else { return (0, nil) }
        return (slice, parts.count > 1 ? String(parts[1]) : nil)
    }

    func cancel() { current?.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let source = try current ?? make(slices[index], request)
        current = source
        var page = try source.next(into: writer)
        page.token = nil
        page.total = nil
        guard page.isEnd else {
            page.cursor = isComplete ? page.cursor.map { "s\(index) \($0)" } : nil
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
            page.isComplete = false
            page.isPositional = false
            page.warnings = []
            // After an incomplete slice, a resumed scan would take the listing as complete.
            page.cursor = isComplete ? "s\(index)" : nil
            return page
        }
        page.isComplete = isComplete
        page.isPositional = isComplete && isPositional
        page.warnings = warnings
        return page
    }
}
