internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// Prints the changes of a run: a table for people, a JSON array for machines.
struct DiffPrinter {
    private let model: CompiledModel
    private let limit: Int?
    private var lines: [[String]] = []
    private var rows = 0
    private var counts: [(word: String, count: Int)] = []

    init(_ model: CompiledModel, limit: Int?) {
        self.model = model
        self.limit = limit
    }

    mutating func add(_ change: RowChange) {
        rows += 1
        let word = change.kind.rawValue
        if let index = counts.firstIndex(where: { $0.word == word }) {
            counts[index].count += 1
        } else {
            counts.append((word, 1))
        }
        if let limit, rows > limit { return }
        let head = [change.entity, Self.key(change.key), word]
        let values = Self.lines(change, model)
        for (index, line) in values.enumerated() { lines.append((index == 0 ? head : ["", "", ""]) + line) }
        if values.isEmpty { lines.append(head + ["", "", "", ""]) }
    }

    /// Adds the changes of a dry run, or prints each as a JSON event.
    mutating func add(_ run: Int64, of store: any Store, json: Bool) throws {
        try store.changes(of: run) { change in
            if json {
                print("{\"event\":\"change\",\"change\":\(self.json(change))}")
            } else {
                add(change)
            }
        }
    }

    func finish() {
        if !lines.isEmpty {
            print(Terminal.table(["entity", "key", "change", "column", "old", "", "new"], lines))
        }
        if let limit, rows > limit { print("... and \(rows - limit) more; --limit \(rows) or --json shows all") }
        let parts = counts.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        print(rows == 0 ? "no changes" : "\(Terminal.count(rows, "row", "rows")): \(parts)")
    }

    /// Formats a key as a person would type it: `NO`, `NO 7`.
    static func key(_ key: [StoredValue]) -> String { key.map(RowPrinter.text).joined(separator: " ") }

    /// Formats a change as rows of column, old, arrow, new.
    ///
    /// A changed row has a line per column; an inserted or deleted row has one line.
    static func lines(_ change: RowChange, _ model: CompiledModel) -> [[String]] {
        var lines: [[String]] = []
        let fields = model.index(of: change.entity).map { model.entities[$0].fields } ?? []
        func shown(_ column: RowChange.Column, _ value: StoredValue?) -> String {
            if case .integer(let number)? = value?.form,
                fields.first(where: { $0.name == column.name })?.type == .boolean
            {
                return number == 0 ? "false" : "true"
            }
            return text(value)
        }
        let isWhole = change.columns.allSatisfy { $0.old == nil } || change.columns.allSatisfy { $0.new == nil }
        if change.kind == .loaded {
            let count = change.count.map { "the first rows; \($0) now" } ?? "the first rows"
            lines.append(["", "", "", count])
        } else if isWhole {
            let isNew = change.columns.contains { $0.new != nil }
            let all = change.columns.map { "\($0.name): \(shown($0, $0.new ?? $0.old))" }.joined(separator: ", ")
            if !all.isEmpty { lines.append(["", isNew ? "" : all, "->", isNew ? all : ""]) }
        } else {
            for column in change.columns {
                lines.append([column.name, shown(column, column.old), "->", shown(column, column.new)])
            }
        }
        for link in change.links {
            // The whole lists are clearer than their differences.
            let (old, new) = (link.whole?.old ?? link.old, link.whole?.new ?? link.new)
            lines.append([link.relationship, keys(old), "->", keys(new)])
        }
        return lines
    }

    private static func keys(_ keys: [[StoredValue]]) -> String {
        "[" + keys.map { $0.map { text($0) }.joined(separator: " ") }.joined(separator: ", ") + "]"
    }

    /// Formats a value as JSON, which distinguishes null, empty text and white space.
    static func text(_ value: StoredValue?) -> String {
        switch value {
        case nil: return ""
        case .some(.text(let text)): return text.jsonQuoted
        case .some(.bytes(let bytes)): return Terminal.count(bytes.count, "byte", "bytes")
        case .some(let value): return value.description
        }
    }

    // MARK: JSON

    /// Formats a change as a JSON object.
    func json(_ change: RowChange) -> String {
        let layout = model.index(of: change.entity).map { model.entities[$0] }
        var out = "{"
        Self.member("entity", change.entity.jsonQuoted, &out)
        let keyTypes = layout.map { layout in layout.key.map { layout.fields[$0].type } } ?? []
        if change.kind != .loaded { Self.member("key", Self.list(change.key, keyTypes), &out) }
        Self.member("change", change.kind.rawValue.jsonQuoted, &out)
        if let count = change.count { Self.member("rows", String(count), &out) }
        if !change.columns.isEmpty {
            var columns = "{"
            for column in change.columns {
                let type = layout?.fields.first { $0.name == column.name }?.type
                var pair = "{"
                if let old = column.old { Self.member("old", RowPrinter.json(old, type), &pair) }
                if let new = column.new { Self.member("new", RowPrinter.json(new, type), &pair) }
                Self.member(column.name, pair + "}", &columns)
            }
            Self.member("columns", columns + "}", &out)
        }
        if !change.links.isEmpty {
            let links = change.links.map { link -> String in
                var object = "{"
                Self.member("relationship", link.relationship.jsonQuoted, &object)
                if let at = link.at { Self.member("at", String(at), &object) }
                let types = targetKey(of: link.relationship, in: layout)
                Self.member("old", "[" + link.old.map { Self.list($0, types) }.joined(separator: ",") + "]", &object)
                Self.member("new", "[" + link.new.map { Self.list($0, types) }.joined(separator: ",") + "]", &object)
                return object + "}"
            }
            Self.member("relationships", "[" + links.joined(separator: ",") + "]", &out)
        }
        for (name, value) in [("bridge", change.bridge), ("walk", change.scan), ("location", change.location)] {
            if let value { Self.member(name, value.jsonQuoted, &out) }
        }
        return out + "}"
    }

    private func targetKey(of relationship: String, in layout: EntityLayout?) -> [AttributeType] {
        guard let target = layout?.toMany.first(where: { $0.name == relationship })?.target else { return [] }
        return model.entities[target].key.map { model.entities[target].fields[$0].type }
    }

    private static func list(_ values: [StoredValue], _ types: [AttributeType]) -> String {
        let parts = values.enumerated().map { RowPrinter.json($1, $0 < types.count ? types[$0] : nil) }
        return "[" + parts.joined(separator: ",") + "]"
    }

    static func member(_ name: String, _ json: String, _ out: inout String) {
        if out.last != "{" { out += "," }
        out.appendJSONString(name)
        out += ":" + json
    }
}
