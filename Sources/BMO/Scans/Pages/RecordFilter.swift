internal import BridgeHost
internal import Importer
internal import Mapping
public import Model
internal import RecordBatch
internal import StoreContract

/// Filters records by conditions on local fields, before they are imported.
///
/// A condition has the meaning of `bmo list --where`. A record that cannot be mapped passes: the import quarantines it.
/// Not thread-safe.
final class RecordFilter {
    private let conditions: [FieldCondition]
    private let mapper: Mapper
    private let plan: Int
    private let writer = RecordBatchWriter()

    /// Creates a filter for the records of an entity.
    ///
    /// - Parameter plan: The index of the plan that maps the records.
    /// - Throws: ``StoreError`` of the code `request` for an unknown field, or a value that does not fit its type.
    init(_ conditions: [LocalCondition], plan: Int, of entity: Int, in model: CompiledModel) throws {
        self.conditions = try conditions.map { try FieldCondition($0, on: model.entities[entity]) }
        self.plan = plan
        mapper = Mapper(model)
    }

    /// Returns the records that pass, in their order.
    ///
    /// - Parameter parent: The key of the object whose children are scanned.
    func passing(_ batch: RecordBatch, parent: [StoredValue]?) throws -> RecordBatch {
        let page = mapper.map(batch, as: plan, parent: parent)
        var passes = Array(repeating: false, count: batch.count)
        for rejection in page.rejections { passes[rejection.record] = true }
        var record = -1
        // An object precedes those nested in it: the first row of a record is the record's own.
        for row in page.rows where row.record != record {
            record = row.record
            passes[record] = conditions.allSatisfy { $0.fits(page.cells[row.firstCell + $0.field]) }
        }
        for index in 0..<batch.count where passes[index] { writer.copy(batch[index]) }
        withExtendedLifetime(page) {}
        return try writer.finish()
    }
}

/// A condition on a cell, with the store's result for the column.
struct FieldCondition {
    let field: Int
    private let comparison: Comparison
    private let operand: Operand

    private enum Operand {
        case null
        case number(Double)
        case integer(Int64)
        case decimal([UInt8])
        case text([UInt8])
        case bytes([UInt8])
        case pattern([Character])
    }

    init(_ condition: LocalCondition, on layout: EntityLayout) throws {
        guard let field = layout.fields.firstIndex(where: { $0.name == condition.field }) else {
            throw StoreError(
                .request, "\(layout.name) has no field \"\(condition.field)\"",
                remedy: "there are: \(layout.columns.map(\.name).joined(separator: ", "))")
        }
        self.field = field
        comparison = condition.comparison
        let isDecimal = layout.fields[field].type == .decimal
        operand =
            switch try condition.operand(for: layout.fields[field], of: layout).form {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .number(value)
            case .text(let text) where comparison == .like: .pattern(Array(Self.folded(text)))
            case .text(let text): isDecimal ? .decimal(Array(text.utf8)) : .text(Array(text.utf8))
            case .bytes(let bytes): .bytes(bytes)
            }
    }

    /// Returns whether a cell meets the condition; null meets only `= null`.
    func fits(_ cell: Cell) -> Bool {
        let isNull = cell.kind == .null || cell.kind == .absent
        switch operand {
        case .null: return isNull == (comparison != .notEqual)
        case _ where isNull: return false
        case .pattern(let pattern): return Self.matches(pattern[...], Array(Self.folded(Self.text(of: cell)))[...])
        case .integer(let wanted):
            if cell.storage == .integer { return holds(cell.integer < wanted, cell.integer == wanted) }
            return number(cell).map { holds($0 < Double(wanted), $0 == Double(wanted)) } ?? false
        case .number(let wanted): return number(cell).map { holds($0 < wanted, $0 == wanted) } ?? false
        case .decimal(let wanted):
            guard cell.storage == .text else { return false }
            let order = wanted.withUnsafeBytes { DecimalOrder.compare(cell.rawBytes, $0) }
            return holds(order < 0, order == 0)
        case .text(let wanted), .bytes(let wanted):
            let bytes = cell.rawBytes
            return holds(bytes.lexicographicallyPrecedes(wanted), bytes.elementsEqual(wanted))
        }
    }

    private func holds(_ isLess: Bool, _ isEqual: Bool) -> Bool {
        switch comparison {
        case .equal: isEqual
        case .notEqual: !isEqual
        case .less: isLess
        case .atMost: isLess || isEqual
        case .greater: !isLess && !isEqual
        case .atLeast: !isLess
        case .like: false
        }
    }

    private func number(_ cell: Cell) -> Double? {
        switch cell.storage {
        case .integer: Double(cell.integer)
        case .real: cell.real
        case .text: Double(Self.text(of: cell))
        case .absent, .null, .bytes: nil
        }
    }

    private static func text(of cell: Cell) -> String { cell.value.map(\.description) ?? "" }

    /// Returns text with ASCII letters in one case: SQLite's LIKE ignores the case of those only.
    private static func folded(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value) + 32) : $0
                }))
    }

    /// Returns whether a text matches a pattern in which `%` is any text and `_` one character.
    ///
    /// Backtracks to the last `%` only, so that no pattern takes long.
    private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        var pattern = pattern
        var text = text
        var retry: (pattern: ArraySlice<Character>, text: ArraySlice<Character>)?
        while true {
            if pattern.first == "%" {
                pattern.removeFirst()
                retry = (pattern, text)
            } else if let wanted = pattern.first, let found = text.first, wanted == "_" || wanted == found {
                pattern.removeFirst()
                text.removeFirst()
            } else if pattern.isEmpty, text.isEmpty {
                return true
            } else if let (after, rest) = retry, !rest.isEmpty {
                (pattern, text) = (after, rest.dropFirst())
                retry = (pattern, text)
            } else {
                return false
            }
        }
    }
}

extension Workspace {
    /// Validates conditions on an entity's records: the fields exist, and the values fit their types.
    ///
    /// - Parameter entity: The entity's index in the compiled model.
    /// - Throws: ``StoreError`` of the code `request` that names the fault.
    package func check(_ conditions: [LocalCondition], on entity: Int) throws {
        for condition in conditions { _ = try FieldCondition(condition, on: model.entities[entity]) }
    }
}

extension LocalCondition {
    /// The condition as written on a command line.
    public var text: String { field + comparison.rawValue + (value ?? "null") }

    /// Returns the bridge's form of the condition, for the remote to apply; nil for LIKE, which the contract lacks.
    func filter(_ plan: ScanPlan, in layout: EntityLayout) -> FetchRequest.Filter? {
        guard let comparison = FetchRequest.Filter.Comparison(rawValue: comparison.rawValue) else { return nil }
        var path = field
        if let attribute = plan.attributes.first(where: { $0.name == field }), case .path(let own) = attribute.source {
            path = own.components.joined(separator: ".")
        }
        var value = value
        if let text = value, layout.fields.contains(where: { $0.name == field && $0.type == .boolean }) {
            value = ["true", "1"].contains(text.lowercased()) ? "true" : "false"
        }
        return FetchRequest.Filter(attribute: field, path: path, comparison: comparison, value: value)
    }
}
