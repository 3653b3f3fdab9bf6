/// The rowids that a scan has listed so far, in at most a few bytes each.
///
/// A rowid is stored as its distance from the previous one: zigzag, then LEB128 (DWARF 5, section 7.6). Rows are mostly
/// listed in the order in which they were inserted, so most distances are 1; runs of these are stored as a count. An
/// empty run stands for a row that cannot be identified.
package struct SeenLog: Sendable {
    /// The size at which a piece is closed; a longer piece would be copied as it grows.
    private static let pieceSize = 64 << 10

    /// The closed pieces; in each, the first distance is from zero.
    private var pieces: [[UInt8]] = []
    /// The open piece, to which rows are appended.
    private var tail = Encoder()
    /// The number of pieces saved in the table `bmo_seen`.
    private var savedPieces = 0
    package private(set) var unsavedBytes = 0
    package private(set) var count = 0
    /// Whether each rowid was greater than the previous one, so that none occurs twice.
    package private(set) var isAscending = true
    /// Whether the table had no row between consecutive rowids.
    package private(set) var isGapless = true
    /// Whether the scan skipped rows that cannot be identified.
    package private(set) var hasUnknown = false
    package private(set) var first = Int64.max
    package private(set) var last = Int64.min
    package private(set) var greatest = Int64.min
    /// Rows that were written when listed after a greater one, so that they may have been listed before.
    private var rewritten: [(row: Int64, index: Int)] = []

    /// The numbers of rows before the pages that were appended.
    private var pageStarts: [Int] = []

    /// The maximum number of rewritten rows checked.
    private static let maxRewritten = 100_000
    /// The row known to precede the first one in the table.
    private var beforeFirst: Int64?

    /// Appends a row.
    ///
    /// - Parameter before: The row known to precede it in the table.
    package mutating func append(_ row: Int64, after before: Int64? = nil) {
        if count == 0 {
            first = row
            beforeFirst = before
        } else {
            if row <= last { isAscending = false }
            if !Self.isNext(row, after: before, last) { isGapless = false }
        }
        last = row
        greatest = max(greatest, row)
        encode(row)
    }

    /// Appends rows whose predecessors in the table are not known.
    package mutating func append(contentsOf rows: [Int64]) {
        for row in rows { append(row) }
    }

    /// Appends a row that cannot be identified.
    package mutating func appendUnknown() {
        hasUnknown = true
        isAscending = false
        isGapless = false
        encode(nil)
    }

    private mutating func encode(_ row: Int64?) {
        count += 1
        let before = tail.bytes.count
        tail.append(row)
        unsavedBytes += tail.bytes.count - before
        if tail.bytes.count >= Self.pieceSize { closePiece() }
    }

    /// Notes that the row appended last was written when it was listed.
    package mutating func noteRewritten() {
        if rewritten.count < Self.maxRewritten { rewritten.append((last, count - 1)) }
    }

    /// The rows that were listed more than once with different values, in order of discovery.
    ///
    /// Costs nothing unless a row was written out of table order.
    package var repeatedRows: [Int64] {
        guard let low = rewritten.lazy.map(\.row).min(), let high = rewritten.lazy.map(\.row).max() else { return [] }
        let places = Dictionary(rewritten.map { ($0.row, $0.index) }, uniquingKeysWith: max)
        var found: [Int64] = []
        var known: Set<Int64> = []
        var index = 0
        forEachEntry { row in
            defer { index += 1 }
            guard let row, row >= low, row <= high, let place = places[row], index < place else { return }
            if known.insert(row).inserted { found.append(row) }
        }
        return found
    }

    /// The maximum number of rows counted in memory, which takes 16 MB.
    private static let maxReported = 1_000_000

    /// The number of distinct rows; nil if there are too many to count.
    package var distinctCount: Int? {
        if isAscending { return count }
        guard count <= Self.maxReported else { return nil }
        var rows: [Int64] = []
        rows.reserveCapacity(count)
        forEach { rows.append($0) }
        rows.sort()
        return zip(rows, rows.dropFirst()).reduce(min(count, 1)) { $0 + ($1.0 == $1.1 ? 0 : 1) }
    }

    /// How often a row was listed again on the same page.
    package var repeatedOnPage: Int {
        guard !isAscending else { return 0 }
        var page: Set<Int64> = []
        var (index, place, found) = (0, 0, 0)
        forEach { row in
            while place < pageStarts.count, pageStarts[place] <= index {
                page.removeAll(keepingCapacity: true)
                place += 1
            }
            if !page.insert(row).inserted { found += 1 }
            index += 1
        }
        return found
    }

    /// Appends the rows of a page.
    package mutating func append(_ page: SeenLog) {
        guard page.count > 0 else { return }
        pageStarts.append(count)
        closePiece()
        let tail = page.tail.finished()
        pieces += page.pieces
        if !tail.isEmpty { pieces.append(tail) }
        unsavedBytes += page.pieces.reduce(tail.count) { $0 + $1.count }
        hasUnknown = hasUnknown || page.hasUnknown
        isAscending = isAscending && page.isAscending && (count == 0 || page.first > last)
        isGapless =
            isGapless && page.isGapless && (count == 0 || Self.isNext(page.first, after: page.beforeFirst, last))
        if count == 0 {
            first = page.first
            beforeFirst = page.beforeFirst
        }
        last = page.last
        greatest = max(greatest, page.greatest)
        let room = max(0, Self.maxRewritten - rewritten.count)
        for (row, index) in page.rewritten.prefix(room) { rewritten.append((row, count + index)) }
        count += page.count
    }

    /// The rows of a batch, kept apart from the log of their page.
    package struct Batch: Equatable, Sendable {
        /// The rowids, as in a piece.
        package var rows: [UInt8]
        package var count: Int
        package var first: Int64
        package var last: Int64
        package var greatest: Int64
        package var isAscending: Bool
        package var isGapless: Bool
        /// The row known to precede the first one in the table.
        package var beforeFirst: Int64?
    }

    /// The rows of a log of one batch; nil if it is empty, or a row cannot be identified.
    package var batch: Batch? {
        guard count > 0, !hasUnknown else { return nil }
        return Batch(
            rows: SeenLog().unsaved(with: self), count: count, first: first, last: last, greatest: greatest,
            isAscending: isAscending, isGapless: isGapless, beforeFirst: beforeFirst)
    }

    /// Creates a log of the rows of one batch.
    package init(_ batch: Batch) {
        pieces = [batch.rows]
        unsavedBytes = batch.rows.count
        (count, first, last, greatest) = (batch.count, batch.first, batch.last, batch.greatest)
        (isAscending, isGapless, beforeFirst) = (batch.isAscending, batch.isGapless, batch.beforeFirst)
    }

    /// Creates an empty log.
    package init() {}

    /// Appends a piece that an earlier process saved.
    package mutating func append(saved piece: [UInt8]) {
        Self.decode(piece) { row in
            guard let row else { return appendUnknown() }
            append(row)
            // Earlier versions saved the least number for a row that cannot be identified.
            if row == .min { hasUnknown = true }
        }
        markSaved()
    }

    /// Marks all pieces as saved in the table.
    package mutating func markSaved() {
        closePiece()
        savedPieces = pieces.count
        unsavedBytes = 0
    }

    /// Returns what is not saved yet, and the rows of a page, as one piece.
    package func unsaved(with page: SeenLog) -> [UInt8] {
        var encoder = Encoder()
        for piece in pieces[savedPieces...] { Self.decode(piece) { encoder.append($0) } }
        Self.decode(tail.finished()) { encoder.append($0) }
        page.forEachEntry { encoder.append($0) }
        return encoder.finished()
    }

    /// Calls `body` with each rowid.
    package func forEach(_ body: (Int64) -> Void) {
        forEachEntry { if let row = $0 { body(row) } }
    }

    /// Calls `body` with each rowid, and with nil for each row that cannot be identified.
    private func forEachEntry(_ body: (Int64?) -> Void) {
        for piece in pieces { Self.decode(piece, body) }
        Self.decode(tail.finished(), body)
    }

    /// Returns whether no row can be between the row and the last one, either by `before` or because no rowid is.
    private static func isNext(_ row: Int64, after before: Int64?, _ last: Int64) -> Bool {
        before == last || row &- 1 == last
    }

    private mutating func closePiece() {
        guard !tail.isEmpty else { return }
        pieces.append(tail.finished())
        tail = Encoder()
    }

    /// The prefix of the length of a run: an overlong LEB128 zero, which is never used for a distance.
    private static let run: [UInt8] = [0x80, 0x00]

    /// An encoder for one piece.
    private struct Encoder {
        /// The bytes written, without the current run.
        private(set) var bytes: [UInt8] = []
        private var before: Int64 = 0
        /// The number of distances of 1 at the end.
        private var ones: UInt64 = 0

        var isEmpty: Bool { bytes.isEmpty && ones == 0 }

        mutating func append(_ row: Int64?) {
            guard let row else {
                endRun()
                bytes += SeenLog.run
                write(0)
                return
            }
            let distance = row &- before
            before = row
            if distance == 1 {
                ones += 1
                return
            }
            endRun()
            write(UInt64(bitPattern: (distance << 1) ^ (distance >> 63)))
        }

        /// Returns all bytes written, in an array without spare capacity.
        func finished() -> [UInt8] {
            var whole = self
            whole.endRun()
            return Array(whole.bytes[...])
        }

        private mutating func endRun() {
            if ones > 4 {
                bytes += SeenLog.run
                write(ones)
            } else {
                for _ in 0..<ones { write(2) }
            }
            ones = 0
        }

        private mutating func write(_ number: UInt64) {
            var rest = number
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(truncatingIfNeeded: rest))
        }
    }

    private static func decode(_ bytes: [UInt8], _ body: (Int64?) -> Void) {
        var row: Int64 = 0
        var rest: UInt64 = 0
        var shift: UInt64 = 0
        var isRun = false
        for byte in bytes {
            if shift < 64 { rest |= UInt64(byte & 0x7F) << shift }
            shift += 7
            guard byte < 0x80 else { continue }
            if isRun {
                if rest == 0 { body(nil) }
                for _ in 0..<rest {
                    row &+= 1
                    body(row)
                }
                isRun = false
            } else if rest == 0, shift > 7 {
                isRun = true
            } else {
                row &+= Int64(bitPattern: rest >> 1) ^ -Int64(bitPattern: rest & 1)
                body(row)
            }
            rest = 0
            shift = 0
        }
    }
}
