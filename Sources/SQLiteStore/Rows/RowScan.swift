internal import StoreContract
internal import Mapping

/// A cursor that steps through a table alongside a listing and guesses which row comes next.
///
/// A listing mostly returns its rows in table order, or from newest to oldest. A step to the next row then costs a
/// third of a look-up by key, for any key. A guess is never trusted: a row counts only if it has the key sought, and
/// keys are unique.
///
/// Use it only inside an access to the connection, and call ``pause()`` before the access ends: a statement that is not
/// reset would keep the transaction's snapshot.
final class RowScan {
    private let upwards: RawStatement
    private let downwards: RawStatement
    private var goesDown = false
    /// The fields of the key's columns.
    private let key: [Int]
    /// The row after which the next one is expected; nil if no guess is active.
    private var expectedAfter: Int64?
    private var isStepping = false
    /// The preceding row of the last row found by a step, if the step was upwards.
    private(set) var rowBefore: Int64?
    /// The last row found, by step or look-up.
    private var last: Int64?
    /// The number of consecutive rows that were each close to the previous one in the table.
    private var streak = 0
    /// The streak after which guessing starts; each wrong guess doubles it.
    private var neededStreak = RowScan.leastStreak
    private var hits = 0

    private static let leastStreak = 2
    private static let maxStreak = 256
    /// Deleted rows leave gaps.
    private static let widestGap: UInt64 = 16

    init(_ layout: EntityLayout, on connection: OpaquePointer?) {
        let rowID = layout.rowIDName
        let columns = ([rowID] + layout.fields.map { SchemaBuilder.quoted($0.name) }).joined(separator: ", ")
        // NOT INDEXED keeps rowid order, whatever indexes a user has added.
        let select = "SELECT \(columns) FROM \(SchemaBuilder.quoted(layout.name)) NOT INDEXED WHERE \(rowID)"
        upwards = RawStatement("\(select) > ? ORDER BY \(rowID)", on: connection)
        downwards = RawStatement("\(select) < ? ORDER BY \(rowID) DESC", on: connection)
        key = layout.key
    }

    /// The statement positioned at the row found: `SELECT rowid, columns...`.
    @inline(__always)
    var statement: RawStatement { goesDown ? downwards : upwards }

    /// Returns whether the next row has the key of these cells; ``statement`` is positioned at it then.
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
        if hits == Self.maxStreak { neededStreak = Self.leastStreak }
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

    /// Handles a wrong guess: look-ups must find several rows in order before the next guess.
    private func giveUp() {
        pause()
        expectedAfter = nil
        streak = 0
        neededStreak = min(neededStreak * 2, Self.maxStreak)
        hits = 0
    }

    /// Notes a row found by a look-up by key.
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

    /// Releases the current row; the next guess continues after it.
    func pause() {
        guard isStepping else { return }
        statement.reset()
        isStepping = false
    }
}
