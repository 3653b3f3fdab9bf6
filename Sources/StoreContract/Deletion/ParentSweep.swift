package import Mapping

/// The rows missing so far from the scans of an entity's parents, which are swept after the last of these scans.
///
/// An object may have moved from one parent to another: a row that one parent's listing lacks is not missing if another
/// parent's listing has it, in whatever order the scans come.
///
/// ```swift
/// var sweep = ParentSweep<Int64>()
/// sweep.noteListed(row, refersElsewhere: false)              // per listed row
/// let waits = sweep.end(scope, absent: rows, of: total, cursor: cursor)   // per parent
/// let decision = sweep.decide(by: rule, otherOrigin: nil)    // after the last parent
/// ```
package struct ParentSweep<Row: Hashable & Comparable & Sendable>: Sendable {
    /// The scope of one parent.
    private struct Scope: Sendable {
        let scope: ScanScope
        var cursor: ScanCursor?
        var gone: Int
        let total: Int
    }

    /// What happens after the last scan.
    package struct Decision {
        /// The sweep that the deletion limit prevented.
        package var held: SweepResult.LimitExceeded?
        /// Whether the limit applies to all parents together, so that nothing is deleted or saved.
        package var preventsAll = false
        /// The rows to delete, in order.
        package var rows: [Row] = []
        /// The cursors that waited for the deletion.
        package var cursors: [(scope: ScanScope, cursor: ScanCursor)] = []
    }

    private var scopes: [Scope] = []
    /// The missing rows, each with its scope's index; a row that another scan lists is removed.
    private var rows: [Row: Int] = [:]
    /// Rows that a parent's scan listed but that refer to another parent.
    private var strangers: Set<Row> = []
    private var total = 0
    /// The parents whose scans are complete, as hashes of their keys' text.
    private var ended = LayeredSet()
    /// The first row that two parents listed, and the keys of these parents.
    package private(set) var shared: (row: Row, parents: [[StoredValue]])?
    private var sharedRows: Set<Row> = []
    /// The keys that occurred twice in the listing of one parent.
    package private(set) var repeated: RepeatedKeys?

    /// Creates the state before the first scan.
    package init() {}

    /// The number of rows that two parents listed.
    package var sharedCount: Int { sharedRows.count }

    /// Ends one parent's scan.
    ///
    /// - Parameters:
    ///   - scope: The scan's scope.
    ///   - absent: The rows in the scope that the listing lacks.
    ///   - total: The number of rows in the scope.
    ///   - cursor: The cursor for the next scan, which is saved only if the missing rows are deleted.
    ///   - first: The rows that the first of two listings lacked; nil if there is only one listing.
    /// - Returns: Whether rows are missing, so that the cursor waits too.
    package mutating func end(
        _ scope: ScanScope, absent: [Row], of total: Int, cursor: ScanCursor?, first: Set<Row>? = nil
    ) -> Bool {
        ended.insert(Int64(ExactText(scope.parent).hashValue))
        self.total += total
        let gone = absent.filter { !strangers.contains($0) && first?.contains($0) != false }
        guard !gone.isEmpty else { return false }
        for row in gone { rows[row] = scopes.count }
        scopes.append(Scope(scope: scope, cursor: cursor, gone: gone.count, total: total))
        return true
    }

    /// Reverts the end of a parent's scan whose last page was rolled back.
    ///
    /// - Parameters:
    ///   - total: The number of rows in the scope that the end has counted.
    ///   - repeated: The number of keys that the scan has noted as occurring twice.
    package mutating func takeBack(_ scope: ScanScope, of total: Int, repeated: Int) {
        self.total -= total
        if repeated > 0, let known = self.repeated {
            let count = known.count - repeated
            self.repeated = count > 0 ? RepeatedKeys(count: count, key: known.key) : nil
        }
        ended.remove(Int64(ExactText(scope.parent).hashValue))
        guard let place = scopes.firstIndex(where: { $0.scope == scope }) else { return }
        rows = rows.filter { $0.value != place }
        scopes[place].gone = 0
        scopes[place].cursor = nil
    }

    /// Notes that a parent's scan lists a row, which is then not missing, whichever parent it refers to.
    package mutating func noteListed(_ row: Row, refersElsewhere: Bool) {
        if refersElsewhere { strangers.insert(row) }
        if !rows.isEmpty, let place = rows.removeValue(forKey: row) { scopes[place].gone -= 1 }
    }

    /// Notes that a parent's scan lists a row that referred to another parent and was not missing from that one's
    /// listing.
    ///
    /// Call it before ``noteListed(_:refersElsewhere:)``.
    package mutating func noteTaken(_ row: Row, by parent: [StoredValue], from former: [StoredValue]) {
        guard !former.contains(.null), former != parent, rows[row] == nil,
            ended.contains(Int64(ExactText(JSONText.key(former).string).hashValue))
        else { return }
        if shared == nil { shared = (row, [former, parent]) }
        sharedRows.insert(row)
    }

    /// Notes keys that occurred twice in the listing of one parent.
    package mutating func note(_ repeated: RepeatedKeys) {
        self.repeated = RepeatedKeys(
            count: (self.repeated?.count ?? 0) + repeated.count, key: self.repeated?.key ?? repeated.key)
    }

    // MARK: - In several processes

    /// A parent whose listing lacks rows, as a process leaves it to another.
    package struct SavedScope: Sendable {
        package var scope: ScanScope
        package var cursor: ScanCursor?
        package var rows: [Row]
        package var total: Int

        package init(scope: ScanScope, cursor: ScanCursor?, rows: [Row], total: Int) {
            (self.scope, self.cursor, self.rows, self.total) = (scope, cursor, rows, total)
        }
    }

    /// What the scans of some of the parents leave for the end.
    package struct Saved: Sendable {
        package var scopes: [SavedScope] = []
        package var strangers: [Row] = []
        package var total = 0

        package init() {}
    }

    /// What these scans leave for the end.
    package var saved: Saved {
        var saved = Saved()
        let byScope = Dictionary(grouping: rows, by: \.value)
        saved.scopes = scopes.enumerated().map { place, scope in
            SavedScope(
                scope: scope.scope, cursor: scope.cursor, rows: (byScope[place] ?? []).map(\.key).sorted(),
                total: scope.total)
        }
        saved.strangers = strangers.sorted()
        saved.total = total
        return saved
    }

    /// Adds what the scans of other parents have left.
    package mutating func add(_ saved: Saved) {
        for scope in saved.scopes {
            for row in scope.rows { rows[row] = scopes.count }
            scopes.append(
                Scope(scope: scope.scope, cursor: scope.cursor, gone: scope.rows.count, total: scope.total))
        }
        strangers.formUnion(saved.strangers)
        total += saved.total
    }

    /// Forgets missing rows that another process has listed: those that its scans noted, and those that `isMissing` finds
    /// elsewhere now.
    package mutating func keepMissing(
        where isMissing: (_ row: Row, _ scope: ScanScope) throws -> Bool
    ) rethrows {
        rows = try rows.filter { row, place in
            try !strangers.contains(row) && isMissing(row, scopes[place].scope)
        }
        let counts = Dictionary(grouping: rows.values, by: { $0 }).mapValues(\.count)
        for place in scopes.indices { scopes[place].gone = counts[place] ?? 0 }
    }

    /// Decides after the last scan.
    ///
    /// A deletion limit may apply to one parent's scope or to all of them together.
    ///
    /// - Parameter otherOrigin: As for ``SweepRule/held(_:of:otherOrigin:)``.
    package func decide(
        by rule: SweepRule, otherOrigin: @autoclosure () throws -> String?
    ) rethrows -> Decision {
        var decision = Decision()
        let gone = scopes.reduce(0) { $0 + $1.gone }
        if var held = try rule.held(gone, of: total, otherOrigin: try otherOrigin()) {
            held.scopes = scopes.count { $0.gone > 0 }
            decision.held = held
            decision.preventsAll = true
            return decision
        }
        var prevented = Set<Int>()
        for (place, scope) in scopes.enumerated() {
            if rule.holds(scope.gone, of: scope.total) {
                prevented.insert(place)
                let before = decision.held ?? SweepResult.LimitExceeded(gone: 0, total: 0, scopes: 0)
                decision.held = SweepResult.LimitExceeded(
                    gone: before.gone + scope.gone, total: before.total + scope.total, scopes: before.scopes + 1)
            } else if let cursor = scope.cursor {
                decision.cursors.append((scope.scope, cursor))
            }
        }
        decision.rows = rows.filter { !prevented.contains($0.value) }.map(\.key).sorted()
        return decision
    }
}
