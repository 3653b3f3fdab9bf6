import BridgeKit
import RESTBridge
import RecordBatch
import Testing
import TestSupport

/// What a whole scan gave.
struct Scan {
    var pages: [Page] = []
    /// The JSON of each record.
    var records: [String] = []

    var last: Page? { pages.last }
    var warnings: [String] { pages.flatMap(\.warnings) }
    var rejected: [Page.Rejected] { pages.flatMap(\.rejected) }

    /// The `id` of each record.
    var ids: [Int] {
        records.compactMap { record in
            guard let range = record.firstRange(of: "\"id\":") else { return nil }
            return Int(record[range.upperBound...].prefix { $0.isNumber })
        }
    }

    /// Scans to the end, or until a page of `limit`.
    init(_ source: any RecordSource, limit: Int = 1000) throws {
        let writer = RecordBatchWriter()
        while pages.count < limit {
            let page = try source.next(into: writer)
            let batch = try writer.finish()
            records += (0..<batch.count).map { batch[$0].json }
            pages.append(page)
            if page.isEnd { return }
        }
    }
}

func bridge(_ options: Literal) throws -> RESTBridge {
    try RESTBridge(options: options.options, context: BridgeContext())
}

func source(_ bridge: RESTBridge, _ section: Literal, cursor: String? = nil) throws -> any RecordSource {
    try bridge.fetch(FetchRequest(entity: "User", section: section.options, cursor: cursor))
}
