internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The order of a query's rows: its fields, then the key; null comes before all values.
struct RowOrder {
    private let terms: [(place: Int, isDecimal: Bool, isDescending: Bool)]

    init(_ order: [RowQuery.Order], of layout: EntityLayout) throws {
        terms = try order.map { term in
            let place = try layout.columnPlace(of: term.field)
            return (place, layout.columns[place].type == .decimal, term.isDescending)
        }
    }

    func precedes(_ left: EntityRow, _ right: EntityRow) -> Bool {
        for term in terms {
            let order = ValueOrder.compare(
                left.values[term.place], right.values[term.place], isDecimal: term.isDecimal)
            if order != 0 { return term.isDescending ? order > 0 : order < 0 }
        }
        return ValueOrder.precedes(left.key, right.key)
    }
}
