internal import Importer
internal import Mapping

/// A walk along a table's rows beside that of a listing: a guess of which row comes next.
///
/// A listing brings its rows mostly in the order in which they lie in the table, or from the newest to the oldest. Then a step
/// to the next row costs a third of a look-up by key, whatever the key is. The guess is never trusted: a row counts only when
/// it has the very key that is looked for, and keys are unique.
///
/// Use it inside an access to the connection only, and call ``pause()`` before that ends: a statement that is not reset would
/// keep the transaction's snapshot.
final class RowScan {
    private let upwards: RawStatement
    private let downwards: RawStatement
    private var goesDown = false
    /// Per column of the key: its field.
    private let key: [Int]
    /// The row behind which the next one is expected; nil where nothing is.
    private var expectedAfter: Int64?
    private var isStepping = false
    /// The row right before the one that was found by the last step, where it was a step upwards.
    private(set) var rowBefore: Int64?
    /// The row that was found last, by whatever way.
    private var last: Int64?
    /// How many rows in a row lay a little behind the one before.
    private var streak = 0
    /// After so many the next guess is made; each wrong one doubles it.
    private var neededStreak = RowScan.leastStreak
    private var hits = 0

    private static let leastStreak = 2
    private static let mostStreak = 256
    /// Rows that were deleted leave gaps.
    private static let widestGap: UInt64 = 16

    init(_ layout: EntityLayout, on connection: OpaquePointer?) throws {
        let rowID = layout.rowIDName
        let columns = ([rowID] + layout.fields.map { SchemaBuilder.quoted($0.name) }).joined(separator: ", ")
        // NOT INDEXED: in the order of the rows, whatever indexes somebody has added.
        let select = "SELECT \(columns) FROM \(SchemaBuilder.quoted(layout.name)) NOT INDEXED WHERE \(rowID)"
        upwards = try RawStatement("\(select) > ? ORDER BY \(rowID)", on: connection)
        downwards = try RawStatement("\(select) < ? ORDER BY \(rowID) DESC", on: connection)
        key = layout.key
    }

    /// What is at the row that was found, as `SELECT rowid, columns...`.
    @inline(__always)
    var statement: RawStatement { goesDown ? downwards : upwards }

    /// Whether the next row is the one with the key of these cells; then ``statement`` is at it.
    @inline(__always)
    func findsNext(_ cells: UnsafeBufferPointer<Cell>) throws -> Bool {
        guard let after = expectedAfter else { return false }
        return try step(after, cells)
    }

    private func step(_ after: Int64, _ cells: UnsafeBufferPointer<Cell>) throws -> Bool {
        let statement = statement
        if !isStepping { statement.bind(after, at: 1) }
        isStepping = true
        guard try statement.step(), hasKey(of: cells, statement) else {
            giveUp()
            return false
        }
        let row = statement.int64(0)
        rowBefore = goesDown ? nil : after
        expectedAfter = row
        last = row
        hits += 1
        if hits == Self.mostStreak { neededStreak = Self.leastStreak }
        return true
    }

    private func hasKey(of cells: UnsafeBufferPointer<Cell>, _ statement: RawStatement) -> Bool {
        for field in key {
            let cell = cells[field]
            guard cell.kind != .absent, cell.kind != .null, statement.matches(cell, column: Int32(field + 1)) else {
                return false
            }
        }
        return true
    }

    /// A wrong guess: look-ups have to find some rows in order before the next one.
    private func giveUp() {
        pause()
        expectedAfter = nil
        streak = 0
        neededStreak = min(neededStreak * 2, Self.mostStreak)
        hits = 0
    }

    /// A look-up by key has found a row.
    func noteLookUp(of row: Int64) {
        defer { last = row }
        guard let last, case (let distance, false) = row.subtractingReportingOverflow(last), distance != 0,
            distance.magnitude <= Self.widestGap
        else {
            streak = 0
            return
        }
        streak = goesDown == (distance < 0) ? streak + 1 : 1
        goesDown = distance < 0
        if streak >= neededStreak { expectedAfter = row }
    }

    /// Leaves the row at hand; the next guess goes on behind it.
    func pause() {
        guard isStepping else { return }
        statement.reset()
        isStepping = false
    }
}
