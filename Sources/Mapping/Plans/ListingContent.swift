internal import Model

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

extension CompiledModel {
    /// Returns the relationships to many whose links a deleted object takes with it, by their index in
    /// ``EntityLayout/toMany``.
    ///
    /// These are the lists in its own link tables, and those in the link table of the other side that only the listings
    /// of the object's own entities bring: without the object, no record mentions these links any more. Where the other
    /// side's records have the list too, they decide.
    ///
    /// - Parameters:
    ///   - root: The entity that has the object's table.
    ///   - members: Returns the members that the records of an entity's listing have had; the source is empty for the
    ///     entity's own bridge.
    public func linksOfDeletedObjects(
        of root: Int, members: (_ entity: Int, _ source: String) throws -> Set<ListedMember>
    ) rethrows -> [Int] {
        let toMany = entities[root].toMany
        var own: Set<Int>?
        return try toMany.indices.filter { index in
            switch toMany[index].storage {
            case .links: return true
            case .inverse: return false
            case .reversedLinks(let table):
                let brought = try own ?? listedLists(of: root, members)
                own = brought
                guard brought.contains(index) else { return false }
                let target = entities[toMany[index].target].root
                let other = entities[target].toMany.firstIndex { $0.storage == .links(table: table) }
                return try other.map { try !listedLists(of: target, members).contains($0) } ?? true
            }
        }
    }

    /// Returns the entities whose listings bring objects of an entity: those of its super-entities and itself that have a
    /// listing, from the root down.
    ///
    /// The last one's listing says which of the objects are gone.
    public func listings(of entity: Int) -> [Int] {
        model.lineage(of: model.entities[entity]).filter(\.isScanned).compactMap { index(of: $0.name) }
    }

    /// Returns the lists that the listings and sources of a root's entities bring.
    private func listedLists(
        of root: Int, _ members: (_ entity: Int, _ source: String) throws -> Set<ListedMember>
    ) rethrows -> Set<Int> {
        var lists: Set<Int> = []
        for plan in plans where entities[plan.entity].root == root {
            var known: Set<ListedMember> = []
            for listing in listings(of: plan.entity) { known.formUnion(try members(listing, plan.source ?? "")) }
            for member in plan.members where known.contains(ListedMember(entity: plan.entity, path: member.path)) {
                if case .toMany(let index) = member.destination { lists.insert(index) }
            }
        }
        return lists
    }
}
