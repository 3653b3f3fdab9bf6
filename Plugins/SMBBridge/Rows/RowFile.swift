import BridgeKit
import RecordBatch
import RowFormats

/// The reading of one file of a share, which may continue an earlier one.
final class RowFile {
    let match: FolderWalk.Match
    let sink: RowSink
    /// The file's state at the first chunk, nil before it: a reading goes on only in a file that is still the same, and not
    /// in one that has grown, whose earlier rows may be others.
    var version: FileVersion? { file.firstVersion }

    /// Whether rows were appended while the file was read, so that they are missing.
    var hasGrown: Bool { file.hasGrown }

    private let file: ShareFile
    private let reader: RowReader
    private var isRead = false

    /// The rows of a file that were returned, and the file's state then.
    struct Place {
        var rows: Int
        var version: FileVersion
    }

    /// - Parameter place: What an earlier reading returned, which this one leaves out.
    /// - Throws: ``SMBFailure``, with ``SMBFailure/Cause/changed`` if the file has changed since the earlier reading.
    init(
        _ match: FolderWalk.Match, listing: FileListing, section: RowSection, writer: RecordBatchWriter,
        after place: Place?
    ) throws {
        self.match = match
        file = ShareFile(
            share: listing.share, path: listing.share.url.folder + match.path,
            growth: section.hasLines ? .ofLines : .accepted)
        if let place {
            _ = try file.peek()
            if file.version?.agrees(with: place.version) == false {
                throw SMBFailure(cause: .changed, action: .readFile, path: file.path)
            }
        }
        let names = listing.options.patterns.captureNames
        sink = RowSink(
            match.path.joined(separator: "/"),
            captures: Array(zip(names, match.captures)).map { (name: $0, value: $1) }, keys: listing.keyPaths,
            fields: listing.fields, skipping: place?.rows ?? 0, writer: writer,
            report: Report(listing: listing, path: match.path))
        reader = RowReader(
            file, as: section.format, encoding: section.encoding, limits: listing.share.options.rowLimits, into: sink
        ) { member in
            let path = member.split(separator: "/").map(String.init)
            return section.members.patterns.contains { $0.matches(path) }
        }
    }

    /// Parses a slice and writes its rows; returns false at the file's end.
    ///
    /// - Throws: ``FileFault``, ``SMBFailure``, or ``BridgeError``.
    func advance(into writer: RecordBatchWriter) throws -> Bool {
        if !isRead, try reader.advance(into: writer) { return true }
        isRead = true
        return try file.verify()
    }

    /// Passes what the reader says about the file to the listing.
    private struct Report: RowReport {
        let listing: FileListing
        let path: [String]

        func warn(_ sentence: String) { listing.warn(sentence) }

        func reject(_ reason: String, representation: String) {
            listing.reject(reason, representation: representation, of: path)
        }
    }
}
