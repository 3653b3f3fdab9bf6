import BridgeKit
import RecordBatch
import TestSupport

@testable import SOAPBridge

/// What a scan brought.
struct Scan {
    var records: [String] = []
    var pages: [Page] = []
    var maxBatchSize = 0

    /// Scans to the end, or to `pages` page ends.
    static func run(_ source: any RecordSource, pages limit: Int = .max) throws -> Scan {
        var scan = Scan()
        let writer = RecordBatchWriter()
        var ends = 0
        while ends < limit {
            let page = try source.next(into: writer)
            let batch = try writer.finish()
            scan.records += (0..<batch.count).map { batch[$0].json }
            scan.maxBatchSize = max(scan.maxBatchSize, batch.count)
            scan.pages.append(page)
            if page.isPageEnd { ends += 1 }
            if page.isEnd { break }
        }
        return scan
    }

    static func run(
        _ options: Literal, _ section: Literal, cursor: String? = nil, pages: Int = .max
    ) throws -> Scan {
        let bridge = try SOAPBridge(options: options.options, context: BridgeContext())
        let source = try bridge.fetch(FetchRequest(entity: "Product", section: section.options, cursor: cursor))
        return try run(source, pages: pages)
    }
}
