public import Mapping
public import Model

/// A table of a database's content, in the form that all kinds of database share, so that one can be copied to another.
///
/// A row is a list of values:
/// - ``rows(of:)``: the row's number, then the values of the layout's fields;
/// - ``links(_:)``: the source's key, the position, the target's key;
/// - ``bookkeeping(_:)``: the values of the columns in ``Bookkeeping/columns``.
///
/// The positions of unfinished scans are not part of it: after a copy such a scan begins again.
public enum ContentTable: Hashable, Sendable {
    /// The objects of an entity that has a table, by its index.
    case rows(of: Int)
    /// The links of a relationship, by the name of their table.
    case links(String)
    /// What bmo notes about the rows.
    case bookkeeping(Bookkeeping)

    /// A table of bmo's own.
    public enum Bookkeeping: String, CaseIterable, Sendable {
        /// The rows that only references have made so far.
        case stubs
        /// The sources that wrote the columns of rows.
        case sources
        /// The history: runs, and the values that they changed.
        case runs, changes
        /// Edits that wait, and what keeps them from being sent.
        case outbox, conflicts
        /// The states of scans.
        case cursors
        /// The listings and parents that rows came from.
        case origins
        /// The objects that scans removed from a relationship with `orphans: delete`.
        case orphans
        /// Records that could not be imported.
        case quarantine
        /// The members of records that no attribute takes.
        case unknownFields
        /// The members that the records of a listing had.
        case members
        /// The lists that the database keeps in the remote's order.
        case collections
        /// One row: the numbers of the last run and of the last edit, which are not used again.
        case counters

        /// The columns' names and types, in order.
        ///
        /// Keys, values and lists are JSON.
        public var columns: [(name: String, type: AttributeType)] {
            switch self {
            case .stubs: Self.texts("entity", "key")
            case .sources:
                Self.texts("entity", "key", "bridge", "scan", "columns")
                    + [("first_run", .integer), ("last_run", .integer), ("location", .text), ("is_listed", .boolean)]
            case .runs:
                [("id", .integer)] + Self.texts("kind", "started", "finished", "outcome", "summary")
                    + [("undoes", .integer)]
            case .changes:
                [("id", .integer), ("run", .integer)]
                    + Self.texts("entity", "key", "change", "old", "new", "bridge", "scan", "location")
            case .outbox:
                [("id", .integer)]
                    + Self.texts(
                        "entity", "root", "key", "operation", "changes", "base", "idempotency_key", "state")
                    + [("attempts", .integer)]
                    + Self.texts("not_before", "created", "failure", "depends_on")
                    + [
                        ("has_temporary_key", .boolean), ("may_have_arrived", .boolean), ("runs", .text),
                        ("user_info", .text),
                    ]
            case .conflicts: Self.texts("root", "entity", "key", "attribute", "base", "local", "remote", "seen")
            case .cursors:
                Self.texts(
                    "entity", "source", "parent", "token", "newest", "newest_remote", "request", "full_at", "saved")
            case .origins: Self.texts("entity", "origin")
            case .orphans: Self.texts("scan", "root", "key")
            case .quarantine:
                [("id", .integer)] + Self.texts("entity", "bridge")
                    + [("page", .integer), ("record", .integer)]
                    + Self.texts("reason", "representation", "location")
                    + [("cut_from", .integer)]
                    + Self.texts("first_seen", "last_seen", "source", "parent", "key")
            case .unknownFields: Self.texts("entity", "path", "seen")
            case .members:
                Self.texts("listing", "source", "entity", "path", "request") + [("is_gone", .boolean)]
            case .collections:
                Self.texts("entity", "name") + [("page", .integer)] + Self.texts("request", "cursor", "next")
                    + [("is_last", .boolean)] + Self.texts("keys", "saved")
            case .counters: [("last_run", .integer), ("last_entry", .integer)]
            }
        }

        private static func texts(_ names: String...) -> [(name: String, type: AttributeType)] {
            names.map { ($0, .text) }
        }
    }

    /// Returns the tables of a model in the order in which a copy writes them.
    public static func all(of model: CompiledModel) -> [ContentTable] {
        let roots = model.entities.filter { $0.index == $0.root }
        let links = roots.flatMap { layout in
            layout.toMany.compactMap { relationship -> ContentTable? in
                if case .links(let name) = relationship.storage { .links(name) } else { nil }
            }
        }
        return roots.map { .rows(of: $0.index) } + links + Bookkeeping.allCases.map { .bookkeeping($0) }
    }

    /// Returns the types of the values in a row.
    public func types(in model: CompiledModel) -> [AttributeType] {
        switch self {
        case .rows(let root): return [.integer] + model.entities[root].fields.map(\.type)
        case .bookkeeping(let table): return table.columns.map(\.type)
        case .links(let name):
            guard let (source, target) = Self.ends(of: name, in: model) else { return [] }
            return source.key.map { source.fields[$0].type } + [.integer] + target.key.map { target.fields[$0].type }
        }
    }

    /// Returns the layouts of the entities whose tables a link table connects.
    package static func ends(
        of links: String, in model: CompiledModel
    ) -> (source: EntityLayout, target: EntityLayout)? {
        for layout in model.entities where layout.index == layout.root {
            for relationship in layout.toMany where relationship.storage == .links(table: links) {
                return (layout, model.entities[model.entities[relationship.target].root])
            }
        }
        return nil
    }

    /// Returns the table's name for a person, such as `Country` or `bmo_runs`.
    public func name(in model: CompiledModel) -> String {
        switch self {
        case .rows(let root): model.entities[root].name
        case .links(let name): name
        case .bookkeeping(.unknownFields): "bmo_unknown_fields"
        case .bookkeeping(let table): "bmo_\(table.rawValue)"
        }
    }
}
