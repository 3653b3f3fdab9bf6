import BridgeKit
import RecordBatch
import RowFormats

/// A scan whose records are the rows of files.
///
/// A file that cannot be read, or does not follow the format, goes to quarantine with its reason, and the scan
/// continues: its rows stay unchanged. A file that changes or is in use is first read again. If rows of a file that
/// changed were returned already, the scan must start over, so that they do not count as listed.
final class RowSource: RecordSource {
    private let listing: FileListing
    private let section: RowSection
    private let pageSize: Int
    private var file: RowFile?
    /// The number of failures of the current file.
    private var failures = 0
    /// The rows of the current file that an earlier reading returned.
    private var place: RowFile.Place?
    private var failure: (any Error)?
    /// After which time a call returns what there is.
    var callTime: Duration = RowReader.callTime

    init(listing: FileListing, section: RowSection, pageSize: Int) {
        self.listing = listing
        self.section = section
        self.pageSize = pageSize
    }

    func cancel() { listing.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        // The records of a failed call are lost, so this scan must not continue after them.
        if let failure { throw failure }
        // The names of a rejected record stay in the writer, which would appear to be full.
        if writer.recordCount == 0 { writer.clear() }
        do {
            return try advance(writer)
        } catch {
            failure = error
            throw error
        }
    }

    private func advance(_ writer: RecordBatchWriter) throws -> Page {
        var folders = 0
        let end = ContinuousClock.now + callTime
        repeat {
            try listing.checkCancelled()
            if let file {
                try advance(file, writer)
                continue
            }
            switch try listing.next() {
            case .match(let match) where listing.states.isUnchanged(match): listing.skipUnchanged(match)
            case .match(let match):
                failures = 0
                place = resumedPlace(in: match)
                try open(match, writer)
            case .listed: folders += 1
            case .end: return page(isEnd: true)
            }
        } while writer.recordCount < pageSize && writer.byteCount < FilePaging.batchBytes
            && listing.rejectedCount < pageSize && folders < FilePaging.folders && ContinuousClock.now < end
        return page(isEnd: false)
    }

    private func advance(_ file: RowFile, _ writer: RecordBatchWriter) throws {
        do {
            if try file.advance(into: writer) { return }
        } catch {
            return try handle(error, of: file.match, file, writer)
        }
        self.file = nil
        // The next scan must read a file again that is not in its listed state any more.
        if !file.sink.hasRejected, failures == 0, !file.hasGrown { listing.states.wasRead(file.match) }
    }

    private func resumedPlace(in match: FolderWalk.Match) -> RowFile.Place? {
        guard let resumed = listing.resumed, resumed.point.repeatsEntry, resumed.rows > 0,
            let version = resumed.version, let name = resumed.point.name, name.isSame(as: match.entry.name),
            resumed.point.folder.isSame(as: match.folder)
        else { return nil }
        return RowFile.Place(rows: resumed.rows, version: version)
    }

    private func open(_ match: FolderWalk.Match, _ writer: RecordBatchWriter) throws {
        do {
            file = try RowFile(match, listing: listing, section: section, writer: writer, after: place)
        } catch {
            try handle(error, of: match, nil, writer)
        }
    }

    /// Reads the file again, skips it, or throws an error that concerns the whole scan.
    private func handle(
        _ error: any Error, of match: FolderWalk.Match, _ file: RowFile?, _ writer: RecordBatchWriter
    ) throws {
        let path = match.path.joined(separator: "/")
        self.file = nil
        if let file, let version = file.version, file.sink.returned > 0 {
            place = RowFile.Place(rows: file.sink.returned, version: version)
        }
        var error = error
        if let failure = error as? SMBFailure { error = listing.share.confirmed(failure) }
        // A file that was rewritten longer looks like one that has grown, and its parts do not fit together.
        if error is FileFault, let file, file.hasGrown {
            error = SMBFailure(cause: .changed, action: .readFile, path: listing.share.url.folder + match.path)
        }
        switch error {
        case let failure as SMBFailure where failure.cause == .changed && place != nil:
            throw BridgeError(
                .conflict, "the file \(path) changed while it was read, after some of its rows had been imported",
                remedy: "sync again when the file stays as it is",
                location: listing.share.url.location(match.path), startsOver: true)
        case let failure as SMBFailure where failure.isMomentary:
            failures += 1
            if failures < FilePaging.attempts { return try open(match, writer) }
            let explained = listing.share.explain(failure)
            listing.reject(
                "\(explained.message) (\(FilePaging.attempts) attempts)", representation: path, of: match.path)
        case let failure as SMBFailure where failure.isOfFile:
            listing.reject(listing.share.explain(failure).message, representation: path, of: match.path)
        case let failure as SMBFailure: throw listing.share.explain(failure)
        case let fault as FileFault:
            let remedy = fault.remedy.map { "; \($0)" } ?? ""
            listing.reject(
                "\(file?.sink.subject ?? path) \(fault.reason)\(remedy)", representation: path, of: match.path)
        default: throw error
        }
    }

    private func page(isEnd: Bool) -> Page {
        var cursor = listing.cursor()
        if let file {
            cursor = listing.cursor(
                inside: file.match, rows: file.sink.returned, version: file.version ?? file.match.entry.version)
        }
        let location = listing.share.url.location(file?.match.path ?? [])
        return listing.page(cursor: cursor, isEnd: isEnd, location: location)
    }
}
