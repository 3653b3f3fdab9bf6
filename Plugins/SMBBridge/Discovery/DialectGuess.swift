internal import TextFormats
import BridgeKit
import Inference
import RowFormats

/// The dialect of a CSV file, guessed from its first bytes.
struct DialectGuess {
    static let sampleBytes = 1 << 18

    private(set) var encoding: String?
    private(set) var delimiter: UInt8 = UInt8(ascii: ",")
    private(set) var quote: UInt8 = UInt8(ascii: "\"")
    /// The column names that the section has to give; nil if the first row holds them.
    private(set) var header: [String]?
    /// The number of rows above the data that ``header`` replaces.
    private(set) var skippedRows = 0
    /// The confidence of the guess, from 0 to 1.
    private(set) var confidence = 0.9
    private(set) var notes: [String] = []

    /// Guesses from the first bytes; nil for bytes that are not a table.
    init?(_ bytes: [UInt8], isWhole: Bool) {
        var text = bytes
        if let marked = TextDecoder.encoding(ofMarkIn: bytes) {
            guard let decoded = Self.decode(bytes, marked) else { return nil }
            text = decoded
        } else if !Self.isUTF8(bytes, isWhole: isWhole) {
            guard let decoded = Self.decode(bytes, "windows-1252") else { return nil }
            text = decoded
            encoding = "windows-1252"
            confidence -= 0.2
            notes.append("not UTF-8: taken as windows-1252")
        }
        guard !text.contains(0) else { return nil }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        // The rows, without the last row of a sample, which may be cut.
        if !isWhole, let end = text.lastIndex(of: 0x0A) { text = Array(text[...end]) }
        if text.starts(with: "sep=".utf8), text.count > 5 {
            delimiter = text[4]
            text = Array(text.drop { $0 != 0x0A }.dropFirst())
        }
        var best: (rows: [[String]], score: Int)?
        for candidate in ",;\t|".utf8 {
            guard let rows = Self.rows(text, candidate), let width = rows.first?.count, width > 1 else { continue }
            let same = rows.filter { $0.count == width }.count
            let score = same * 1000 / rows.count * 100 + min(width, 99)
            if score > best?.score ?? 0 {
                best = (rows, score)
                delimiter = candidate
            }
        }
        guard let rows = best?.rows ?? Self.rows(text, delimiter), let first = rows.first else { return nil }
        let even = rows.filter { $0.count == first.count }.count
        if even < rows.count {
            confidence -= 0.3
            notes.append("\(rows.count - even) of \(rows.count) rows have a different number of fields than the first")
        }
        guessHeader(first, Array(rows.dropFirst()))
    }

    private mutating func guessHeader(_ first: [String], _ rest: [[String]]) {
        let isDistinct = Set(first).count == first.count && !first.contains("")
        let types = first.map(ColumnGuess.type)
        let areWords = types.allSatisfy { $0 == "text" }
        let isTyped = rest.first.map { row in zip(row, types).contains { ColumnGuess.type(of: $0) != $1 } } ?? false
        if isDistinct, areWords {
            if !isTyped {
                confidence -= 0.2
                notes.append("the first row is taken as the header")
            }
            return
        }
        if isTyped, areWords, !first.contains("") {
            header = Self.distinct(first)
            skippedRows = 1
            confidence -= 0.2
            notes.append("the header has equal names, which are numbered here")
            return
        }
        header = first.indices.map { "column_\($0 + 1)" }
        confidence -= 0.3
        notes.append("no header found: the columns are numbered")
    }

    /// Returns the names, each once: the second "id" becomes "id_2".
    private static func distinct(_ names: [String]) -> [String] {
        var taken = Set(names)
        var seen: Set<String> = []
        return names.map { name in
            guard !seen.insert(name).inserted else { return name }
            var number = 2
            while !taken.insert("\(name)_\(number)").inserted { number += 1 }
            return "\(name)_\(number)"
        }
    }

    private static func rows(_ text: [UInt8], _ delimiter: UInt8) -> [[String]]? {
        guard let reader = try? CSVReader(delimiter: delimiter, quote: UInt8(ascii: "\"")) else { return nil }
        var rows: [[String]] = []
        func take(_ reader: CSVReader) {
            if rows.count < 500 { rows.append((0..<reader.fieldCount).map { reader.field($0) }) }
        }
        do {
            try text.withUnsafeBytes { try reader.feed($0, onRow: take) }
            try reader.finish(onRow: take)
        } catch {
            return nil
        }
        return rows.isEmpty ? nil : rows
    }

    private static func decode(_ bytes: [UInt8], _ encoding: String) -> [UInt8]? {
        guard let decoder = try? TextDecoder(encoding: encoding) else { return nil }
        return try? decoder.decode(bytes)
    }

    /// Whether the bytes are UTF-8, except for a character cut by a sample's end.
    private static func isUTF8(_ bytes: [UInt8], isWhole: Bool) -> Bool {
        for cut in 0...(isWhole ? 0 : 3) where String(validUTF8: bytes.dropLast(cut)) != nil {
            return true
        }
        return false
    }
}
