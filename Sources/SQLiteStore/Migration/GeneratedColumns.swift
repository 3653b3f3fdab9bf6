internal import GRDB

/// The generated columns of a table: only its user can have added them.
///
/// `pragma_table_info` leaves them out, and no pragma has their expressions.
struct GeneratedColumns {
    private let table: String
    /// The columns in their order, with their definitions as SQL; nil for one that is not found.
    private let columns: [(name: String, definition: String?)]

    /// Reads the columns of a table.
    ///
    /// - Throws: GRDB's errors.
    init(of table: String, in db: Database) throws {
        self.table = table
        let rows = try Row.fetchAll(
            db, sql: "SELECT cid, name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3) ORDER BY cid",
            arguments: [table])
        guard !rows.isEmpty else {
            columns = []
            return
        }
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)",
            arguments: [table])
        let definitions = Self.definitions(in: sql ?? "")
        columns = rows.map { row -> (name: String, definition: String?) in
            let place: Int = row["cid"]
            let name: String = row["name"]
            let definition = definitions.indices.contains(place) ? definitions[place] : ""
            let begin = definition.drop { "\"'`[".contains($0) }.lowercased()
            return (name, begin.hasPrefix(name.lowercased()) ? definition : nil)
        }
    }

    /// The columns' names.
    var names: [String] { columns.map(\.name) }

    /// Adds the columns to a table that was made again without them.
    ///
    /// - Returns: Those that could not be added, in words.
    func restore(in db: Database) throws -> [String] {
        var notes: [String] = []
        for (name, definition) in columns {
            let words = "the generated column \(name) of \(table) is gone: "
            guard let definition else {
                notes.append(words + "its definition cannot be read")
                continue
            }
            do {
                try db.execute(sql: "ALTER TABLE \(SchemaBuilder.quoted(table)) ADD COLUMN \(definition)")
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_ERROR || error.resultCode == .SQLITE_CONSTRAINT
            {
                notes.append(words + (error.message ?? ""))
            }
        }
        return notes
    }

    /// Returns the definitions in the SQL of a table, without comments: those of columns come first, in their order.
    private static func definitions(in sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        var found: [String] = []
        var definition: [UInt8] = []
        var depth = 0
        var place = 0
        func finish() {
            found.append(String(String(decoding: definition, as: UTF8.self).drop { $0.isWhitespace }))
            definition = []
        }
        while place < bytes.count {
            let token = bytes[place..<endOfToken(at: place, in: bytes)]
            place = token.endIndex
            if token.starts(with: Array("--".utf8)) || token.starts(with: Array("/*".utf8)) {
                definition.append(UInt8(ascii: " "))
                continue
            }
            if token.elementsEqual("(".utf8) {
                depth += 1
                if depth == 1 {
                    definition = []
                    continue
                }
            } else if token.elementsEqual(")".utf8) {
                depth -= 1
                if depth == 0 {
                    finish()
                    return found
                }
            } else if depth == 1, token.elementsEqual(",".utf8) {
                finish()
                continue
            }
            definition += token
        }
        return found
    }

    /// Returns where a quoted text, a comment or a single byte ends.
    ///
    /// A quote within a text is doubled, so that the text counts as two.
    private static func endOfToken(at place: Int, in bytes: [UInt8]) -> Int {
        let next = place + 1 < bytes.count ? bytes[place + 1] : 0
        switch (bytes[place], next) {
        case (UInt8(ascii: "["), _): return end(of: "]", in: bytes, after: place + 1)
        case (UInt8(ascii: "'"), _): return end(of: "'", in: bytes, after: place + 1)
        case (UInt8(ascii: "\""), _): return end(of: "\"", in: bytes, after: place + 1)
        case (UInt8(ascii: "`"), _): return end(of: "`", in: bytes, after: place + 1)
        case (UInt8(ascii: "-"), UInt8(ascii: "-")): return end(of: "\n", in: bytes, after: place + 2)
        case (UInt8(ascii: "/"), UInt8(ascii: "*")):
            var last = place + 2
            while last + 1 < bytes.count, bytes[last] != UInt8(ascii: "*") || bytes[last + 1] != UInt8(ascii: "/") {
                last += 1
            }
            return min(last + 2, bytes.count)
        default: return place + 1
        }
    }

    private static func end(of mark: Unicode.Scalar, in bytes: [UInt8], after start: Int) -> Int {
        bytes[start...].firstIndex(of: UInt8(ascii: mark)).map { $0 + 1 } ?? bytes.count
    }
}
