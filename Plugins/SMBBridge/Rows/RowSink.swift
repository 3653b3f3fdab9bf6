import BridgeKit
import RecordBatch

/// Receives the rows of one file: counts them, skips those that an earlier fetch returned, and writes the rest.
final class RowSink {
    /// The file's path below the URL's folder.
    let path: [String]
    let pathText: String
    let listing: FileListing
    private(set) var writer: RecordBatchWriter
    /// The current member of a zip archive; nil in a plain file.
    private(set) var member: String?
    /// The number of the last row in the file or member, from 1; a header does not count.
    private(set) var row = 0
    /// The number of the last row in the file, over all members.
    private(set) var total = 0
    /// Whether a row was rejected.
    private(set) var hasRejected = false
    private let captures: [(name: String, value: String?)]
    private let skipped: Int
    private let writesPath: Bool
    private let writesMember: Bool
    private let writesRow: Bool

    init(_ match: FolderWalk.Match, listing: FileListing, writer: RecordBatchWriter, skipping skipped: Int) {
        path = match.path
        pathText = match.path.joined(separator: "/")
        self.listing = listing
        self.writer = writer
        self.skipped = skipped
        func isRead(_ name: String) -> Bool { listing.fields?.contains(name) != false }
        writesPath = isRead("@path")
        writesMember = isRead("@member")
        writesRow = isRead("@row")
        captures = Array(zip(listing.options.patterns.captureNames, match.captures)).map { (name: $0, value: $1) }
    }

    func use(_ writer: RecordBatchWriter) { self.writer = writer }

    func begin(member: String?) {
        self.member = member
        row = 0
    }

    /// The name of the file in messages.
    var subject: String { member.map { "\(pathText), \($0)" } ?? pathText }

    /// Counts a row; returns whether it should be written.
    func advance() -> Bool {
        row += 1
        total += 1
        return total > skipped
    }

    /// Writes the row's origin; call it inside the row's object.
    func writeProvenance(_ writer: RecordBatchWriter? = nil) {
        let writer = writer ?? self.writer
        if writesPath { writer.member("@path", pathText) }
        if let member, writesMember { writer.member("@member", member) }
        if writesRow { writer.member("@row", row) }
        for (name, value) in captures { writer.member(name, value) }
    }

    /// Returns the row's origin as members of a JSON object, each followed by a comma.
    func provenanceJSON() -> [UInt8] {
        let writer = RecordBatchWriter()
        writer.object { writeProvenance(writer) }
        guard let batch = try? writer.finish() else { return [] }
        let members = Array(batch.json(0).utf8.dropFirst().dropLast())
        return members.isEmpty ? [] : members + [UInt8(ascii: ",")]
    }

    /// Rejects a row, by default the current one, that cannot become a record.
    func reject(row: Int? = nil, _ reason: String, representation: String) {
        hasRejected = true
        listing.reject("row \(row ?? self.row) of \(subject) \(reason)", representation: representation, of: path)
    }
}

/// Parses text into rows.
protocol RowParser: AnyObject {
    /// Parses the next piece of text.
    ///
    /// - Throws: ``FileFault`` for a text that does not follow the format.
    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws

    /// Ends the text and writes the remaining rows; returns false if it must be called again.
    func finish(into sink: RowSink) throws -> Bool
}
