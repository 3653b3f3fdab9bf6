internal import Model

/// A short text that changes when a model would map records in another way; where things stand in the file has no part.
enum MappingFingerprint {
    static func text(of model: Model) -> String {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for entity in model.entities {
            add("entity \(entity.name) \(entity.key)", to: &hash)
            for attribute in entity.attributes {
                add("\(attribute.name) \(attribute.type) \(attribute.source) \(attribute.transformers)", to: &hash)
            }
            for relationship in entity.relationships {
                add("\(relationship.name) \(relationship.kind) \(relationship.target)", to: &hash)
                add("\(relationship.source) \(relationship.inverse ?? "") \(relationship.merge)", to: &hash)
            }
        }
        return String(hash, radix: 16)
    }

    /// FNV-1a of 64 bits.
    private static func add(_ text: String, to hash: inout UInt64) {
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        hash = (hash ^ 0xFF) &* 1_099_511_628_211
    }
}
