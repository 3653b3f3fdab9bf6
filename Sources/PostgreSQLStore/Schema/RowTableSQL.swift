internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The statements of one entity's table.
///
/// A class because each row of a page looks at it.
final class RowTableSQL: Sendable {
    /// The hidden column with a row's number, in tables whose key is not a single integer.
    static let numberColumn = "bmo_row"
    /// The longest text of a key in bytes, below the 2,704 that an index entry can have (BTMaxItemSize).
    static let longestKey = 2_000

    let layout: EntityLayout
    let codecs: [ValueCodec]
    /// The quoted name with the schema.
    let name: String
    /// Whether the key is one integer, which is then the row's number.
    let isNumbered: Bool
    let keyColumns: [String]
    let keyCodecs: [ValueCodec]
    /// The beginning of statements that read rows: the number, then the fields.
    let select: String
    /// What identifies a row: its number, then its key unless that is the number.
    let keyList: String
    /// The beginning of statements that read the same.
    let selectKeys: String
    let selectByKey: String
    let selectByRange: String
    /// Inserts rows whose keys the table does not have; cheaper than ``upsert``.
    let insert: String
    let upsert: String
    let delete: String

    init(_ layout: EntityLayout, schema: String) {
        self.layout = layout
        let codecs = layout.fields.indices.map {
            ValueCodec(layout.fields[$0].type, isIdentity: layout.isIdentity($0))
        }
        self.codecs = codecs
        name = Identifier.quoted(schema) + "." + Identifier.quoted(layout.name)
        isNumbered = Self.isNumbered(layout)
        let number = isNumbered ? Identifier.quoted(layout.fields[layout.key[0]].name) : Self.numberColumn
        let columns = layout.fields.map { Identifier.quoted($0.name) }
        keyColumns = layout.key.isEmpty ? [Self.numberColumn] : layout.key.map { columns[$0] }
        keyCodecs = layout.key.isEmpty ? [ValueCodec(.integer)] : layout.key.map { codecs[$0] }
        select =
            "SELECT t.\(number), "
            + zip(columns, codecs).map { $1.sqlType.read("t.\($0)") }.joined(separator: ", ") + " FROM \(name) t"
        let keyParts = isNumbered ? [] : zip(keyColumns, keyCodecs).map { $1.sqlType.read("t.\($0)") }
        keyList = (["t.\(number)"] + keyParts).joined(separator: ", ")
        selectKeys = "SELECT \(keyList) FROM \(name) t"
        numberName = number
        selectByKey = Self.join(select, keyColumns, keyCodecs)
        selectByRange = "\(select) WHERE t.\(keyColumns[0]) BETWEEN $1::bigint AND $2::bigint"
        let written = (isNumbered ? [] : [Self.numberColumn]) + columns
        let types = (isNumbered ? [] : [SQLType.bigint]) + codecs.map(\.sqlType)
        let arrays = types.enumerated().map { $1.arrayParameter($0 + 1) }.joined(separator: ", ")
        let keyColumns = self.keyColumns
        let changed = columns.filter { !keyColumns.contains($0) }
        insert = "INSERT INTO \(name) (\(written.joined(separator: ", "))) SELECT * FROM unnest(\(arrays))"
        upsert =
            insert + " ON CONFLICT (\(keyColumns.joined(separator: ", "))) DO "
            + (changed.isEmpty
                ? "NOTHING" : "UPDATE SET " + changed.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        let unnested = keyCodecs.enumerated().map { $1.sqlType.arrayParameter($0 + 1) }.joined(separator: ", ")
        let names = keyColumns.indices.map { "k\($0)" }
        delete =
            "DELETE FROM \(name) t USING unnest(\(unnested)) AS u(\(names.joined(separator: ", "))) WHERE "
            + zip(keyColumns, names).map { "t.\($0) = u.\($1)" }.joined(separator: " AND ")
    }

    /// The column with the row's number.
    let numberName: String

    /// Whether the key is one integer, which is then the row's number.
    static func isNumbered(_ layout: EntityLayout) -> Bool {
        layout.key.count == 1 && layout.fields[layout.key[0]].type == .integer
    }

    /// Returns the statement that selects the rows in which some columns have one of several lists of values.
    static func join(_ select: String, _ columns: [String], _ codecs: [ValueCodec]) -> String {
        guard columns.count > 1 else {
            return "\(select) WHERE t.\(columns[0]) = ANY(\(codecs[0].sqlType.arrayParameter(1)))"
        }
        let unnested = codecs.enumerated().map { $1.sqlType.arrayParameter($0 + 1) }.joined(separator: ", ")
        let names = columns.indices.map { "k\($0)" }
        return "\(select) JOIN unnest(\(unnested)) AS u(\(names.joined(separator: ", "))) ON "
            + zip(columns, names).map { "t.\($0) = u.\($1)" }.joined(separator: " AND ")
    }

    /// Returns arrays of keys as parameters; nil if none of the keys can be in the table.
    ///
    /// Keys that do not fit the columns are left out, as no row can have them.
    func parameters(_ keys: some Sequence<RowKey>) -> [SQLParameter]? { Self.parameters(keys, keyCodecs) }

    static func parameters(_ keys: some Sequence<RowKey>, _ codecs: [ValueCodec]) -> [SQLParameter]? {
        var columns: [[[UInt8]?]] = codecs.map { _ in [] }
        for key in keys where key.count == codecs.count {
            let encoded = zip(key, codecs).map { value, codec in (try? codec.encode(value)) ?? nil }
            guard !encoded.contains(where: { $0 == nil }) else { continue }
            for (index, bytes) in encoded.enumerated() { columns[index].append(bytes) }
        }
        guard columns.first?.isEmpty == false else { return nil }
        return zip(columns, codecs).map { .array(of: $1.sqlType.transferred, $0) }
    }

    /// Returns further conditions of a statement for the rows in a scan's scope, and their parameters.
    ///
    /// - Parameter count: The number of parameters before them.
    /// - Throws: `ValueCodec.Misfit` if no row can have the parent's key.
    func condition(
        _ scope: SweepScope, after count: Int = 0
    ) throws(ValueCodec.Misfit) -> (condition: String, parameters: [SQLParameter]) {
        var condition = ""
        var parameters: [SQLParameter] = []
        func add(_ field: Int, oneOf values: [StoredValue]) throws(ValueCodec.Misfit) {
            let codec = codecs[field]
            var encoded: [[UInt8]?] = []
            for value in values { encoded.append(try codec.encode(value)) }
            parameters.append(.array(of: codec.sqlType.transferred, encoded))
            let column = Identifier.quoted(layout.fields[field].name)
            condition += " AND t.\(column) = ANY(\(codec.sqlType.arrayParameter(count + parameters.count)))"
        }
        if let kinds = scope.kinds { try add(kinds.field, oneOf: kinds.names.sorted().map { .text($0) }) }
        if let parent = scope.parent {
            for (field, value) in zip(parent.fields, parent.key) { try add(field, oneOf: [value]) }
        }
        if let deletion = scope.deletion {
            condition += " AND t.\(Identifier.quoted(layout.fields[deletion].name)) IS NULL"
        }
        return (condition, parameters)
    }

    /// Returns the key of a row.
    func key(_ number: Int64, _ values: [StoredValue]) -> RowKey {
        layout.key.isEmpty ? [.integer(number)] : layout.key.map { values[$0] }
    }

    /// Returns the encoded values of a row.
    ///
    /// - Throws: `StoreError` of the code `constraint` that names the column and the value's fault.
    func encode(_ key: RowKey, _ values: [StoredValue]) throws -> [[UInt8]?] {
        var encoded: [[UInt8]?] = []
        encoded.reserveCapacity(values.count)
        for (index, codec) in codecs.enumerated() {
            do throws(ValueCodec.Misfit) {
                encoded.append(try codec.encode(values[index]))
            } catch {
                throw StoreError(
                    .constraint,
                    "\(layout.name).\(layout.fields[index].name): \"\(values[index].description.prefix(60))\" \(error.reason)"
                )
            }
        }
        let references = layout.toOne.map { Array(values[$0.firstField..<$0.firstField + $0.fieldCount]) }
        for count in ([key] + references).map(Self.length) where count > Self.longestKey {
            throw StoreError(
                .constraint, "\(layout.name): a key of \(count) bytes is longer than a PostgreSQL index allows",
                remedy: "choose a shorter key in the configuration")
        }
        return encoded
    }

    /// The bytes of a key as JSON; 0 where they are few.
    private static func length(of key: RowKey) -> Int {
        let isShort = key.allSatisfy { value in
            switch value.form {
            case .text, .bytes: false
            case .null, .integer, .real: true
            }
        }
        return isShort ? 0 : JSONText.key(key).bytes.count
    }
}

extension SQLType {
    /// An expression for the array parameter with a number.
    func arrayParameter(_ number: Int) -> String {
        self == .numeric ? "$\(number)::text[]::numeric[]" : "$\(number)::\(name)[]"
    }
}
