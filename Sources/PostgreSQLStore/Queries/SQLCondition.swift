internal import Mapping
internal import Model
internal import StoreContract
internal import TextFormats

/// A condition on the rows of a table `t`, as SQL with parameters.
///
/// Null equals null, and every other comparison with null is false, as in all stores.
struct SQLCondition {
    private let layout: EntityLayout
    private let table: RowTableSQL
    private var terms: [String] = []
    private(set) var parameters: [SQLParameter] = []
    private var valueCount = 0

    /// The maximum number of values in a predicate.
    private static let maxValues = 30_000

    init(_ layout: EntityLayout, _ table: RowTableSQL) {
        self.layout = layout
        self.table = table
    }

    /// Compiles a query.
    ///
    /// - Throws: `StoreError` of the code `request` for names and values that do not fit the model.
    init(_ query: RowQuery, _ layout: EntityLayout, _ table: RowTableSQL) throws {
        self.init(layout, table)
        try addKinds()
        if !query.includesDeleted { excludeDeleted() }
        try add(query.conditions)
        if let predicate = query.predicate {
            valueCount = 0
            add(try compile(predicate))
            guard valueCount <= Self.maxValues else {
                throw StoreError(
                    .request, "a predicate on \(layout.name) has \(valueCount) values, more than \(Self.maxValues)",
                    remedy: "split the request")
            }
        }
        for term in query.order { _ = try field(term.field) }
        if let after = query.after { add(try following(after, query.order)) }
    }

    /// The condition; true without terms.
    var text: String { terms.isEmpty ? "true" : terms.map { "(\($0))" }.joined(separator: " AND ") }

    mutating func add(_ term: String) { terms.append(term) }

    mutating func add(_ conditions: [LocalCondition]) throws {
        for condition in conditions { add(try compile(condition.predicate(on: layout))) }
    }

    /// Limits the rows to those of the entity.
    mutating func addKinds() throws {
        guard let field = layout.discriminator, layout.index != layout.root else { return }
        add("\(column(field)) = ANY(\(bind(.texts(layout.kinds), "text[]")))")
    }

    /// Leaves out rows that are marked as deleted.
    mutating func excludeDeleted() { if let field = layout.deletion { add("\(column(field)) IS NULL") } }

    /// Adds a parameter, and returns its expression.
    mutating func bind(_ parameter: SQLParameter, _ type: String) -> String {
        parameters.append(parameter)
        return "$\(parameters.count)::\(type)"
    }

    /// Returns the index of a field that the entity's objects can have.
    func field(_ name: String) throws -> Int { try layout.fieldPlace(of: name) }

    func column(_ field: Int) -> String { "t." + Identifier.quoted(layout.fields[field].name) }

    // MARK: - Predicates

    private mutating func compile(_ predicate: RowPredicate) throws -> String {
        switch predicate {
        case .compare(let name, let comparison, let value):
            valueCount += 1
            return compare(try field(name), comparison, value)
        case .isNull(let name): return "\(column(try field(name))) IS NULL"
        case .isIn(let name, let values):
            valueCount += values.count
            let field = try field(name)
            let wanted = layout.fields[field].type == .decimal ? values.map(\.asDecimal) : values
            guard let list = RowTableSQL.parameters(wanted.map { [$0] }, [table.codecs[field]]) else { return "false" }
            parameters += list
            return "\(column(field)) = ANY(\(table.codecs[field].sqlType.arrayParameter(parameters.count)))"
        case .all(let parts):
            let compiled = try parts.map { try compile($0) }
            return compiled.isEmpty ? "true" : compiled.map { "(\($0))" }.joined(separator: " AND ")
        case .any(let parts):
            let compiled = try parts.map { try compile($0) }
            return compiled.isEmpty ? "false" : compiled.map { "(\($0))" }.joined(separator: " OR ")
        case .not(let part): return "(\(try compile(part))) IS NOT TRUE"
        }
    }

