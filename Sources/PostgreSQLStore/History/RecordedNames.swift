internal import Mapping
internal import StoreContract
internal import StoreRules

/// The names of columns and lists in the history, which undo and differences read.
struct RecordedNames {
    /// The number of changes read at a time.
    private static let portion = 5_000

    private let connection: Connection
    private let schema: String

    init(_ connection: Connection, schema: String) {
        self.connection = connection
        self.schema = schema
    }

    /// Renames a column or list of a table in all recorded changes, in the open transaction.
    func rename(_ old: String, to new: String, in table: String) throws {
        let changes = Identifier.quoted(schema) + ".bmo_changes"
        let action = "renaming \(table).\(old) in the history"
        var last: Int64 = 0
        while true {
            // The server only preselects: it cannot read all JSON that bmo writes, such as an escaped U+0000.
            let found = try connection.query(
                """
                SELECT id, old, new FROM \(changes)
                WHERE entity = $1::text AND id > $2::bigint
                    AND (position($3::text in old) > 0 OR position($3::text in new) > 0)
                ORDER BY id LIMIT \(Self.portion)
                """, [.text(table), .bigint(last), .text("\"\(old)\"")], for: action)
            var ids: [Int64] = []
            var sides: [(old: String?, new: String?)] = []
            for row in 0..<found.count {
                last = found.bigint(row, 0) ?? 0
                ids.append(last)
                sides.append(
                    (
                        try found.text(row, 1).map { try Self.renamed($0, old, new) },
                        try found.text(row, 2).map { try Self.renamed($0, old, new) }
                    ))
            }
            try connection.query(
                """
                UPDATE \(changes) c SET old = u.old, new = u.new
                FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(id, old, new) WHERE c.id = u.id
                """, [.bigints(ids), .optionalTexts(sides.map(\.old)), .optionalTexts(sides.map(\.new))], for: action)
            if found.count < Self.portion { return }
        }
    }

    /// Returns one side of a change with the new name.
    private static func renamed(_ json: String, _ old: String, _ new: String) throws -> String {
        switch try ChangeRecord.Content(json: json) {
        case .columns(let columns):
            ChangeRecord.Content.columns(columns.map { ($0.name == old ? new : $0.name, $0.value) }).json.string
        case .links(let relationship, let span):
            ChangeRecord.Content.links(relationship: relationship == old ? new : relationship, span).json.string
        }
    }
}
