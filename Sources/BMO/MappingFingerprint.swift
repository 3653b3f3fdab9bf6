internal import Model
internal import RecordBatch

/// A short text that changes when a model would map records in another way; where things stand in the file has no part.
enum MappingFingerprint {
    static func text(of model: Model) -> String {
        var fingerprint = Fingerprint()
        for entity in model.entities {
            add("entity \(entity.name) \(entity.key)", to: &fingerprint)
            for attribute in entity.attributes {
                add(
                    "\(attribute.name) \(attribute.type) \(attribute.source) \(attribute.transformers)",
                    to: &fingerprint)
            }
            for relationship in entity.relationships {
                add("\(relationship.name) \(relationship.kind) \(relationship.target)", to: &fingerprint)
                add("\(relationship.source) \(relationship.inverse ?? "") \(relationship.merge)", to: &fingerprint)
            }
        }
        return String(fingerprint.value, radix: 16)
    }

    private static func add(_ text: String, to fingerprint: inout Fingerprint) {
        fingerprint.add(text)
        fingerprint.separate()
    }
}
