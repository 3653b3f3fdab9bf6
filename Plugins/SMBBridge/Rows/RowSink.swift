import BridgeKit
import RecordBatch

/// Takes the rows of one file: counts them, leaves out those that an earlier fetch gave, and writes the rest.
final class RowSink {
    /// The file's path below the url's folder.
    let path: [String]
    let pathText: String
    let listing: FileListing
    private(set) var writer: RecordBatchWriter
    /// The present member of a zip archive; nil in a plain file.
    private(set) var member: String?
    /// The last row of the file or member, from 1; a header does not count.
    private(set) var row = 0
    /// The last row of the file, over all members.
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

    /// What to call the file in messages.
    var subject: String { member.map { "\(pathText), \($0)" } ?? pathText }

    /// Counts a row; whether it is wanted.
    func advance() -> Bool {
        row += 1
        total += 1
        return total > skipped
    }

    /// Writes where the row comes from: call it inside the row's object.
    func writeProvenance(_ writer: RecordBatchWriter? = nil) {
        let writer = writer ?? self.writer
        if writesPath { writer.member("@path", pathText) }
        if let member, writesMember { writer.member("@member", member) }
        if writesRow { writer.member("@row", row) }
        for (name, value) in captures { writer.member(name, value) }
    }

    /// The same as members of a JSON object, each with a comma behind it.
    func provenanceJSON() -> [UInt8] {
        let writer = RecordBatchWriter()
        writer.object { writeProvenance(writer) }
        guard let batch = try? writer.finish() else { return [] }
        let members = Array(batch.json(0).utf8.dropFirst().dropLast())
        return members.isEmpty ? [] : members + [UInt8(ascii: ",")]
    }

    /// A row, by default the present one, cannot become a record.
    func reject(row: Int? = nil, _ reason: String, representation: String) {
        hasRejected = true
        listing.reject("row \(row ?? self.row) of \(subject) \(reason)", representation: representation, of: path)
    }
}

/// Takes text apart into rows.
protocol RowParser: AnyObject {
    /// Takes the next text.
    ///
    /// - Throws: ``FileFault`` for a text that is not of the format.
    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws

    /// Says that the text is over, and writes what is left of it; true when that is done, else it is called again.
    func finish(into sink: RowSink) throws -> Bool
}
