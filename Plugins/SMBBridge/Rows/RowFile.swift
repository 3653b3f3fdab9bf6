import BridgeKit
import RecordBatch
import RowFormats

/// The reading of one file of a share, which may continue an earlier one.
final class RowFile {
    let match: FolderWalk.Match
    let sink: RowSink
    /// The file's state while it is read; nil before the first chunk.
    var version: FileVersion? { file.version }

    private let file: ShareFile
    private let reader: RowReader

    /// - Parameters:
    ///   - skipped: The number of rows that an earlier fetch returned.
    ///   - resumedVersion: The file's state at that fetch; another state restarts at its first row.
    init(
        _ match: FolderWalk.Match, listing: FileListing, section: RowSection, writer: RecordBatchWriter,
        skipping skipped: Int, ifStill resumedVersion: FileVersion?
    ) throws {
        self.match = match
        file = ShareFile(share: listing.share, path: listing.share.url.folder + match.path)
        var skipped = skipped
        if let resumedVersion {
            _ = try file.peek()
            if file.version?.agrees(with: resumedVersion) == false { skipped = 0 }
        }
        let names = listing.options.patterns.captureNames
        sink = RowSink(
            match.path.joined(separator: "/"),
            captures: Array(zip(names, match.captures)).map { (name: $0, value: $1) }, keys: listing.keyPaths,
            fields: listing.fields, skipping: skipped, writer: writer,
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
    func advance(into writer: RecordBatchWriter) throws -> Bool { try reader.advance(into: writer) }

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
