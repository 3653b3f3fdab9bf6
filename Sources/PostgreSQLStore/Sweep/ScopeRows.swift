internal import Mapping
internal import StoreRules

/// The rows that a table has in the scopes of several parents, kept up to date with what the transaction writes.
struct ScopeRows {
    /// The scope of one of the parents, which all have the same fields and kinds.
    private let scope: SweepScope
    private let fields: Range<Int>
    /// The keys of the rows by their numbers, of each parent.
    private var rows: [RowKey: [Int64: RowKey]]

    /// Begins with parents that have no rows.
    ///
    /// - Parameter scopes: Scopes of one scan; nil is returned if the first one has no parent.
    init?(_ scopes: [SweepScope]) {
        guard let scope = scopes.first, let parent = scope.parent else { return nil }
        self.scope = scope
        fields = parent.fields
        rows = Dictionary(scopes.compactMap { $0.parent.map { ($0.key, [:]) } }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the rows of a parent, by their numbers; nil if it was not announced.
    func rows(of parent: RowKey) -> [Int64: RowKey]? { rows[parent] }

    /// Adds a row that the table has.
    mutating func add(_ number: Int64, _ key: RowKey, of parent: RowKey) { rows[parent]?[number] = key }

    /// Notes that the transaction writes a row, or deletes it.
    mutating func note(_ number: Int64, _ key: RowKey, from old: [StoredValue]?, to new: [StoredValue]?) {
        if let old { rows[Array(old[fields])]?[number] = nil }
        if let new, scope.containsBesidesParent(new) { rows[Array(new[fields])]?[number] = key }
    }
}
