internal import BridgeJSON
package import BridgeContract

package typealias Confidence = EntityDescription.Confidence

/// An entity that an API offers, while the introspection gathers what it knows of it.
package struct EntityOffer: Sendable {
    struct Field: Sendable {
        /// The dot path in the record, with dots inside names escaped as `\.`.
        var path: [String]
        /// The attribute's type, as named in the config.
        var type: String
        /// The local name, if it does not follow from the path.
        var localName: String?
        /// The transformers, in the config's form.
        var transform: JSONTree?
        var confidence: Confidence
        /// Whether the remote sets the value, and takes none.
        var isReadOnly = false
    }

    struct Relationship: Sendable {
        var name: String
        var target: String
        var isToMany: Bool
        var path: [String]
        var confidence: Confidence
    }

    /// A guessed member of the section or the entity that a person must enable.
    struct Proposal: Sendable {
        var name: String
        var value: JSONTree
        var isOfSection: Bool
        var confidence: Confidence
    }

    var name: String
    var fields: [Field] = []
    /// The paths of the fields that identify a record.
    var key: [[String]] = []
    var keyConfidence = Confidence.low("")
    var relationships: [Relationship] = []
    /// The relationship to the parent entity, if each parent object has its own listing.
    var parent: String?
    var section: JSONTree = .object([])
    var confidence = Confidence.low("")
    /// The reason for each guessed part of the section, by the part's name.
    var reasons: [(name: String, confidence: Confidence)] = []
    var proposals: [Proposal] = []
    var notes: [String] = []
    /// The reason why a person has to complete the entity before use.
    var obstacle: String?
    /// The part of the API with an authentication of its own.
    var part: String?

    /// The offer as `discover` writes it.
    package var description: EntityDescription {
        var description = EntityDescription(
            name, fields: fields.map(describe), section: BridgeOptions { writer in section.writeMembers(to: writer) })
        description.key = keyConfidence
        description.relationships = relationships.map { relationship in
            EntityDescription.Relationship(
                relationship.name, to: relationship.target, isToMany: relationship.isToMany,
                path: EntityDescription.path(relationship.path), confidence: relationship.confidence)
        }
        description.parent = parent
        description.reasons = reasons
        description.confidence = confidence
        description.proposals = proposals.map { proposal in
            EntityDescription.Proposal(
                proposal.name, proposal.value.described, isOfSection: proposal.isOfSection,
                confidence: proposal.confidence)
        }
        description.notes = notes
        description.obstacle = obstacle
        description.part = part
        return description
    }

    private func describe(_ field: Field) -> EntityDescription.Field {
        EntityDescription.Field(
            EntityDescription.path(field.path), field.type, isKey: key.contains(field.path),
            localName: field.localName.map { LocalName.make([$0]) } ?? LocalName.make(field.path),
            transform: field.transform?.described, confidence: field.confidence, isReadOnly: field.isReadOnly)
    }
}

extension JSONTree {
    /// The value in a description.
    fileprivate var described: EntityDescription.Value { EntityDescription.Value { write(to: $0) } }
}
