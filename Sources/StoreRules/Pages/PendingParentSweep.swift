internal import Mapping
package import StoreContract

/// The rows missing so far from the scans of an entity's parents; they are deleted after the last of those scans.
package struct PendingParentSweep: Sendable {
    /// The scope of one parent.
    package struct Scope: Sendable {
        package var scope: ScanScope
        package var cursor: ScanCursor?
        /// The number of rows missing from it.
        package var gone: Int
        /// The number of its rows.
        package var total: Int
    }

    package private(set) var scopes: [Scope] = []
    /// The number of rows in all scopes.
    package private(set) var total = 0
    /// The first row that two parents listed, and the keys of these parents.
    package private(set) var shared: (row: Int64, parents: [RowKey])?
    package private(set) var sharedRows: Set<Int64> = []
    /// The keys that occurred twice in the listing of one parent.
    package private(set) var repeated: RepeatedKeys?
    /// The missing rows, each with its scope's index; a row that another scan lists is removed.
    private var rows: [Int64: Int] = [:]
    /// Rows that a parent's scan listed but that refer to another parent.
    private var strangers: Set<Int64> = []
    /// The parents whose scans are complete.
    private var ended: Set<String> = []

    package init() {}

    /// Notes the rows missing from one parent's scan; returns whether there are any, so that its cursor waits too.
    ///
    /// - Parameter first: The rows that the first of two listings lacked too; nil for an only listing.
    mutating func note(_ absent: [Int64], of total: Int, _ scope: ScanScope, _ cursor: ScanCursor?, first: Set<Int64>?)
        -> Bool
    {
        ended.insert(scope.parent)
        self.total += total
        let gone = absent.filter { !strangers.contains($0) && first?.contains($0) != false }
        guard !gone.isEmpty else { return false }
        for row in gone { rows[row] = scopes.count }
        scopes.append(Scope(scope: scope, cursor: cursor, gone: gone.count, total: total))
        return true
    }

    /// Notes that a parent's scan lists a row, which is then not missing, whichever parent it refers to.
    mutating func noteListed(_ row: Int64, refersElsewhere: Bool) {
        if refersElsewhere { strangers.insert(row) }
        if let place = rows.removeValue(forKey: row) { scopes[place].gone -= 1 }
    }

    /// Notes that a parent's scan lists a row that referred to another parent and was not missing from that one's
    /// listing.
    ///
    /// Call it before ``noteListed(_:refersElsewhere:)``.
    mutating func noteTaken(_ row: Int64, by parent: RowKey, from former: RowKey) {
        guard !former.contains(.null), former != parent, rows[row] == nil,
            ended.contains(JSONText.key(former).string)
        else { return }
        if shared == nil { shared = (row, [former, parent]) }
        sharedRows.insert(row)
    }

    /// Notes keys that occurred twice in the listing of one parent.
    mutating func note(_ repeated: RepeatedKeys) {
        var all = self.repeated ?? RepeatedKeys(count: 0, key: repeated.key)
        all.count += repeated.count
        self.repeated = all
    }

    /// Applies the deletion limit to each scope; returns the rows to delete and the cursors to save.
    func settled(_ rule: SweepRule) -> (rows: [Int64], cursors: [Scope], held: SweepResult.LimitExceeded?) {
        var skipped: Set<Int> = []
        var cursors: [Scope] = []
        var held: SweepResult.LimitExceeded?
        for (place, scope) in scopes.enumerated() {
            if rule.holds(scope.gone, of: scope.total) {
                skipped.insert(place)
                let before = held ?? SweepResult.LimitExceeded(gone: 0, total: 0, scopes: 0)
                held = SweepResult.LimitExceeded(
                    gone: before.gone + scope.gone, total: before.total + scope.total, scopes: before.scopes + 1)
            } else if scope.cursor != nil {
                cursors.append(scope)
            }
        }
        return (rows.filter { !skipped.contains($0.value) }.map(\.key).sorted(), cursors, held)
    }
}
