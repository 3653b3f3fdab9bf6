import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import SQLiteStore
import TestSupport
import Testing
import TextFormats

/// The stores that the importer's tests run over.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite
}

/// A store of one kind, with all that is in it as text.
final class TestDatabase {
    let model: CompiledModel
    let store: any PageStore
    private let contents: () throws -> Contents
    private let file: SQLiteFile?

    /// How a page ends.
    enum End { case commit, rollback }

    init(_ kind: StoreKind, _ model: CompiledModel) throws {
        self.model = model
        switch kind {
        case .memory:
            let store = MemoryStore(model)
            self.store = store
            file = nil
            contents = { Contents(store.contents, model) }
        case .sqlite:
            let folder = try TemporaryFolder()
            let path = folder.appending("bmo.sqlite")
            store = try SQLiteStore(path: path, model: model)
            let file = try SQLiteFile(path)
            self.file = file
            contents = { [folder] in try withExtendedLifetime(folder) { try Contents(file, model) } }
        }
    }

    /// Imports a page of one batch and says what that did, as ``ImportCounts/text(_:)`` has it.
    @discardableResult
    func add(
        _ entity: String, _ records: RemoteValue..., page: Int = 1, progress: WalkProgress? = nil,
        end: End = .commit
    ) throws -> String {
        try addBatches([records], of: entity, page: page, progress: progress, end: end)
    }

    /// Imports a page that a walk per parent brought.
    @discardableResult
    func addChildren(of parent: [StoredValue], _ entity: String, _ records: RemoteValue...) throws -> String {
        try addBatches([records], of: entity, parent: parent)
    }

    /// Imports a page of a further source.
    @discardableResult
    func add(
        source: String, of entity: String, _ records: RemoteValue..., parent: [StoredValue]? = nil
    ) throws -> String {
        let index = try #require(model.index(of: entity))
        let plan = try #require(model.plan(of: index, source: source))
        let walk = WalkTarget(scope: WalkScope(entity: entity, source: source), entity: index, isListing: false)
        return try addBatches([records], of: entity, plan: plan, parent: parent, walk: walk)
    }

    /// Imports a page of several batches.
    @discardableResult
    func addBatches(
        _ batches: [[RemoteValue]], of entity: String, page: Int = 1, progress: WalkProgress? = nil,
        plan: Int? = nil, parent: [StoredValue]? = nil, walk: WalkTarget? = nil, extent: RecordExtent = .part,
        end: End = .commit
    ) throws -> String {
        let index = try #require(model.index(of: entity))
        let page = try PageImport(
            index, of: model,
            from: PageImport.Origin(bridge: walk == nil ? "remote" : "further", page: page, walk: walk),
            into: store)
        let mapper = extent == .part ? nil : Mapper(model)
        do {
            for batch in batches {
                try page.add(
                    try RemoteValue.batch(batch), location: "https://example.org", plan: plan, parent: parent,
                    by: mapper, extent: extent)
            }
            guard end == .commit else {
                page.rollback()
                return ""
            }
            try page.commit(progress: progress)
        } catch {
            page.rollback()
            throw error
        }
        return page.counts.text(model)
    }

    /// Everything in the store: what is empty is left out.
    func text() throws -> String { try contents().text }

    /// The rows of one entity, a line each.
    func rows(_ entity: String) throws -> String {
        try contents().sections.first { $0.name == entity }?.lines.joined(separator: "\n") ?? ""
    }

    /// What SQLite finds wrong with the file; nothing without one.
    func faults() throws -> [String] { try file?.faults() ?? [] }

    /// Everything but the progress of walks, which a store need not keep for a page that changed nothing.
    func textWithoutProgress() throws -> String {
        var contents = try contents()
        contents.sections.removeAll { $0.name == "progress" }
        return contents.text
    }
}

extension ImportCounts {
    /// `Country +2 ~1 =3`: inserted, updated, unchanged; `!` quarantined, `?` stubs, `@` relinked; zeros are left out.
    func text(_ model: CompiledModel) -> String {
        model.entities.compactMap { layout in
            let counts = self[layout.index]
            let parts = [
                ("+", counts.inserted), ("~", counts.updated), ("=", counts.unchanged), ("!", counts.quarantined),
                ("?", counts.stubs), ("@", counts.relinked), ("-", counts.deleted),
            ].filter { $0.1 != 0 }.map { "\($0.0)\($0.1)" }
            return parts.isEmpty ? nil : ([layout.name] + parts).joined(separator: " ")
        }.joined(separator: ", ")
    }
}

