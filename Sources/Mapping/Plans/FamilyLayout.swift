internal import Model

/// What the entities of a family, a root and its sub-entities, have of their common table.
///
/// It is derived once for the family, and all its ``EntityLayout``s share it.
struct FamilyLayout: Sendable {
    /// Per entity: its super-entities, without itself.
    private(set) var ancestors: [String: [String]] = [:]
    /// Per entity: the columns and lists that its objects do not have.
    private(set) var lacking: [String: (fields: [Int], lists: [Int])] = [:]
    /// Per entity: the names of itself and of all entities below it, in the order of the family.
    private(set) var kinds: [String: [String]] = [:]
    /// Per entity: the columns that can have a value in its objects and in those of the entities below it.
    private(set) var columns: [String: [EntityLayout.Field]] = [:]
    /// The relationships that lead to the parents of a listing by parent.
    private(set) var parents: Set<String> = []

    init(of root: Entity, _ table: TableLayout, in model: Model) {
        // The columns by the name of the attribute or relationship that they belong to, and those of all objects.
        let places = Dictionary(grouping: table.fields.indices) { index in
            table.fields[index].relationship.map { table.toOne[$0].name } ?? table.fields[index].name
        }
        let special = [table.discriminator, table.extra, table.deletion].compactMap { $0 } + table.key
        func indexes(of names: Set<String>) -> Set<Int> {
            names.reduce(into: Set(special)) { $0.formUnion(places[$1] ?? []) }
        }
        // Per entity: the names that it and its super-entities declare, and those that the entities below it add.
        var own: [String: Set<String>] = [:]
        var below: [String: Set<String>] = [:]
        for member in model.family(of: root) {
            if let parent = member.parent?.relationship { parents.insert(parent) }
            let lineage = model.lineage(of: member)
            let names = Set(lineage.flatMap(\.declaredNames))
            own[member.name] = names
            ancestors[member.name] = lineage.dropLast().map(\.name)
            let known = indexes(of: names)
            lacking[member.name] = (
                fields: table.fields.indices.filter { !known.contains($0) },
                lists: table.toMany.indices.filter { !names.contains(table.toMany[$0].name) }
            )
            for entity in lineage {
                kinds[entity.name, default: []].append(member.name)
                below[entity.name, default: []].formUnion(member.declaredNames)
            }
        }
        for (name, own) in own {
            columns[name] = indexes(of: own.union(below[name] ?? [])).sorted().map { table.fields[$0] }
        }
    }
}

extension Entity {
    /// The names of the attributes and relationships that the entity itself declares.
    fileprivate var declaredNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}
