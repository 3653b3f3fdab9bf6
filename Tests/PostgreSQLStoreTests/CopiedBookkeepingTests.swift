import ImportTestSupport
import Mapping
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// The bookkeeping of a copy in the other kind of database.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct CopiedBookkeepingTests {
    /// A database and the provider of its kind.
    private struct Place {
        let stores: any StoreProvider
        let location: String

        /// The rows of each table, a line each.
        func lines(_ model: CompiledModel) throws -> [ContentTable: [String]] {
            var lines: [ContentTable: [String]] = [:]
            try stores.readContent(of: location, model: model) { content in
                for table in ContentTable.all(of: model) {
                    let rows = try content.rows(of: table)
                    while let row = try rows.next() {
                        lines[table, default: []].append(row.map(\.literal).joined(separator: " "))
                    }
                }
            }
            return lines
        }

        func copy(to other: Place, _ model: CompiledModel) throws {
            try stores.readContent(of: location, model: model) { content in
                try other.stores.writeContent(to: other.location, model: model) { copy in
                    for table in ContentTable.all(of: model) {
                        let rows = try content.rows(of: table)
                        while let row = try rows.next() { try copy.write([row], to: table) }
                    }
                }
            }
        }
    }

    @Test func `each table arrives in a file, and comes back`() throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        let model = fixture.model
        let original = Place(stores: PostgreSQLStores(), location: fixture.path)
        let file = Place(stores: StoreKind.sqlite.provider(), location: fixture.folder.appending("copy.sqlite"))
        let back = Place(stores: PostgreSQLStores(), location: try fixture.server.newLocation())
        try original.copy(to: file, model)
        try file.copy(to: back, model)

        let (before, there, after) = (try original.lines(model), try file.lines(model), try back.lines(model))
        for table in ContentTable.all(of: model) {
            let name = table.name(in: model)
            #expect(before[table]?.isEmpty == false, "\(name) has rows")
            #expect(there[table] == before[table], "\(name) in the file")
            #expect(after[table] == before[table], "\(name) in PostgreSQL")
        }
    }

    @Test func `a scan begins again in a copy, and what its position needs stays behind`() throws {
        let fixture = try StoreFixture.withWholeBookkeeping()
        let original = Place(stores: PostgreSQLStores(), location: fixture.path)
        let path = fixture.folder.appending("copy.sqlite")
        try original.copy(to: Place(stores: StoreKind.sqlite.provider(), location: path), fixture.model)
        let file = try SQLiteFile(path)
        // Edits that the remote accepted during a scan are forgotten when the next one begins.
        for table in ["acknowledged", "list_owners", "progress", "seen", "waiting_lists"] {
            #expect(try file.value("SELECT count(*) FROM bmo_\(table)") == "0", "\(table)")
        }
    }
}
