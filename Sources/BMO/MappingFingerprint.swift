internal import Model
internal import RecordBatch

/// A short text that changes when a model would map records in another way; where things stand in the file has no part.
enum MappingFingerprint {
    static func text(of model: Model) -> String {
        var fingerprint = Fingerprint()
        for entity in model.entities {
            add("entity \(entity.name) \(entity.uniquing.rawValue) \(entity.keepsExtra)", to: &fingerprint)
            for name in entity.key { add(name, to: &fingerprint) }
            if let superentity = entity.superentity {
                add("extends \(superentity) \(entity.matcher.map { "\($0)" } ?? "")", to: &fingerprint)
            }
            add(entity.attributes, entity.relationships, to: &fingerprint)
            for source in entity.sources {
                add("source \(source.name) \(entity.precedence)", to: &fingerprint)
                add(source.attributes, source.relationships, to: &fingerprint)
            }
        }
        return String(fingerprint.value, radix: 16)
    }

    private static func add(
        _ attributes: [Attribute], _ relationships: [Relationship], to fingerprint: inout Fingerprint
    ) {
        for attribute in attributes {
            add("\(attribute.name) \(attribute.type.rawValue)", to: &fingerprint)
            // To print a type by reflection costs a process milliseconds when it does it first: only where there is a need.
            switch attribute.source {
            case .path(let path): add(path.description, to: &fingerprint)
            case .constant(let value): add("constant \(value)", to: &fingerprint)
            }
            if !attribute.transformers.isEmpty { add("\(attribute.transformers)", to: &fingerprint) }
        }
        for relationship in relationships {
            add("\(relationship.name) \(relationship.kind) \(relationship.target)", to: &fingerprint)
            if !relationship.nullValues.isEmpty { add("\(relationship.nullValues)", to: &fingerprint) }
            add(
                "\(relationship.source) \(relationship.inverse ?? "") \(relationship.merge) \(relationship.isOrdered)"
                    + (relationship.window ?? ""),
                to: &fingerprint)
        }
    }

    private static func add(_ text: String, to fingerprint: inout Fingerprint) {
        fingerprint.add(text)
        fingerprint.separate()
    }
}
