internal import Mapping
internal import Model
internal import StoreContract

/// The order of a query's rows: its fields, then the key; null comes before all values.
struct RowOrder {
    private let terms: [(place: Int, isDecimal: Bool, isDescending: Bool)]

    init(_ order: [RowQuery.Order], of layout: EntityLayout) throws {
        terms = try order.map { term in
            _ = try RowFilter.field(term.field, of: layout)
            let place = layout.columns.firstIndex { $0.name == term.field } ?? 0
            return (place, layout.columns[place].type == .decimal, term.isDescending)
        }
    }

    func precedes(_ left: EntityRow, _ right: EntityRow) -> Bool {
        for term in terms {
            let order = ValueOrder.compare(
                ValueOrder.sortable(left.values[term.place], isDecimal: term.isDecimal),
                ValueOrder.sortable(right.values[term.place], isDecimal: term.isDecimal))
            if order != 0 { return term.isDescending ? order > 0 : order < 0 }
        }
        return MemoryTables.precedes(left.key, right.key)
    }
}
