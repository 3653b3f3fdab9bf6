internal import BridgeKit
internal import RecordBatch

/// The first request of a scan, described without being sent.
final class ExplainedSource: RecordSource {
    private let request: String
    private let body: String
    private let warnings: [String]
    private let metadata: [String: String]

    init(request: String, body: String, warnings: [String], metadata: [String: String]) {
        self.request = request
        self.body = body
        self.warnings = warnings
        self.metadata = metadata
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        writer.object {
            writer.key("request")
            writer.text(request)
            writer.key("body")
            writer.text(body)
        }
        return Page(isPageEnd: true, isEnd: true, warnings: warnings, metadata: metadata)
    }

    func cancel() {}
}
