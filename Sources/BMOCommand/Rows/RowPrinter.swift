internal import ArgumentParser
internal import Mapping
internal import Model
internal import RecordBatch
internal import TextFormats

/// The output formats for rows other than a table.
enum OutputFormat: String, EnumerableFlag {
    case json, csv
}

/// Prints the rows of an entity.
struct RowPrinter {
    private let layout: EntityLayout
    private let format: OutputFormat?
    private var rows: [[String]] = []
    private var count = 0
    private var json = JSONArrayPrinter()

    init(_ layout: EntityLayout, format: OutputFormat?) {
        self.layout = layout
        self.format = format
        if format == .csv { print(layout.columns.map(\.name).csvLine, terminator: "\r\n") }
    }

    mutating func add(_ values: [StoredValue]) {
        count += 1
        switch format {
        case .json: json.add(Self.json(values, layout))
        case .csv:
            let line = values.map(Self.text).csvLine
            print(Terminal.outputIsTerminal ? Terminal.printable(line) : line, terminator: "\r\n")
        case nil: rows.append(values.map(Self.text))
        }
    }

    func finish() {
        if format == .json { json.finish() }
        guard format == nil else { return }
        let numbers = layout.columns.enumerated().filter { [.integer, .real].contains($1.type) }.map(\.offset)
        print(Terminal.table(layout.columns.map(\.name), rows, rightAligned: Set(numbers)))
        print(Terminal.count(count, "row", "rows"))
    }

    /// Formats a row as a JSON object with native booleans, numbers and JSON, and data as base64.
    ///
    /// - Parameter more: Additional members, as JSON.
    static func json(
        _ values: [StoredValue], _ layout: EntityLayout, _ more: [(name: String, json: String)] = []
    ) -> String {
        var out = "{"
        for (index, (field, value)) in zip(layout.columns, values).enumerated() {
            if index > 0 { out += "," }
            out.appendJSONString(field.name)
            out += ":"
            out += json(value, field.type)
        }
        for (name, json) in more {
            out += ","
            out.appendJSONString(name)
            out += ":" + json
        }
        return out + "}"
    }

    /// Formats a value as JSON; without a type, texts are strings.
    static func json(_ value: StoredValue, _ type: AttributeType?) -> String {
        switch (value.form, type) {
        case (.null, _): return "null"
        case (.integer(let value), .boolean): return value == 0 ? "false" : "true"
        case (.text(let value), .json), (.text(let value), .decimal): return value
        case (.text, _), (.bytes, _): return text(value).jsonQuoted
        default: return text(value)
        }
    }

    static func text(_ value: StoredValue) -> String {
        switch value {
        case .null: ""
        case .bytes(let bytes): bytes.withUnsafeBytes(Base64.encode)
        default: value.description
        }
    }
}