/// What is in a store: tables and bookkeeping as lines.
private struct Contents {
    var sections: [(name: String, lines: [String])] = []

    var text: String {
        sections.filter { !$0.lines.isEmpty }
            .map { ([$0.name] + $0.lines.map { "  " + $0 }).joined(separator: "\n") }.joined(separator: "\n").escaped
    }

    init(_ contents: MemoryStore.Contents, _ model: CompiledModel) {
        for layout in model.entities where layout.root == layout.index {
            // SQLite keeps no negative zero.
            let rows = contents.rows[layout.index].values.map { row in
                Self.line(row.map { $0 == .real(0) ? "0.0" : $0.literal })
            }
            sections.append((layout.name, rows.map(\.escaped).sorted()))
        }
        for table in Self.linkTables(model) {
            let lines = (contents.links[table.name] ?? [:]).filter { !$0.value.isEmpty }.map { source, targets in
                Self.line([source.map(\.literal).joined(separator: "/") + ":"] + targets.map(Self.key))
            }
            sections.append((table.name, lines.map(\.escaped).sorted()))
        }
        let stubs = model.entities.filter { $0.root == $0.index }.flatMap { layout in
            contents.stubs[layout.index].map { key in "\(layout.name) \(Self.json(key))" }
        }
        sections.append(("stubs", stubs.map(\.escaped).sorted()))
        sections.append(
            (
                "quarantine",
                contents.quarantine.map {
                    "\($0.entity) \($0.bridge) \($0.page) \($0.record ?? 0) \($0.reason) \($0.representation) "
                        + ($0.location ?? "-")
                }
            ))
        sections.append(
            (
                "progress",
                contents.progress.map { scope, progress in
                    "\(scope.entity) \(progress.cursor) \(progress.page) \(progress.request)"
                }.map(\.escaped).sorted()
            ))
    }

    init(_ file: SQLiteFile, _ model: CompiledModel) throws {
        for layout in model.entities where layout.root == layout.index {
            sections.append(
                (layout.name, try file.rows("SELECT * FROM \"\(layout.name)\"").map(Self.line).map(\.escaped).sorted()))
        }
        for table in Self.linkTables(model) {
            let rows = try file.rows("SELECT * FROM \"\(table.name)\" ORDER BY position")
            var lists: [String: [String]] = [:]
            for row in rows {
                let source = row[..<table.sourceWidth].joined(separator: "/") + ":"
                lists[source, default: []].append(row[(table.sourceWidth + 1)...].joined(separator: "/"))
            }
            sections.append((table.name, lists.map { Self.line([$0.key] + $0.value) }.map(\.escaped).sorted()))
        }
        func lines(_ sql: String) throws -> [String] {
            try file.rows(sql).map { row in
                Self.line(row.map { $0.hasPrefix("'") ? String($0.dropFirst().dropLast()) : $0 })
            }
        }
        sections.append(("stubs", try lines("SELECT entity, key FROM bmo_stubs").map(\.escaped).sorted()))
        sections.append(
            (
                "quarantine",
                try lines(
                    "SELECT entity, bridge, page, ifnull(record, 0), reason, representation, ifnull(location, '-') "
                        + "FROM bmo_quarantine ORDER BY id")
            ))
        sections.append(
            ("progress", try lines("SELECT entity, cursor, page, request FROM bmo_progress").map(\.escaped).sorted()))
    }

    private static func line(_ values: [String]) -> String { values.joined(separator: " ") }

    private static func key(_ key: MemoryStore.Key) -> String { key.map(\.literal).joined(separator: "/") }

    private static func json(_ key: MemoryStore.Key) -> String {
        let parts = key.map { value in
            guard case .text(let text) = value else { return value.literal }
            var out = ""
            out.appendJSONString(text)
            return out
        }
        return "[" + parts.joined(separator: ",") + "]"
    }

    private static func linkTables(_ model: CompiledModel) -> [(name: String, sourceWidth: Int)] {
        model.entities.filter { $0.root == $0.index }.flatMap { layout in
            layout.toMany.compactMap { relationship in
                if case .links(let table) = relationship.storage { (table, layout.key.count) } else { nil }
            }
        }
    }
}
