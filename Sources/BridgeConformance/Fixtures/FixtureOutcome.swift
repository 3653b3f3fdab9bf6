internal import Foundation
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// The outcome of a case as the text of `expected.txt`: the report of each step, then all rows by table and key.
struct FixtureOutcome: Equatable {
    /// A heading, and lines of the form `NAME: WORDS` or `KEY {MEMBERS}`.
    struct Section: Equatable {
        var title: String
        var lines: [String]
        /// Whether the lines are rows.
        var isTable: Bool
    }

    var sections: [Section] = []

    var text: String {
        sections.map { section in
            ([section.title] + section.lines.map { "  " + $0 }).map { $0 + "\n" }.joined()
        }.joined(separator: "\n")
    }

    init() {}

    /// Returns the heading of a step.
    static func title(_ index: Int, _ step: [String]) -> String { "step \(index + 1): \(step.joined(separator: " "))" }

    /// Parses the output of ``text``.
    init(text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if line.hasPrefix("  "), !sections.isEmpty {
                sections[sections.count - 1].lines.append(String(line.dropFirst(2)))
            } else {
                sections.append(Section(title: String(line), lines: [], isTable: !line.hasPrefix("step ")))
            }
        }
    }

    // MARK: Tables

    /// Adds the rows of the database, if the steps created it.
    mutating func addTables(of runner: StepRunner, config: String, stores: any StoreProvider) throws {
        let database = runner.database
        guard stores.exists(database) else { return }
        let store = try stores.open(
            database, model: CompiledModel(ConfigurationFile.load(path: config).model), for: .writing)
        let quarantine = try store.quarantined()
        try store.close()
        for table in try stores.contents(of: database) {
            let lines = table.rows.map { row in
                let key = table.key.map { Self.json(row[$0]) }.joined(separator: ", ")
                let members = table.columns.indices.filter { !table.key.contains($0) && row[$0] != .null }.map {
                    index in
                    // The only column that contains the time of a sync.
                    let value = table.columns[index] == "deleted_at" ? "\"(a time)\"" : Self.json(row[index])
                    return "\(Self.json(.text(table.columns[index]))): \(value)"
                }
                return "\(table.key.isEmpty ? "-" : key) {\(members.joined(separator: ", "))}"
            }
            sections.append(Section(title: table.name, lines: lines, isTable: true))
        }
        guard !quarantine.isEmpty else { return }
        let lines = quarantine.map { found in
            let record = found.record
            let place = "\(record.entity), page \(record.page)" + (record.record.map { ", record \($0)" } ?? "")
            let members = [("reason", record.reason), ("representation", record.representation)].map {
                "\(Self.json(.text($0))): \(Self.json(.text($1)))"
            }
            return "\(Self.json(.text(place))) {\(members.joined(separator: ", "))}"
        }
        sections.append(Section(title: "In quarantine", lines: lines.sorted(), isTable: true))
    }

    private static func json(_ value: StoredValue) -> String {
        switch value.form {
        case .null: return "null"
        case .integer(let number): return "\(number)"
        case .real(let number): return number.isFinite ? "\(number)" : "\"\(number)\""
        case .text(let text): return text.jsonQuoted
        case .bytes(let bytes): return "\"base64:\(bytes.withUnsafeBytes { Base64.encode($0) })\""
        }
    }

    // MARK: Differences

    /// The maximum number of differences reported per table.
    private static let maxTableShare = 12

    /// Returns the differences from the expected outcome, one per line.
    func differences(from expected: FixtureOutcome) -> [String] {
        var lines: [String] = []
        for section in expected.sections where !sections.contains(where: { $0.title == section.title }) {
            lines.append("\(section.title): expected, not found")
        }
        for section in sections {
            guard let other = expected.sections.first(where: { $0.title == section.title }) else {
                lines.append("\(section.title): not expected, found with \(section.lines.count) lines")
                continue
            }
            let own = section.isTable ? Self.rows(section, other) : Self.words(section, other)
            lines += own.prefix(Self.maxTableShare)
            if own.count > Self.maxTableShare {
                lines.append("\(section.title): and \(own.count - Self.maxTableShare) more differences")
            }
        }
        return lines
    }

    private static func words(_ found: Section, _ expected: Section) -> [String] {
        guard found.lines != expected.lines else { return [] }
        func parts(_ line: String) -> (String, String) {
            guard let colon = line.firstRange(of: ": ") else { return (line, "") }
            return (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
        }
        return pairs(found.lines.map(parts), expected.lines.map(parts)).map { name, new, old in
            "\(expected.title), \(name): expected \(old ?? "nothing"), found \(new ?? "nothing")"
        }
    }

    private static func rows(_ found: Section, _ expected: Section) -> [String] {
        func parts(_ line: String) -> (String, String) {
            guard let brace = line.firstRange(of: " {") else { return (line, "") }
            return (String(line[..<brace.lowerBound]), String(line[line.index(after: brace.lowerBound)...]))
        }
        return pairs(found.lines.map(parts), expected.lines.map(parts)).flatMap { key, new, old -> [String] in
            let what = "\(found.title) \(key)"
            guard let new else { return ["\(what): expected, not found: \(old ?? "")"] }
            guard let old else { return ["\(what): not expected, found \(new)"] }
            guard let mine = try? ConfigValue(json: new).members, let theirs = try? ConfigValue(json: old).members
            else { return ["\(what): expected \(old), found \(new)"] }
            return pairs(mine.map { ($0.key, $0.value.json) }, theirs.map { ($0.key, $0.value.json) }).map {
                "\(what), column \($0): expected \($2 ?? "null"), found \($1 ?? "null")"
            }
        }
    }

    /// Returns the differing lines of two lists, paired by name; equal names are paired in order.
    private static func pairs(
        _ found: [(String, String)], _ expected: [(String, String)]
    ) -> [(name: String, found: String?, expected: String?)] {
        var left = Dictionary(grouping: expected, by: \.0).mapValues { $0.map(\.1)[...] }
        var differences: [(String, String?, String?)] = []
        for (name, value) in found {
            let other = left[name]?.popFirst()
            if other != value { differences.append((name, value, other)) }
        }
        for (name, _) in expected {
            if let value = left[name]?.popFirst() { differences.append((name, nil, value)) }
        }
        return differences
    }
}
