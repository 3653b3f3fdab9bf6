internal import Mapping
internal import Model
internal import RecordBatch
internal import TextFormats

/// The kinds of a member's values, and the type of an attribute that accepts them all.
struct LearnedKinds {
    private enum Kind {
        case boolean, integer, real, decimal, text, emptyText, moment, day, bytes, container
    }

    private var kinds: Set<Kind> = []

    init() {}

    /// Creates the kinds that an attribute of a type accepts; nil for a type that is never learned.
    init?(of type: String) {
        let kind: Kind? =
            switch type {
            case "boolean": .boolean
            case "integer": .integer
            case "real": .real
            case "decimal": .decimal
            case "timestamp": .moment
            case "date": .day
            case "data": .bytes
            default: nil
            }
        guard let kind else { return nil }
        kinds = [kind]
    }

    /// Notes a value of a record that was kept as JSON.
    mutating func note(_ value: ConfigValue) {
        switch value {
        case .null, .secret: break
        case .bool: kinds.insert(.boolean)
        case .int: kinds.insert(.integer)
        case .double(let number): kinds.insert(abs(number) < 1e15 ? .real : .decimal)
        case .decimal: kinds.insert(.decimal)
        case .string(let text): note(text: text)
        case .array, .object: kinds.insert(.container)
        }
    }

    /// Notes a value of a record; null has no effect.
    mutating func note(_ value: BatchValue) {
        switch value.tag {
        case .null: break
        case .bool: kinds.insert(.boolean)
        case .int64: kinds.insert(.integer)
        case .double: kinds.insert(value.double.isFinite ? .real : .text)
        // A double holds fifteen digits of any decimal.
        case .decimal: note(number: value.string, isExact: value.string.count(where: \.isNumber) > 15)
        case .text: note(text: value.string)
        case .bytes: kinds.insert(.bytes)
        case .timestamp: kinds.insert(.moment)
        case .array, .object: kinds.insert(.container)
        }
    }

    /// Notes a value of a JSON text, as SQLite's `json_each` returns it.
    ///
    /// - Parameters:
    ///   - type: The value's type in `json_each`.
    ///   - text: The value of a text or number.
    mutating func note(type: String, text: String?) {
        switch type {
        case "true", "false": kinds.insert(.boolean)
        case "integer" where text.flatMap { Int64($0) } != nil: kinds.insert(.integer)
        case "integer", "real": note(number: text ?? "", isExact: type == "integer")
        case "text": note(text: text ?? "")
        case "array", "object": kinds.insert(.container)
        default: break
        }
    }

    /// Notes a number, as the type that accepts it: there are numbers for a decimal only, and for no type but text.
    ///
    /// - Parameter isExact: Whether a double would lose digits.
    private mutating func note(number text: String, isExact: Bool) {
        if DecimalText(text) == nil {
            kinds.insert(.text)
        } else {
            kinds.insert(isExact || Double(text)?.isFinite != true ? .decimal : .real)
        }
    }

    /// Notes a text; one that only looks like a time or a day, such as `2026-13-01`, is neither.
    private mutating func note(text: String) {
        if text.isEmpty {
            kinds.insert(.emptyText)
        } else if text.wholeMatch(of: /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)/) != nil {
            kinds.insert(ISODate(text) == nil ? .text : .moment)
        } else {
            let isDay = text.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil && ISODate(text) != nil
            kinds.insert(isDay ? .day : .text)
        }
    }

    /// Returns the attribute in the configuration's form; nil where every value was null.
    ///
    /// - Parameter path: The member's path in the records; nil where the attribute has the same name.
    func attribute(from path: String?) -> ConfigValue? {
        guard let type else { return nil }
        var members: [(key: String, value: ConfigValue)] = [("type", .string(type))]
        if let path { members.append(("from", .string(path))) }
        // An empty text is not a timestamp; remotes send it for a missing value.
        if type == "timestamp" || type == "date" { members.append(("transform", .string("empty_as_null"))) }
        return members.count == 1 ? .string(type) : .object(members)
    }

    /// The type that accepts all values; nil where every value was null.
    var type: String? {
        guard !kinds.isEmpty else { return nil }
        if kinds.contains(.container) { return "json" }
        if kinds == [.boolean] { return "boolean" }
        if kinds == [.integer] { return "integer" }
        if kinds.isSubset(of: [.integer, .real]) { return "real" }
        if kinds.isSubset(of: [.integer, .real, .decimal]) { return "decimal" }
        if kinds == [.bytes] { return "data" }
        let texts = kinds.subtracting([.emptyText])
        if texts == [.moment] { return "timestamp" }
        if texts == [.day] { return "date" }
        return "text"
    }
}
