import BridgeKit
import RecordBatch

/// A walk whose records are the rows of CSV files.
final class CSVSource: RecordSource {
    private let listing: FileListing
    private let section: CSVSection
    private let pageSize: Int
    private var file: CSVFile?
    private var failure: (any Error)?

    init(listing: FileListing, section: CSVSection, pageSize: Int) {
        self.listing = listing
        self.section = section
        self.pageSize = pageSize
    }

    func cancel() { listing.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        // The rows of a failed call are lost, so this walk must not go on behind them.
        if let failure { throw failure }
        do {
            return try advance(writer)
        } catch {
            failure = error
            throw error
        }
    }

    private func advance(_ writer: RecordBatchWriter) throws -> Page {
        var folders = 0
        while writer.recordCount < pageSize, writer.byteCount < Paging.batchBytes, listing.rejectedCount < pageSize,
            folders < Paging.folders
        {
            try listing.checkCancelled()
            if let file {
                if try !file.advance(into: writer) { self.file = nil }
                continue
            }
            switch try listing.next() {
            case .match(let match) where match.entry.isDirectory: break
            case .match(let match): file = try open(match)
            case .listed: folders += 1
            case .end: return page(isEnd: true)
            }
        }
        return page(isEnd: false)
    }

    private func open(_ match: FolderWalk.Match) throws -> CSVFile {
        var rows = 0
        var version: FileVersion?
        if let resumed = listing.resumed, resumed.point.repeatsEntry, resumed.point.folder == match.folder,
            resumed.point.name == match.entry.name
        {
            rows = resumed.rows
            version = resumed.version
        }
        return try CSVFile(match, listing: listing, section: section, skippingRows: rows, ifStill: version)
    }

    private func page(isEnd: Bool) -> Page {
        var cursor = listing.cursor()
        if let file {
            cursor = listing.cursor(
                inside: file.match, rows: file.row, version: file.version ?? file.match.entry.version)
        }
        return listing.page(cursor: cursor, isEnd: isEnd, location: listing.url.location(file?.match.path ?? []))
    }
}
