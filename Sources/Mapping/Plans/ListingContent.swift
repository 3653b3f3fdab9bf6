/// The fields and lists of an entity's objects that the records of its own listing bring.
///
/// In an object that the listing has included, a copy nested in another record does not change them: the copy may be
/// older, and the two would overwrite each other with every sync.
public struct ListingContent: Sendable, Equatable {
    /// Whether the listing brings a field, by the field's index in the entity's layout.
    public let fields: [Bool]
    /// The relationships whose lists it brings, by their index in ``EntityLayout/toMany``.
    public let lists: Set<Int>

    /// Creates the content of a listing.
    public init(fields: [Bool], lists: Set<Int>) {
        self.fields = fields
        self.lists = lists
    }
}

extension CompiledModel {
    /// Returns what an entity's own listing brings; nil if it has not brought any object of the entity.
    ///
    /// - Parameters:
    ///   - entity: The entity's index.
    ///   - members: The members that the listing's records have had.
    public func content(of entity: Int, listed members: Set<ListedMember>) -> ListingContent? {
        guard members.contains(where: { $0.entity == entity }) else { return nil }
        let (plan, layout) = (plans[entity], entities[entity])
        var fields = Array(repeating: false, count: layout.fields.count)
        var lists: Set<Int> = []
        for member in plan.members where members.contains(ListedMember(entity: entity, path: member.path)) {
            switch member.destination {
            case .fields(let first, let count): for field in first..<first + count { fields[field] = true }
            case .toMany(let index): lists.insert(index)
            }
        }
        for constant in plan.constants { fields[constant.field] = true }
        if let extra = layout.extra { fields[extra] = true }
        for field in layout.key { fields[field] = false }
        return ListingContent(fields: fields, lists: lists)
    }
}
