internal import Mapping
internal import StoreContract
internal import StoreRules

/// The names of entities, columns and lists in the bookkeeping, which follow a rename.
struct RecordedNames {
    /// What has a name: the history records columns and lists apart, and one name may have been of both, in turn.
    enum Kind { case column, list }

    /// The number of changes read at a time.
    private static let portion = 5_000

    let connection: Connection
    let schema: String

    init(_ connection: Connection, schema: String) {
        self.connection = connection
        self.schema = schema
    }

    private var changes: String { own("bmo_changes") }

    func own(_ table: String) -> String { Identifier.quoted(schema) + "." + table }

    /// Renames a column or list of a table's objects, in the open transaction.
    func rename(_ old: String, to new: String, in table: String, _ kind: Kind) throws {
        try renameInHistory(old, to: new, in: table, kind)
        try renameInEdits(old, to: new, in: table, kind)
        switch kind {
        case .column: try renameInSources(old, to: new, in: table)
        case .list: try forgetPositions()
        }
    }

    /// Renames a column or list in all recorded changes, which undo and differences read.
    ///
    /// Where a change has the new name already, that is of a column or list that was dropped; it becomes
    /// `NAME (dropped)`.
    private func renameInHistory(_ old: String, to new: String, in table: String, _ kind: Kind) throws {
        if kind == .list { try retire(list: new, in: table) }
        try rewrite([old, new], in: table, for: "renaming \(table).\(old) in the history") { content in
            content.renaming(old, to: new, kind)
        }
    }

    /// Marks a dropped column in all recorded changes, so that they do not speak of a later one of its name.
    func retire(column name: String, in table: String) throws {
        try rewrite([name, name], in: table, for: "dropping \(table).\(name) in the history") { content in
            content.retiring(name)
        }
    }

    /// Marks a dropped list in all recorded changes as `NAME (dropped)`, or with a number if an earlier one has that name.
    func retire(list name: String, in table: String) throws {
        let retired = try RenameMap.retired(name) { try has(list: $0, in: table) }
        try rewrite([name, name], in: table, for: "dropping \(table).\(name) in the history") { content in
            if case .links(name, let span) = content { .links(relationship: retired, span) } else { content }
        }
    }

    /// Deletes the recorded changes of a table's rows, or only those of one list.
    ///
    /// - Returns: The number of changes, and the runs that made them.
    func forgetChanges(of table: String, list: String?) throws -> (count: Int, runs: [Int64]) {
        var condition = "entity = $1::text"
        var values: [SQLParameter] = [.text(table)]
        if let list {
            condition += " AND change = 'relinked' AND (starts_with(old, $2::text) OR starts_with(new, $2::text))"
            values.append(.text(Self.start(ofList: list)))
        }
        let action = "forgetting the history of \(table)"
        let found = try connection.query("SELECT DISTINCT run FROM \(changes) WHERE \(condition)", values, for: action)
        let deletion = try connection.query("DELETE FROM \(changes) WHERE \(condition)", values, for: action)
        return (deletion.changed, (0..<found.count).compactMap { found.bigint($0, 0) })
    }

    /// Returns the beginning of each recorded change of a list, in the form in which LinkSpan writes it.
    private static func start(ofList name: String) -> String { "{\"relationship\":\"\(name)\"," }

    private func has(list name: String, in table: String) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM \(changes) WHERE entity = $1::text AND change = 'relinked'
                AND (starts_with(old, $2::text) OR starts_with(new, $2::text)))
            """, [.text(table), .text(Self.start(ofList: name))],
            for: "looking for \(table).\(name) in the history"
        ).boolean(0, 0)
    }

    /// Changes all recorded changes of a table that contain one of two names.
    private func rewrite(
        _ names: [String], in table: String, for action: String,
        _ change: (ChangeRecord.Content) -> ChangeRecord.Content
    ) throws {
        var last: Int64 = 0
        while true {
            // The server only preselects: it cannot read all JSON that bmo writes, such as an escaped U+0000.
            let found = try connection.query(
                """
                SELECT id, old, new FROM \(changes) c
                WHERE entity = $1::text AND id > $2::bigint AND EXISTS (
                    SELECT 1 FROM unnest($3::text[]) AS n(name) WHERE position(n.name in c.old) > 0
                        OR position(n.name in c.new) > 0)
                ORDER BY id LIMIT \(Self.portion)
                """, [.text(table), .bigint(last), .texts(names.map { "\"\($0)\"" })], for: action)
            var ids: [Int64] = []
            var sides: [(old: String?, new: String?)] = []
            for row in 0..<found.count {
                last = found.bigint(row, 0) ?? 0
                ids.append(last)
                sides.append(
                    (
                        try found.text(row, 1).map { change(try ChangeRecord.Content(json: $0)).json.string },
                        try found.text(row, 2).map { change(try ChangeRecord.Content(json: $0)).json.string }
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
}

extension ChangeRecord.Content {
    /// Returns the same content with another name for a column or list.
    fileprivate func renaming(_ old: String, to new: String, _ kind: RecordedNames.Kind) -> Self {
        switch (kind == .column ? retiring(new) : self, kind) {
        case (.columns(let columns), .column): .columns(columns.map { ($0.name == old ? new : $0.name, $0.value) })
        case (.links(old, let span), .list): .links(relationship: new, span)
        case (let content, _): content
        }
    }

    /// Returns the same content with the name `NAME (dropped)`, or another that it does not have, for a column.
    fileprivate func retiring(_ name: String) -> Self {
        guard case .columns(let columns) = self, columns.contains(where: { $0.name == name }) else { return self }
        let retired = RenameMap.retired(name) { taken in columns.contains { $0.name == taken } }
        return .columns(columns.map { ($0.name == name ? retired : $0.name, $0.value) })
    }
}