    private mutating func compare(_ field: Int, _ comparison: Comparison, _ value: StoredValue) -> String {
        let column = column(field)
        guard value != .null else {
            switch comparison {
            case .equal: return "\(column) IS NULL"
            case .notEqual: return "\(column) IS NOT NULL"
            default: return "false"
            }
        }
        if comparison == .like {
            // Bytes are not text, as in SQLite.
            if table.codecs[field].sqlType == .bytea { return "false" }
            // ASCII letters match in either case, with the collation C.
            return "\(text(field)) ILIKE \(bind(.text(value.description), "text")) ESCAPE ''"
        }
        let (left, right) = operands(field, value)
        switch comparison {
        case .equal: return "\(left) = \(right)"
        case .notEqual: return "\(left) IS DISTINCT FROM \(right)"
        case .less: return "\(left) < \(right)"
        case .atMost: return "\(left) <= \(right)"
        case .greater: return "\(left) > \(right)"
        case .atLeast: return "\(left) >= \(right)"
        case .like: return "false"
        }
    }

    /// Returns a column and a value in a common type: the column's own if the value fits it, and else numbers or text.
    private mutating func operands(_ field: Int, _ value: StoredValue) -> (String, String) {
        let codec = table.codecs[field]
        if let bytes = (try? codec.encode(value)) ?? nil {
            parameters.append(SQLParameter(bytes: bytes))
            return (column(field), codec.sqlType.parameter(parameters.count))
        }
        let isNumber = [.bigint, .boolean, .double, .numeric].contains(codec.sqlType)
        switch value.form {
        case .integer, .real:
            if isNumber {
                let number = codec.sqlType == .boolean ? "\(column(field))::int::numeric" : "\(column(field))::numeric"
                return (number, "\(bind(.text(value.description), "text"))::numeric")
            }
        case .text(let text) where codec.sqlType == .numeric && Double(text)?.isFinite == true:
            return (column(field), "\(bind(.text(text), "text"))::numeric")
        default: break
        }
        return (text(field), "\(bind(.text(value.description), "text")) COLLATE \"C\"")
    }

    /// An expression for a column's text, as bmo writes it.
    private func text(_ field: Int) -> String {
        let column = column(field)
        return switch table.codecs[field].sqlType {
        case .text: column
        case .timestamptz:
            "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') COLLATE \"C\""
        case .boolean: "\(column)::int::text COLLATE \"C\""
        case .bytea: "encode(\(column), 'escape') COLLATE \"C\""
        default: "\(column)::text COLLATE \"C\""
        }
    }

    // MARK: - Order

    /// Returns the condition of the rows after one, in an order by fields and then the key; null comes before all values.
    private mutating func following(_ row: EntityRow, _ order: [RowQuery.Order]) throws -> String {
        var terms: [(field: String, codec: ValueCodec, value: StoredValue, isDescending: Bool)] = []
        for term in order {
            let field = try field(term.field)
            let place = layout.columns.firstIndex { $0.name == term.field } ?? 0
            terms.append((column(field), table.codecs[field], row.values[place], term.isDescending))
        }
        for (index, name) in table.keyColumns.enumerated() {
            terms.append(("t.\(name)", table.keyCodecs[index], row.key[index], false))
        }
        var equal: [String] = []
        var alternatives: [String] = []
        for (column, codec, value, isDescending) in terms {
            let bytes = (try? codec.encode(value)) ?? nil
            guard let bytes else {
                if !isDescending { alternatives.append((equal + ["\(column) IS NOT NULL"]).joined(separator: " AND ")) }
                equal.append("\(column) IS NULL")
                continue
            }
            parameters.append(SQLParameter(bytes: bytes))
            let parameter = codec.sqlType.parameter(parameters.count)
            let later = isDescending ? "(\(column) < \(parameter) OR \(column) IS NULL)" : "\(column) > \(parameter)"
            alternatives.append((equal + [later]).joined(separator: " AND "))
            equal.append("\(column) = \(parameter)")
        }
        return alternatives.isEmpty ? "false" : alternatives.map { "(\($0))" }.joined(separator: " OR ")
    }
}
