public import Model

/// A model compiled for importing: the table layouts of its entities, and the mapping plans that feed them.
public final class CompiledModel: Sendable {
    /// The layout of each entity, in the order of the model.
    public let entities: [EntityLayout]
    /// The mapping plans: one per entity, in the order of the model, then one per further source.
    public let plans: [MappingPlan]
    /// The source model.
    public let model: Model
    /// The code that the model names.
    public let code: CustomCode
    private let indexes: [String: Int]
    private let ends: [String: (source: String, target: String)]
    /// Per entity: the entities that share its table.
    private let families: [[Int]]
    /// Per entity: the plans of its further sources, by their names.
    private let sourcePlans: [[String: Int]]
    /// Per entity: whether its objects come only nested in other records.
    let comeOnlyNested: [Bool]
    /// Whether a plan may read the objects around a record.
    let readsSurroundings: Bool
    /// Whether a plan reads what a record says about its lists.
    let plansReadMetadata: Bool
    /// The number of fields of the widest entity.
    let maxFieldCount: Int

    /// Compiles a validated model.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - code: The code that it names; a value for which code is missing does not fit.
    /// - Throws: ``MappingError`` when a relationship has no target, which validation would have reported.
    public init(_ model: Model, code: CustomCode = CustomCode()) throws {
        self.model = model
        self.code = code
        let indexes = Dictionary(
            model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.indexes = indexes
        let toOneIndexes = TableLayout.toOneIndexes(in: model)
        var tables: [String: Table] = [:]
        for entity in model.entities where entity.superentity == nil {
            let table = try TableLayout(of: entity, in: model, indexes: indexes, toOneIndexes: toOneIndexes, code)
            tables[entity.name] = Table(
                layout: table, family: FamilyLayout(of: entity, table, in: model),
                kinds: Recognition.Kinds(of: entity, in: model, indexes), precedence: MappingPlan.Precedence(of: entity)
            )
        }
        entities = try model.entities.enumerated().map { index, entity in
            let root = model.root(of: entity)
            guard let known = tables[root.name], let rootIndex = indexes[root.name] else {
                throw MappingError(description: "\(entity.name) does not extend an entity")
            }
            return EntityLayout(entity, index: index, root: rootIndex, known.layout, known.family, in: model)
        }
        var plans: [MappingPlan] = []
        for (index, entity) in model.entities.enumerated() {
            guard let known = tables[entities[index].table] else { continue }
            let recognition = Recognition(of: entity, known.kinds, code)
            plans.append(
                MappingPlan(of: entity, index, entities[index], in: model, recognition, known.precedence, code))
        }
        var sourcePlans: [[String: Int]] = []
        for (index, entity) in model.entities.enumerated() {
            sourcePlans.append([:])
            let precedence = MappingPlan.Precedence(of: entity)
            for source in entity.sources {
                if sourcePlans[index][source.name] == nil { sourcePlans[index][source.name] = plans.count }
                plans.append(
                    MappingPlan(of: source, entity, index: plans.count, entities[index], in: model, precedence, code))
            }
        }
        self.plans = plans
        self.sourcePlans = sourcePlans
        readsSurroundings = model.readsSurroundings
        plansReadMetadata = plans.contains { !$0.metadata.isEmpty }
        maxFieldCount = entities.map(\.fields.count).max() ?? 0
        let members = Dictionary(grouping: entities.indices) { [entities] in entities[$0].root }
        families = entities.map { members[$0.root] ?? [] }
        comeOnlyNested = families.map { family in !family.contains { model.entities[$0].isScanned } }
        var ends: [String: (source: String, target: String)] = [:]
        for entity in model.entities {
            for relationship in entity.relationships where !relationship.linkColumns.isEmpty {
                guard case .joinTable(let table)? = model.storage(of: relationship, in: entity) else { continue }
                ends[table] = relationship.linkEnds
            }
        }
        self.ends = ends
    }

    /// What the plans of a family share, whose entities have one table.
    private struct Table {
        let layout: TableLayout
        let family: FamilyLayout
        let kinds: Recognition.Kinds
        let precedence: MappingPlan.Precedence
    }

    /// Returns the names of a link table's columns, or their prefixes where a key has several attributes.
    public func linkEnds(of table: String) -> (source: String, target: String) {
        ends[table] ?? (source: "source", target: "target")
    }

    /// Returns the index of the entity with this name.
    public func index(of entity: String) -> Int? { indexes[entity] }

    /// Returns the fields that several sources of an entity provide, whose winner `precedence` decides.
    public func contestedFields(of entity: Int) -> Set<Int> {
        ([entity] + sourcePlans[entity].values).reduce(into: []) { $0.formUnion(plans[$1].fallbacks) }
    }

    /// Returns the index of the plan for an entity's further source, or for its own bridge.
    public func plan(of entity: Int, source: String?) -> Int? {
        guard let source else { return entity }
        return sourcePlans[entity][source]
    }

    /// Returns the rule for records that lack a member; nil if nothing reads it.
    ///
    /// - Parameters:
    ///   - member: The entity and the path of the member.
    ///   - source: The name of the further source that the records come from; nil for the entity's own bridge.
    public func absentRule(of member: ListedMember, source: String?) -> AbsentRule? {
        plan(of: member.entity, source: source).flatMap { plan in
            plans[plan].members.first { $0.path == member.path }?.rule
        }
    }

    /// Returns the name of the first column that a member feeds; nil for a list, and if nothing reads it.
    package func column(of member: ListedMember, source: String?) -> String? {
        guard let plan = plan(of: member.entity, source: source),
            let known = plans[plan].members.first(where: { $0.path == member.path }),
            case .fields(let first, _) = known.destination
        else { return nil }
        return entities[member.entity].fields[first].name
    }

    /// Returns the indexes of all entities that share a table with `entity`, including itself.
    public func family(of entity: Int) -> [Int] { families[entity] }
}

/// A model that cannot be compiled.
public struct MappingError: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
}
