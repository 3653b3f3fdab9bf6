internal import ImportTestSupport
package import Mapping
package import StoreContract
package import TestSupport

/// A database of one kind, which is gone with this object.
package final class StorePlace: Sendable {
    package let kind: StoreKind
    package let stores: any StoreProvider
    package let folder: TemporaryFolder
    /// Where the database is: a file's path also for a database in memory, and a schema of its own of PostgreSQL.
    package let location: String

    package init(_ kind: StoreKind, name: String = "bmo.sqlite", location: String? = nil) throws {
        self.kind = kind
        stores = kind.provider()
        folder = try TemporaryFolder()
        self.location =
            if let location { location } else if kind == .postgresql {
                try PostgreSQLServer.shared.get().newLocation()
            } else { folder.appending(name) }
    }

    /// Opens the database.
    package func open(_ model: CompiledModel, for use: StoreUse = .writing) throws -> any Store {
        try stores.open(location, model: model, for: use)
    }

    /// The rows of a table, by key, with values as SQL writes them.
    package func rows(_ table: String) throws -> [[String]] {
        try stores.contents(of: location).first { $0.name == table }?.rows.map { $0.map(\.literal) } ?? []
    }

    /// A table as text: a line of column names, then a line per row by key.
    package func table(_ name: String) throws -> String {
        guard let table = try stores.contents(of: location).first(where: { $0.name == name }) else { return "" }
        let lines = table.rows.map { $0.map(\.literal).joined(separator: " | ") }
        return ([table.columns.joined(separator: " | ")] + lines).joined(separator: "\n")
    }

    /// What is wrong with the database: references without a target, and what SQLite finds.
    package func faults(_ model: CompiledModel) throws -> [String] {
        let dangling = try Self.danglingReferences(in: stores.contents(of: location), model)
        return kind == .sqlite ? try SQLiteFile(location).faults() + dangling : dangling
    }

    private static func danglingReferences(in tables: [TableContents], _ model: CompiledModel) -> [String] {
        let byName = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func keys(_ entity: Int) -> Set<[StoredValue]> {
            let table = byName[model.entities[entity].table]
            return Set(table?.rows.map { row in (table?.key ?? []).map { row[$0] } } ?? [])
        }
        var faults: [String] = []
        for layout in model.entities where layout.index == layout.root {
            guard let table = byName[layout.name] else { continue }
            for toOne in layout.toOne {
                let names = (0..<toOne.fieldCount).map { layout.fields[toOne.firstField + $0].name }
                let columns = names.compactMap { table.columns.firstIndex(of: $0) }
                let targets = keys(toOne.target)
                for row in table.rows {
                    let key = columns.map { row[$0] }
                    if !key.contains(.null), !targets.contains(key) { faults.append("\(layout.name): \(key)") }
                }
            }
            for toMany in layout.toMany {
                guard case .links(let name) = toMany.storage, let links = byName[name] else { continue }
                let (sources, targets) = (keys(layout.index), keys(toMany.target))
                for row in links.rows {
                    let (source, target) = (Array(row[..<layout.key.count]), Array(row[(layout.key.count + 1)...]))
                    if !sources.contains(source) || !targets.contains(target) { faults.append("\(name): \(row)") }
                }
            }
        }
        return faults
    }
}
