internal import Mapping
internal import Model
internal import StoreRules

/// The rows of one entity's table, by number and by key.
struct RowTable: Sendable {
    private(set) var rows: [Int64: [StoredValue]] = [:]
    private var numbers: [RowKey: Int64] = [:]
    /// The numbers of the rows that refer to a key, by to-one relationship.
    private var referrers: [[RowKey: Set<Int64>]]
    private let key: [Int]
    private let types: [AttributeType]
    private let toOne: [Range<Int>]
    /// Whether the key is one integer, which is then the row's number.
    private let isNumbered: Bool
    private var last: Int64 = 0

    init(_ layout: EntityLayout) {
        key = layout.key
        types = layout.fields.map(\.type)
        toOne = layout.toOne.map { $0.firstField..<$0.firstField + $0.fieldCount }
        referrers = Array(repeating: [:], count: toOne.count)
        isNumbered = layout.key.count == 1 && [.integer, .boolean].contains(layout.fields[layout.key[0]].type)
    }

    /// The number that the next row without a key gets: the next one, or the greatest that is free.
    var nextNumber: Int64 {
        guard last == .max else { return last + 1 }
        var number = last
        while rows[number] != nil { number -= 1 }
        return number
    }

    func number(of key: RowKey) -> Int64? {
        guard self.key.isEmpty || isNumbered else { return numbers[key] }
        guard case .integer(let number)? = key.first?.form, rows[number] != nil else { return nil }
        return number
    }

    func key(of number: Int64) -> RowKey? {
        guard let row = rows[number] else { return nil }
        return key.isEmpty ? [.integer(number)] : key.map { row[$0] }
    }

    func row(_ key: RowKey) -> [StoredValue]? { number(of: key).flatMap { rows[$0] } }

    /// The numbers of the rows whose relationship refers to a key.
    func referrers(_ relationship: Int, to key: RowKey) -> Set<Int64> { referrers[relationship][key] ?? [] }

    mutating func write(_ key: RowKey, _ values: [StoredValue]) {
        // As a database stores them: of the column's type, not a number is null, and zero has no sign.
        let values = zip(values, types).map { value, type -> StoredValue in
            guard case .real(let real) = value else { return value.typed(as: type) }
            return real.isNaN ? .null : real == 0 ? .real(0) : value
        }
        let known = number(of: key)
        var number = known ?? nextNumber
        if known == nil, self.key.isEmpty || isNumbered, case .integer(let given)? = key.first?.form { number = given }
        if known != nil { forgetReferences(number) }
        rows[number] = values
        if !self.key.isEmpty, !isNumbered { numbers[key] = number }
        last = max(last, number)
        for (index, fields) in toOne.enumerated() {
            let target = Array(values[fields])
            if !target.contains(.null) { referrers[index][target, default: []].insert(number) }
        }
    }

    mutating func erase(_ key: RowKey) {
        guard let number = number(of: key) else { return }
        forgetReferences(number)
        rows[number] = nil
        numbers[key] = nil
    }

    private mutating func forgetReferences(_ number: Int64) {
        guard let row = rows[number] else { return }
        for (index, fields) in toOne.enumerated() {
            let target = Array(row[fields])
            referrers[index][target]?.remove(number)
            if referrers[index][target]?.isEmpty == true { referrers[index][target] = nil }
        }
    }
}
