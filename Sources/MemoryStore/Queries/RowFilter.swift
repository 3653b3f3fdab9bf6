internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The rows of an entity that meet conditions.
struct RowFilter {
    private var tests: [([StoredValue]) -> Bool] = []
    private let layout: EntityLayout

    /// The maximum number of values in a predicate.
    private static let maxValues = 30_000

    /// Compiles conditions on an entity, whose rows are those of its kind.
    ///
    /// - Throws: `StoreError` of the code `request` for names and values that do not fit the model.
    init(
        _ layout: EntityLayout, _ conditions: [LocalCondition] = [], _ predicate: RowPredicate? = nil,
        includesDeleted: Bool = true
    ) throws {
        self.layout = layout
        tests.append(layout.contains)
        if !includesDeleted, let field = layout.deletion { tests.append { $0[field] == .null } }
        var count = 0
        for condition in conditions { tests.append(try Self.test(condition.predicate(on: layout), layout, &count)) }
        guard let predicate else { return }
        tests.append(try Self.test(predicate, layout, &count))
        guard count <= Self.maxValues else {
            throw StoreError(
                .request, "a predicate on \(layout.name) has \(count) values, more than \(Self.maxValues)",
                remedy: "split the request")
        }
    }

    /// Returns whether a row, with one value per field of the table, meets all conditions.
    func contains(_ row: [StoredValue]) -> Bool { tests.allSatisfy { $0(row) } }

    // MARK: - Predicates

    private static func test(
        _ predicate: RowPredicate, _ layout: EntityLayout, _ count: inout Int
    ) throws -> ([StoredValue]) -> Bool {
        switch predicate {
        case .compare(let name, let comparison, let value):
            count += 1
            return try test(layout.fieldPlace(of: name), comparison, value, layout)
        case .isNull(let name):
            let field = try layout.fieldPlace(of: name)
            return { $0[field] == .null }
        case .isIn(let name, let values):
            count += values.count
            let field = try layout.fieldPlace(of: name)
            guard layout.fields[field].type == .decimal else {
                let wanted = Set(values)
                return { $0[field] != .null && wanted.contains($0[field]) }
            }
            let wanted = Set(values.map(\.asDecimal))
            return { $0[field] != .null && wanted.contains($0[field].asDecimal) }
        case .all(let parts):
            let tests = try parts.map { try test($0, layout, &count) }
            return { row in tests.allSatisfy { $0(row) } }
        case .any(let parts):
            let tests = try parts.map { try test($0, layout, &count) }
            return { row in tests.contains { $0(row) } }
        case .not(let part):
            let test = try test(part, layout, &count)
            return { !test($0) }
        }
    }

    private static func test(
        _ field: Int, _ comparison: Comparison, _ value: StoredValue, _ layout: EntityLayout
    ) -> ([StoredValue]) -> Bool {
        if value == .null {
            switch comparison {
            case .equal: return { $0[field] == .null }
            case .notEqual: return { $0[field] != .null }
            // No value is less or greater than null.
            default: return { _ in false }
            }
        }
        if comparison == .like {
            let pattern = ValueOrder.text(value) ?? ""
            return { isLike($0[field], pattern) }
        }
        let isDecimal = layout.fields[field].type == .decimal
        let limit = isDecimal ? value.asDecimal : value
        return { row in
            guard row[field] != .null else { return comparison == .notEqual }
            return holds(comparison, ValueOrder.compare(row[field], limit, isDecimal: isDecimal))
        }
    }

    private static func isLike(_ value: StoredValue, _ pattern: String) -> Bool {
        // Bytes are not text, as in SQLite.
        if case .bytes = value.form { return false }
        return ValueOrder.text(value).map { ValueOrder.matches($0, pattern) } ?? false
    }

    private static func holds(_ comparison: Comparison, _ order: Int) -> Bool {
        switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .atMost: order <= 0
        case .greater: order > 0
        case .atLeast: order >= 0
        case .like: false
        }
    }
}
