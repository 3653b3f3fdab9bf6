import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import StoreTestSupport
import TestSupport
import Testing
import TextFormats

/// How a page ends.
enum PageEnd { case commit, rollback }

/// What imports did and what the store has then, as text.
extension StoreFixture {
    /// Imports a page of one batch and says what that did, as ``ImportCounts/text(_:)`` has it.
    @discardableResult
    func load(
        _ entity: String, _ records: Literal..., page: Int = 1, progress: ScanProgress? = nil,
        end: PageEnd = .commit
    ) throws -> String {
        try addBatches([records], of: entity, page: page, progress: progress, end: end)
    }

    /// Imports a page that a scan per parent brought.
    @discardableResult
    func addChildren(of parent: [StoredValue], _ entity: String, _ records: Literal...) throws -> String {
        try addBatches([records], of: entity, parent: parent)
    }

    /// Imports a page of a further source.
    @discardableResult
    func load(
        source: String, of entity: String, _ records: Literal..., parent: [StoredValue]? = nil
    ) throws -> String {
        let index = try #require(model.index(of: entity))
        let plan = try #require(model.plan(of: index, source: source))
        let scan = ScanTarget(scope: ScanScope(entity: entity, source: source), entity: index, isListing: false)
        return try addBatches([records], of: entity, plan: plan, parent: parent, scan: scan)
    }

    /// Imports a page of several batches.
    @discardableResult
    func addBatches(
        _ batches: [[Literal]], of entity: String, page: Int = 1, progress: ScanProgress? = nil,
        plan: Int? = nil, parent: [StoredValue]? = nil, scan: ScanTarget? = nil, extent: RecordExtent = .part,
        notesMembers: Bool = false, end: PageEnd = .commit
    ) throws -> String {
        let index = try #require(model.index(of: entity))
        var origin = PageImport.Origin(bridge: scan == nil ? "remote" : "further", page: page, scan: scan)
        if notesMembers { origin.listing = MemberListing(entity: entity, source: "", request: "") }
        let page = try PageImport(index, of: model, from: origin, into: store)
        let mapper = extent == .part ? nil : Mapper(model)
        do {
            for batch in batches {
                try page.add(
                    try Literal.batch(batch), location: "https://example.org", plan: plan, parent: parent,
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
    func text(of entity: String) throws -> String {
        try contents().sections.first { $0.name == entity }?.lines.joined(separator: "\n") ?? ""
    }

    private func contents() throws -> Contents {
        try Contents(place.stores.contents(of: place.location), store, model)
    }

    /// Everything but the progress of scans, which a store need not keep for a page that changed nothing.
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

    init(_ tables: [TableContents], _ store: any Store, _ model: CompiledModel) throws {
        let tables = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for layout in model.entities where layout.root == layout.index {
            let rows = tables[layout.name]?.rows ?? []
            sections.append((layout.name, rows.map { Self.line($0.map(\.literal)).escaped }.sorted()))
        }
        for table in Self.linkTables(model) {
            var lists: [String: [String]] = [:]
            for row in tables[table.name]?.rows ?? [] {
                let source = row[..<table.sourceWidth].map(\.literal).joined(separator: "/") + ":"
                lists[source, default: []].append(
                    row[(table.sourceWidth + 1)...].map(\.literal).joined(separator: "/"))
            }
            sections.append((table.name, lists.map { Self.line([$0.key] + $0.value) }.map(\.escaped).sorted()))
        }
        let stubs = try model.entities.filter { $0.root == $0.index }.flatMap { layout in
            try store.stubs(of: layout.name).map { "\(layout.name) \($0)" }
        }
        sections.append(("stubs", stubs.map(\.escaped).sorted()))
        let quarantined = try store.quarantined().map(\.record).map {
            "\($0.entity) \($0.bridge) \($0.page) \($0.record ?? 0) \($0.reason) \($0.representation) "
                + ($0.location ?? "-")
        }
        // A record that leaves the quarantine and comes again is the last one then.
        sections.append(("quarantine", quarantined.sorted()))
        let progress = try model.entities.compactMap { layout in
            try store.progress(of: ScanScope(entity: layout.name)).map {
                "\(layout.name) \($0.cursor) \($0.page) \($0.request)"
            }
        }
        sections.append(("progress", progress.map(\.escaped).sorted()))
    }

    private static func line(_ values: [String]) -> String { values.joined(separator: " ") }

    private static func linkTables(_ model: CompiledModel) -> [(name: String, sourceWidth: Int)] {
        model.entities.filter { $0.root == $0.index }.flatMap { layout in
            layout.toMany.compactMap { relationship in
                if case .links(let table) = relationship.storage { (table, layout.key.count) } else { nil }
            }
        }
    }
}
