/// A foreign key of the file, whichever program made it.
struct FileReference {
    let table: String
    let target: String
    /// What SQLite does with the row that refers when the other one is deleted, such as `CASCADE`; `NO ACTION` and
    /// `RESTRICT` if it refuses the deletion.
    let deletionAction: String
    private(set) var columns: [String] = []
    /// The columns that these refer to; empty names for the primary key.
    private(set) var targetColumns: [String] = []

    /// Returns whether bmo made it.
    func isOurs(_ made: ManagedTables) -> Bool {
        made.has(table) && columns.allSatisfy { made.has($0, in: table) }
    }

    /// Returns all foreign keys of the file.
    static func all(on connection: OpaquePointer?) throws -> [FileReference] {
        let select = RawStatement(
            """
            SELECT m.name, f.id, f."table", f."from", f."to", f.on_delete
            FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq
            """, on: connection)
        defer { select.reset() }
        var references: [FileReference] = []
        var last: (table: String, id: Int64)?
        while try select.step() {
            let place = (table: select.text(0) ?? "", id: select.int64(1))
            if last.map({ $0 != place }) ?? true {
                references.append(
                    FileReference(
                        table: place.table, target: select.text(2) ?? "", deletionAction: select.text(5) ?? ""))
                last = place
            }
            references[references.count - 1].columns.append(select.text(3) ?? "")
            references[references.count - 1].targetColumns.append(select.text(4) ?? "")
        }
        return references
    }

    /// Returns the tables that bmo has made in the file.
    static func made(on connection: OpaquePointer?) throws -> ManagedTables {
        let select = RawStatement("SELECT value FROM bmo_meta WHERE name = 'made'", on: connection)
        defer { select.reset() }
        return ManagedTables(made: try select.step() ? select.text(0) ?? "" : "")
    }
}
