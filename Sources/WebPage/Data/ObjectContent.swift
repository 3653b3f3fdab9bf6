internal import BMO
internal import Mapping
internal import Model
internal import StoreContract

/// An object with its history and its related objects.
struct ObjectContent: Sendable {
    /// The objects that a relationship refers to, or that refer to this object.
    struct Related: Sendable {
        /// The relationship's name, after the name of its entity if that is another one.
        var name: String
        var entity: String
        var objects: [(key: [StoredValue], label: String?)]
        /// Whether there are more objects.
        var hasMore: Bool
        /// The conditions that list all of these objects; empty if conditions cannot express it.
        var conditions: [String]
    }

    private static let maxRelated = 20
    /// The maximum number of quarantined records to search for those of the object; more would slow the page down.
    private static let maxSearched = 200

    let layout: EntityLayout
    let key: [StoredValue]
    var history: RowHistory
    var labels: RowLabels
    var related: [Related] = []
    var entries: [OutboxEntry] = []
    var conflicts: [EditConflict] = []
    var pendingFields: [String] = []

    /// Reads an object.
    ///
    /// - Parameter quarantined: The number of the entity's quarantined records.
    /// - Throws: ``PageFailure`` if neither the object nor anything about it is known; `StoreError`.
    init(
        _ layout: EntityLayout, parts: [String], quarantined: Int, _ workspace: Workspace, in store: any Store
    ) throws {
        self.layout = layout
        let model = workspace.model
        key = try Self.key(layout, parts, in: store)
        if layout.key.isEmpty {
            // Such an object has no history, because nothing identifies it across syncs.
            guard let row = try store.rows(of: layout.index, keys: [key]).first else {
                throw PageFailure.missing("There is no \(layout.name) in row \(parts.joined()).")
            }
            history = RowHistory(
                entity: layout.name, key: key, values: row.values, isStub: false, isListed: true, groups: [],
                events: [],
                quarantined: [])
        } else {
            history =
                quarantined <= Self.maxSearched
                ? try workspace.history(of: layout.index, key: key, in: store)
                : try store.history(of: layout.index, key: key)
            entries = try store.outbox(entity: layout.name, key: key)
            conflicts = try store.conflicts(entity: layout.name, key: key)
            pendingFields = try store.pendingFields(entity: layout.name, key: key)
        }
        guard history.values != nil || !history.events.isEmpty || !history.quarantined.isEmpty || !entries.isEmpty
        else {
            throw PageFailure.missing(
                "There is no \(layout.name) \(parts.joined(separator: " ")), and nothing is recorded about it.")
        }
        let row = EntityRow(key: key, values: history.values ?? [])
        labels = try RowLabels(of: [row], layout, model, in: store)
        if history.values != nil, !layout.key.isEmpty { related = try Self.related(layout, key, model, in: store) }
    }

    /// Parses the parts of a key in an address.
    ///
    /// - Throws: ``PageFailure``; `StoreError` for parts that do not fit the key's types.
    static func key(_ layout: EntityLayout, _ parts: [String], in store: any Store) throws -> [StoredValue] {
        guard layout.key.isEmpty else {
            guard parts.count == layout.key.count else {
                let names = layout.keyFields.map(\.name).joined(separator: ", ")
                throw PageFailure.missing(
                    "The key of \(layout.name) is \(names): \(layout.key.count) values, not \(parts.count).")
            }
            return try store.key(of: layout.index, from: parts)
        }
        guard parts.count == 1, let number = Int64(parts[0]) else {
            throw PageFailure.missing("\(layout.name) has no key; its objects are found by the number of their row.")
        }
        return [.integer(number)]
    }

    /// Reads both directions of all relationships: the objects that it refers to, and those that refer to it.
    private static func related(
        _ layout: EntityLayout, _ key: [StoredValue], _ model: CompiledModel, in store: any Store
    ) throws -> [Related] {
        var related: [Related] = []
        var inverses: Set<String> = []
        for (index, many) in layout.toMany.enumerated() {
            let target = model.entities[many.target]
            if case .inverse(let toOne) = many.storage {
                let one = model.entities[target.root].toOne[toOne]
                inverses.insert("\(target.root) \(one.name)")
                related.append(try referring(to: key, from: target, one, name: many.name, in: store))
            } else {
                let keys = try store.links(of: layout.index, index, owners: [key])[key] ?? []
                let shown = Array(keys.prefix(maxRelated))
                let rows = try store.rows(of: many.target, keys: shown)
                let labels = Dictionary(
                    rows.map { ($0.key, RowLabels.label(of: $0.values, target)) }, uniquingKeysWith: { $1 })
                related.append(
                    Related(
                        name: many.name, entity: target.name, objects: shown.map { ($0, labels[$0] ?? nil) },
                        hasMore: keys.count > maxRelated, conditions: []))
            }
        }
        for other in model.entities where other.root == other.index {
            for one in other.toOne
            where model.entities[one.target].root == layout.root && !inverses.contains("\(other.index) \(one.name)") {
                let found = try referring(to: key, from: other, one, name: "\(other.name).\(one.name)", in: store)
                if !found.objects.isEmpty { related.append(found) }
            }
        }
        return related
    }

    /// Returns the conditions of a list by a key; empty if the grammar of conditions cannot express a value.
    private static func conditions(_ names: [String], _ key: [StoredValue]) -> [String] {
        let texts = zip(names, key).map { LocalCondition.text($0, Comparison.equal.rawValue, $1.description) }
        let areRead = zip(texts, key).allSatisfy { text, value in
            if case .bytes = value.form { false } else { LocalCondition(text)?.value == value.description }
        }
        return areRead ? texts : []
    }

    /// Reads the first objects whose to-one relationship refers to a key, through the relationship's index.
    private static func referring(
        to key: [StoredValue], from other: EntityLayout, _ one: EntityLayout.ToOne, name: String, in store: any Store
    ) throws -> Related {
        let names = other.fields[one.firstField..<one.firstField + one.fieldCount].map(\.name)
        var query = RowQuery(other.name, limit: maxRelated + 1)
        query.predicate = .all(zip(names, key).map { .compare($0, .equal, $1) })
        let rows = try store.rows(of: query)
        return Related(
            name: name, entity: other.name,
            objects: rows.prefix(maxRelated).map { ($0.key, RowLabels.label(of: $0.values, other)) },
            hasMore: rows.count > maxRelated,
            conditions: conditions(names, key))
    }
}
