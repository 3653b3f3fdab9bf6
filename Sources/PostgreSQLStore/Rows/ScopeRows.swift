internal import Mapping
internal import StoreRules

/// The rows that a table has in the scopes of several parents of one scan, kept up to date with what the transaction
/// writes.
struct ScopeRows {
    /// The scope of all parents.
    private let scope: SweepScope
    private let fields: Range<Int>
    /// The keys of the rows by their numbers, of each parent.
    private var rows: [RowKey: [Int64: RowKey]]

    /// Begins with parents that have no rows; nil unless all scopes differ in the parent only.
    init?(_ scopes: [SweepScope]) {
        guard let first = scopes.first, let parent = first.parent else { return nil }
        scope = first.besidesParent
        fields = parent.fields
        rows = [:]
        for other in scopes {
            guard let key = other.parent?.key, other.differsInParentOnly(from: first) else { return nil }
            rows[key] = [:]
        }
    }

    /// Returns the rows in a scope, by their numbers; nil if it was not announced.
    func rows(in other: SweepScope) -> [Int64: RowKey]? {
        guard let parent = other.parent, parent.fields == fields, other.besidesParent.differsInParentOnly(from: scope)
        else { return nil }
        return rows[parent.key]
    }

    /// Adds a row that the table has; returns false for a parent that is none of these.
    mutating func add(_ number: Int64, _ key: RowKey, of parent: RowKey) -> Bool {
        guard rows[parent] != nil else { return false }
        rows[parent]?[number] = key
        return true
    }

    /// Notes that the transaction writes a row, or deletes it.
    mutating func note(_ number: Int64, _ key: RowKey, from old: [StoredValue]?, to new: [StoredValue]?) {
        if let old { rows[Array(old[fields])]?[number] = nil }
        if let new, scope.contains(new) { rows[Array(new[fields])]?[number] = key }
    }
}
