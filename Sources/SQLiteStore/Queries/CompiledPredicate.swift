internal import StoreContract
internal import Mapping
internal import Model

/// A predicate as SQL with its arguments.
struct CompiledPredicate {
    private(set) var sql = ""
    private(set) var arguments: [StoredValue] = []
    private let layout: EntityLayout

    /// The maximum number of values, which leaves room for a page's keys: SQLite binds at most 32,766 per statement.
    static let maxValues = 30_000

    /// The maximum number of parts of one list: SQLite limits the depth of an expression, to which each part adds a level.
    private static let maxParts = 100

    /// Compiles a predicate.
    ///
    /// - Throws: ``StoreError`` of code `request` for a missing field or too many values.
    init(_ predicate: RowPredicate, on layout: EntityLayout) throws {
        self.layout = layout
        try add(predicate)
        guard arguments.count <= Self.maxValues else {
            throw StoreError(
                .request, "a predicate on \(layout.name) has \(arguments.count) values, more than \(Self.maxValues)",
                remedy: "split the request")
        }
    }

    /// Compiles conditions that must all hold.
    ///
    /// - Throws: ``StoreError`` of code `request` for a missing field or a value that is not of the field's type.
    init(_ conditions: [LocalCondition], on layout: EntityLayout) throws {
        try self.init(.all(conditions.map { try $0.predicate(on: layout) }), on: layout)
    }

    private mutating func add(_ predicate: RowPredicate) throws {
        switch predicate {
        case .compare(let name, let comparison, let value): try compare(name, comparison, value)
        case .isNull(let name): sql += "\(try column(name).sql) IS NULL"
        case .isIn(let name, let values):
            let column = try column(name)
            sql += values.isEmpty ? "FALSE" : "ifnull(\(column.equatable) IN ("
            guard !values.isEmpty else { return }
            sql += values.map { _ in "?" }.joined(separator: ", ") + "), FALSE)"
            arguments += column.type == .decimal ? values.map(\.asDecimal) : values
        case .all(let parts): try join(parts[...], " AND ", none: "TRUE")
        case .any(let parts): try join(parts[...], " OR ", none: "FALSE")
        case .not(let part):
            sql += "("
            try add(part)
            sql += ") IS NOT TRUE"
        }
    }

    private mutating func join(_ parts: ArraySlice<RowPredicate>, _ word: String, none: String) throws {
        guard !parts.isEmpty else {
            sql += none
            return
        }
        sql += "("
        if parts.count > Self.maxParts {
            // Lists of lists.
            let size = max(Self.maxParts, (parts.count + Self.maxParts - 1) / Self.maxParts)
            for start in stride(from: parts.startIndex, to: parts.endIndex, by: size) {
                if start > parts.startIndex { sql += word }
                try join(parts[start..<min(start + size, parts.endIndex)], word, none: none)
            }
        } else {
            for (index, part) in parts.enumerated() {
                if index > 0 { sql += word }
                try add(part)
            }
        }
        sql += ")"
    }

    private mutating func compare(
        _ name: String, _ comparison: Comparison, _ value: StoredValue
    ) throws {
        let column = try column(name)
        if value == .null {
            // No value is less or greater than null.
            let operators: [Comparison: String] = [.equal: "IS NULL", .notEqual: "IS NOT NULL"]
            sql += operators[comparison].map { "\(column.sql) \($0)" } ?? "FALSE"
            return
        }
        arguments.append(column.type == .decimal && comparison != .like ? value.asDecimal : value)
        switch comparison {
        case .like: sql += "\(column.sql) LIKE ?"
        case .notEqual: sql += "\(column.equatable) IS NOT ?"
        case .equal: sql += "\(column.equatable) = ?"
        case .less, .atMost, .greater, .atLeast: sql += "\(column.ordered) \(comparison.rawValue) ?"
        }
    }

    /// A column in a condition.
    private struct Column {
        let sql: String
        let type: AttributeType
        let isIdentity: Bool

        var ordered: String { CompiledPredicate.ordered(sql, type) }
        /// The column where it is compared for equality: equal decimals that identify objects have the same text, which
        /// an index finds.
        var equatable: String { isIdentity ? sql : ordered }
    }

    private func column(_ name: String) throws -> Column {
        let type = layout.columns[try layout.columnPlace(of: name)].type
        let field = layout.fields.firstIndex { $0.name == name }
        return Column(
            sql: SchemaBuilder.quoted(name), type: type, isIdentity: field.map(layout.isIdentity) == true)
    }

    /// Returns the expression to order a column by: as text, the decimal "9" would sort after "10".
    static func ordered(_ sql: String, _ type: AttributeType) -> String {
        type == .decimal ? "\(sql) COLLATE \(DecimalCollation.name)" : sql
    }
}
