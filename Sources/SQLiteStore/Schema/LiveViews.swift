internal import GRDB
internal import StoreContract
internal import StoreRules

/// The configured views of rows that are not deleted; `bmo_meta` lists the names of those created.
enum LiveViews {
    /// Creates the views of these tables, and drops created views that are no longer configured.
    ///
    /// - Throws: ``StoreError`` if a table or view not created by bmo has the name of one.
    static func make(of tables: [SchemaBuilder.Table], in db: Database) throws {
        let known = try String.fetchOne(db, sql: "SELECT value FROM bmo_meta WHERE name = 'views'")
        let made = (known ?? "").split(separator: "\n").map(String.init)
        for name in made { try db.execute(sql: "DROP VIEW IF EXISTS \(SchemaBuilder.quoted(name))") }
        var names: [String] = []
        for table in tables {
            guard let name = table.view, let sql = table.viewSQL else { continue }
            let type = try String.fetchOne(
                db, sql: "SELECT type FROM sqlite_schema WHERE name = ? COLLATE NOCASE", arguments: [name])
            if let type {
                throw StoreError.takenView(name, by: type, of: table.name)
            }
            try db.execute(sql: sql)
            names.append(name)
        }
        guard !names.isEmpty || known != nil else { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('views', ?)",
            arguments: [names.joined(separator: "\n")])
    }
}
