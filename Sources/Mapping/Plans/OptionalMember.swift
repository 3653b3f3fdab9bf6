internal import Model

/// A path that a record may omit, the fields that it feeds, and the meaning of its absence.
struct OptionalMember: Sendable {
    /// The destination of the path's value.
    enum Destination: Sendable {
        /// The fields of an attribute or of a to-one relationship.
        case fields(first: Int, count: Int)
        /// The to-many relationship with this index.
        case toMany(Int)
    }

    let destination: Destination
    let path: String
    let rule: AbsentRule

    /// Returns the paths of a plan's attributes and relationships, without those of the key, which is mandatory.
    ///
    /// - Parameters:
    ///   - absent: The default rule.
    ///   - isListed: Returns whether a relationship's target has a listing of its own.
    static func all(
        _ attributes: [Attribute], _ relationships: [Relationship], _ layout: EntityLayout, absent: AbsentRule,
        isListed: (Relationship) -> Bool
    ) -> [OptionalMember] {
        var members: [OptionalMember] = []
        for attribute in attributes {
            let paths = attribute.source.paths
            guard !paths.isEmpty,
                let field = layout.field(ofAttribute: attribute.name),
                !layout.key.contains(field)
            else { continue }
            members.append(
                OptionalMember(
                    destination: .fields(first: field, count: 1),
                    path: paths.map(\.description).joined(separator: ", "),
                    rule: attribute.absent ?? absent))
        }
        for relationship in relationships {
            let destination: Destination
            var rule = relationship.absent ?? absent
            if let toOne = layout.toOne.first(where: { $0.name == relationship.name }) {
                destination = .fields(first: toOne.firstField, count: toOne.fieldCount)
            } else if let index = layout.toMany.firstIndex(where: { $0.name == relationship.name }) {
                destination = .toMany(index)
                // The list is stored in its targets. If these are listed themselves, their own records name their
                // owner.
                if rule == .auto, layout.toMany[index].isStoredAtTarget, isListed(relationship) { rule = .keep }
            } else {
                continue
            }
            members.append(
                OptionalMember(destination: destination, path: relationship.source.description, rule: rule))
        }
        return members
    }
}

/// A member that the records of a listing have.
public struct ListedMember: Hashable, Sendable {
    /// The index of the entity of these records.
    public let entity: Int
    /// The member's dot path; empty for the records themselves.
    public let path: String

    /// Creates a member.
    public init(entity: Int, path: String) {
        self.entity = entity
        self.path = path
    }

    /// Returns whether two members have the same entity and the same path, byte by byte, as records have them.
    public static func == (left: ListedMember, right: ListedMember) -> Bool {
        left.entity == right.entity && ExactText(left.path) == ExactText(right.path)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(ExactText(path))
    }
}

/// How much of its object a record has, which decides what a missing member means.
public enum RecordExtent: Sendable {
    /// Possibly a part: a missing member has no meaning.
    case part
    /// The changes: a missing member is null only where the configuration says so.
    case changes
    /// Everything that the listing returns: a missing member is null if the listing is known to return it.
    case whole
}

/// The members of one plan seen so far in a scan.
///
/// Plain values in memory of their own, because each record is checked against them: an access needs neither reference
/// counting nor an exclusivity check.
final class MemberLedger {
    /// A member of the plan.
    struct Slot {
        /// The index of the first field that the member feeds, or of its to-many relationship.
        let first: Int
        /// The number of fields; 0 for a to-many relationship.
        let count: Int
        let rule: AbsentRule
        /// Whether the listing is known to return the member.
        var isKnown: Bool
        /// Whether a record of this scan has had the member.
        var isSeen = false
    }

    let slots: UnsafeMutableBufferPointer<Slot>
    let hasLists: Bool

    init(_ plan: MappingPlan, known: Set<ListedMember>) {
        let slots = plan.members.map { member in
            let isKnown = known.contains(ListedMember(entity: plan.entity, path: member.path))
            switch member.destination {
            case .fields(let first, let count):
                return Slot(first: first, count: count, rule: member.rule, isKnown: isKnown)
            case .toMany(let index): return Slot(first: index, count: 0, rule: member.rule, isKnown: isKnown)
            }
        }
        hasLists = slots.contains { $0.count == 0 }
        self.slots = .allocate(capacity: slots.count)
        _ = self.slots.initialize(from: slots)
    }

    /// Begins to look at other records, which have not had any member yet.
    func forgetSeen() {
        for index in slots.indices { slots[index].isSeen = false }
    }

    deinit { slots.deallocate() }
}
