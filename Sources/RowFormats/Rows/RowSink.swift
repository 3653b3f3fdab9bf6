package import RecordBatch

/// Receives the warnings and the rejected rows of a file that is being read.
package protocol RowReport {
    /// Adds a warning for the user.
    func warn(_ sentence: String)

    /// Puts a part of the file that cannot become a record into quarantine; `representation` may be long.
    func reject(_ reason: String, representation: String)
}

/// Receives the rows of one file: counts them, skips those that an earlier fetch returned, and writes the rest.
package final class RowSink {
    /// The file's name in records and messages, such as its path.
    package let name: String
    package let report: any RowReport
    private(set) var writer: RecordBatchWriter
    /// The current member of a zip archive; nil in a plain file.
    private(set) var member: String?
    /// The number of the last row in the file or member, from 1; a header does not count.
    private(set) var row = 0
    /// The number of the last row in the file, over all members.
    package private(set) var total = 0
    /// The number of rows that this fetch and earlier ones returned.
    package var returned: Int { max(total, skipped) }
    /// What the document has outside the rows; known at its end, and empty for other formats than XML.
    package var surroundings = Surroundings()
    /// Whether a row was rejected.
    package private(set) var hasRejected = false
    private let captures: [(name: String, value: String?)]
    private let defaults: [(name: String, value: String)]
    private let keys: [String]
    private let fields: Set<String>?
    private let skipped: Int
    private let writesPath: Bool
    private let writesMember: Bool
    private let writesRow: Bool

    /// - Parameters:
    ///   - name: The file's name: the member `@path` of each record.
    ///   - captures: Further members of each record, which no column may be named after.
    ///   - defaults: Further members of each record that has none of that name.
    ///   - keys: The paths of the key in a record, with dots; empty if they are not known.
    ///   - fields: The members of a record that the host reads; nil means all.
    ///   - skipped: The number of rows that an earlier fetch returned.
    package init(
        _ name: String, captures: [(name: String, value: String?)] = [], defaults: [(name: String, value: String)] = [],
        keys: [String] = [], fields: Set<String>? = nil, skipping skipped: Int = 0, writer: RecordBatchWriter,
        report: any RowReport
    ) {
        self.name = name
        self.captures = captures
        self.defaults = defaults
        self.keys = keys
        self.fields = fields
        self.skipped = skipped
        self.writer = writer
        self.report = report
        func isRead(_ name: String) -> Bool { fields?.contains(name) != false }
        writesPath = isRead("@path")
        writesMember = isRead("@member")
        writesRow = isRead("@row")
    }

    /// The names of the captures.
    var captureNames: [String] { captures.map(\.name) }

    /// Returns the fault of a header row that lacks the columns of the key, or all that the host reads; nil if it has
    /// them.
    ///
    /// Such a row is a message in place of the table, or the header of another table. To take it for a table without
    /// rows would delete all objects.
    func fault(inHeader names: [String]) -> FileFault? {
        let added = Set(captures.map(\.name) + defaults.map(\.name))
        /// Whether records have the member without a column, as they have `@row`.
        func isAdded(_ name: String) -> Bool { name.hasPrefix("@") || added.contains(name) }
        let missing = keys.first { key in
            let member = String(key.prefix { $0 != "." })
            return !isAdded(member) && !names.contains(key) && !names.contains(member)
        }
        let needed: String
        if let missing {
            needed = "no column \"\(missing)\", which the key needs"
        } else if let columns = fields?.filter({ !isAdded($0) }), !columns.isEmpty, columns.isDisjoint(with: names) {
            needed = "none of the columns that the entity reads (\(Self.list(columns.sorted())))"
        } else {
            return nil
        }
        return FileFault(
            reason: "has \(needed), in its header: \(Self.list(names))",
            remedy: "if this is a message in place of the table, sync again later; otherwise check delimiter, "
                + "skip_rows, encoding and the attributes' from, or name the columns of a table without a header in "
                + "header")
    }

    /// Returns the first names for a message.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(10).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
        return names.count > 10 ? "\(shown) and \(names.count - 10) more" : shown
    }

    func use(_ writer: RecordBatchWriter) { self.writer = writer }

    func begin(member: String?) {
        self.member = member
        row = 0
    }

    /// The name of the file, and of the current member of an archive, in messages.
    package var subject: String { member.map { "\(name), \($0)" } ?? name }

    /// Counts a row; returns whether it should be written.
    func advance() -> Bool {
        row += 1
        total += 1
        return total > skipped
    }

    /// Writes the row's origin; call it inside the row's object.
    func writeProvenance(_ writer: RecordBatchWriter? = nil) {
        let writer = writer ?? self.writer
        if writesPath { writer.member("@path", name) }
        if let member, writesMember { writer.member("@member", member) }
        if writesRow { writer.member("@row", row) }
        for (name, value) in captures { writer.member(name, value) }
        // Of two members with one name, a mapping takes the last: the record's own.
        for (name, value) in defaults { writer.member(name, value) }
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
        report.reject("row \(row ?? self.row) of \(subject) \(reason)", representation: representation)
    }
}
