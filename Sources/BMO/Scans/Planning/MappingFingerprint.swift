internal import Model
internal import RecordBatch
internal import TextFormats

/// A short text that changes when a model would map an entity's records differently.
///
/// It ignores the layout of the file, and entities that the records cannot contain.
enum MappingFingerprint {
    static func text(of model: Model, for scanned: Entity) -> String {
        var fingerprint = Fingerprint()
        let reached = reached(from: scanned, in: model)
        for entity in reached.compactMap(model.position).sorted().map({ model.entities[$0] }) {
            add("entity \(entity.name) \(entity.uniquing.rawValue) \(entity.keepsExtra)", to: &fingerprint)
            for name in entity.key { add(name, to: &fingerprint) }
            if let superentity = entity.superentity {
                add("extends \(superentity) \(entity.matcher.map { "\($0)" } ?? "")", to: &fingerprint)
            }
            add(entity.attributes, entity.relationships, of: entity, in: model, to: &fingerprint)
            // In another mode, the rows of all objects that are gone are others, and earlier marks may be out of date.
            if entity.deletes.mode != .hard { add("deletes \(entity.deletes.mode.rawValue)", to: &fingerprint) }
            // Objects that are marked as deleted already must come again to be deleted here.
            if let tombstone = entity.deletes.tombstone { add("deleted \(tombstone)", to: &fingerprint) }
            if let absent = entity.absent { add("absent \(absent.rawValue)", to: &fingerprint) }
            for source in entity.sources {
                if let absent = source.absent { add("absent \(absent.rawValue)", to: &fingerprint) }
                add("source \(source.name) \(entity.precedence)", to: &fingerprint)
                add(source.attributes, source.relationships, of: entity, in: model, to: &fingerprint)
            }
        }
        return String(fingerprint.value, radix: 16)
    }

    /// Returns the entities whose objects a record may contain: the targets of relationships, with their families.
    private static func reached(from entity: Entity, in model: Model) -> Set<String> {
        var reached: Set<String> = []
        var open = [entity.name]
        while let name = open.popLast() {
            guard reached.insert(name).inserted, let next = model.entity(named: name) else { continue }
            open += model.family(of: model.root(of: next)).map(\.name)
            open += (next.relationships + next.sources.flatMap(\.relationships)).map(\.target)
        }
        return reached
    }

    private static func add(
        _ attributes: [Attribute], _ relationships: [Relationship], of entity: Entity, in model: Model,
        to fingerprint: inout Fingerprint
    ) {
        for attribute in attributes {
            add("\(attribute.name) \(attribute.type.rawValue)", to: &fingerprint)
            // A process's first use of reflection to print a type costs milliseconds, so it is the last resort.
            switch attribute.source {
            case .path(let path): add(path.description, to: &fingerprint)
            case .paths(let paths): add("\(paths.map(\.description))", to: &fingerprint)
            case .constant(let value): add("constant \(value)", to: &fingerprint)
            }
            if let absent = attribute.absent { add("absent \(absent.rawValue)", to: &fingerprint) }
            if !attribute.transformers.isEmpty { add("\(attribute.transformers)", to: &fingerprint) }
        }
        for relationship in relationships {
            add("\(relationship.name) \(relationship.kind) \(relationship.target)", to: &fingerprint)
            if let absent = relationship.absent { add("absent \(absent.rawValue)", to: &fingerprint) }
            if !relationship.nullValues.isEmpty { add("\(relationship.nullValues)", to: &fingerprint) }
            add(
                "\(relationship.source) \(relationship.inverse ?? "") \(relationship.merge) \(relationship.isOrdered)"
                    + (relationship.window ?? ""),
                to: &fingerprint)
            let names = givenNames(of: relationship, of: entity, in: model)
            if !names.isEmpty { add(names.joined(separator: " "), to: &fingerprint) }
        }
    }

    /// Returns the names of a relationship's columns and table that are not the default ones.
    ///
    /// Columns and tables that get other names may be new and empty. The default names are left out, so that the
    /// fingerprints of earlier versions are still those of most configurations.
    private static func givenNames(of relationship: Relationship, of entity: Entity, in model: Model) -> [String] {
        var names: [String] = []
        if let table = relationship.table, table != "\(entity.name)_\(relationship.name)" { names.append(table) }
        if relationship.linkColumns != ["source", "target"] { names += relationship.linkColumns }
        guard !relationship.columns.isEmpty, let target = model.entity(named: relationship.target) else { return names }
        var usual = relationship
        usual.columns = []
        let key = model.key(of: target).map(\.name)
        let columns = relationship.columnNames(targetKey: key)
        return columns == usual.columnNames(targetKey: key) ? names : names + columns
    }

    private static func add(_ text: String, to fingerprint: inout Fingerprint) {
        fingerprint.add(text)
        fingerprint.separate()
    }
}
