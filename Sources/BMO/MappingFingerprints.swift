internal import Model
internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// The fingerprints of the mappings of a model's entities.
///
/// Each is a short text that changes when the model would map an entity's records differently. It ignores the layout of
/// the file, and entities that the records cannot contain. What an entity adds is written once, at the first
/// fingerprint: where many entities lead to each other, it is a part of the fingerprints of all of them.
final class MappingFingerprints: Sendable {
    private let model: Model
    private let parts = Mutex<[MappingPart]?>(nil)

    init(of model: Model) { self.model = model }

    /// Returns the fingerprint of an entity's mapping.
    func text(for scanned: Entity) -> String {
        guard let first = model.position(of: scanned.name) else { return String(Fingerprint().value, radix: 16) }
        let parts = self.parts.withLock { known in
            let all = known ?? model.entities.map { MappingPart(of: $0, in: model) }
            known = all
            return all
        }
        var fingerprint = Fingerprint()
        // A value of 64 bits for all bytes in order: it cannot be composed of those of the parts.
        for (part, isReached) in zip(parts, MappingPart.reached(from: first, in: parts)) where isReached {
            fingerprint.add(part.content[...])
        }
        return String(fingerprint.value, radix: 16)
    }
}

/// What an entity adds to the fingerprints of the mappings whose records may contain its objects.
struct MappingPart: Sendable {
    /// The texts, in UTF-8, each with a separator behind it.
    private(set) var content: [UInt8] = []
    /// The positions of the entities whose objects a record may contain as well.
    ///
    /// They are the targets of its relationships, and its root, which leads to the rest of the family.
    private let next: [Int]

    /// Returns which entities' objects a record may contain: the targets of relationships, with their families.
    static func reached(from first: Int, in parts: [MappingPart]) -> [Bool] {
        var reached = [Bool](repeating: false, count: parts.count)
        var open = [first]
        while let part = open.popLast() {
            guard !reached[part] else { continue }
            reached[part] = true
            open += parts[part].next
        }
        return reached
    }

    init(of entity: Entity, in model: Model) {
        let root = model.root(of: entity)
        let family = root.name == entity.name ? model.family(of: root).map(\.name) : [root.name]
        let targets = (entity.relationships + entity.sources.flatMap(\.relationships)).map(\.target)
        next = (family + targets).compactMap(model.position)
        add("entity \(entity.name) \(entity.uniquing.rawValue) \(entity.keepsExtra)")
        for name in entity.key { add(name) }
        if let superentity = entity.superentity {
            add("extends \(superentity) \(entity.matcher.map { "\($0)" } ?? "")")
        }
        add(entity.attributes, entity.relationships, of: entity, in: model)
        // In another mode, the rows of all objects that are gone are others, and earlier marks may be out of date.
        if entity.deletes.mode != .hard { add("deletes \(entity.deletes.mode.rawValue)") }
        // Objects that are marked as deleted already must come again to be deleted here.
        if let tombstone = entity.deletes.tombstone { add("deleted \(tombstone)") }
        if let absent = entity.absent { add("absent \(absent.rawValue)") }
        for source in entity.sources {
            if let absent = source.absent { add("absent \(absent.rawValue)") }
            add("source \(source.name) \(entity.precedence)")
            add(source.attributes, source.relationships, of: entity, in: model)
        }
    }

    private mutating func add(
        _ attributes: [Attribute], _ relationships: [Relationship], of entity: Entity, in model: Model
    ) {
        for attribute in attributes {
            add("\(attribute.name) \(attribute.type.rawValue)")
            // A process's first use of reflection to print a type costs milliseconds, so it is the last resort.
            switch attribute.source {
            case .path(let path): add(path.description)
            case .paths(let paths): add("\(paths.map(\.description))")
            case .constant(let value): add("constant \(value)")
            }
            if let absent = attribute.absent { add("absent \(absent.rawValue)") }
            if !attribute.transformers.isEmpty { add("\(attribute.transformers)") }
        }
        for relationship in relationships {
            add("\(relationship.name) \(relationship.kind) \(relationship.target)")
            if let absent = relationship.absent { add("absent \(absent.rawValue)") }
            if !relationship.nullValues.isEmpty { add("\(relationship.nullValues)") }
            add(
                "\(relationship.source) \(relationship.inverse ?? "") \(relationship.merge) \(relationship.isOrdered)"
                    + (relationship.window ?? ""))
            let names = Self.givenNames(of: relationship, of: entity, in: model)
            if !names.isEmpty { add(names.joined(separator: " ")) }
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

    private mutating func add(_ text: String) {
        content += text.utf8
        content.append(Fingerprint.separator)
    }
}
