public import Model

/// A model made ready for importing: layouts of its tables, and plans of what feeds them, by index.
public final class CompiledModel: Sendable {
    /// The layout of each entity, in the order of the model.
    public let entities: [EntityLayout]
    /// How records become rows: first a plan per entity, in the order of the model, then one per further source.
    public let plans: [MappingPlan]
    /// The model it came from.
    public let model: Model
    private let indexes: [String: Int]

    /// Compiles a model that has been validated.
    ///
    /// - Throws: ``MappingError`` when a relationship leads nowhere: the model was not validated.
    public init(_ model: Model) throws {
        self.model = model
        let indexes = Dictionary(
            model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.indexes = indexes
        var tables: [String: TableLayout] = [:]
        for entity in model.entities where entity.superentity == nil {
            tables[entity.name] = try TableLayout(of: entity, in: model, indexes: indexes)
        }
        entities = try model.entities.enumerated().map { index, entity in
            let root = model.root(of: entity)
            guard let table = tables[root.name], let rootIndex = indexes[root.name] else {
                throw MappingError(description: "\(entity.name) extends no entity")
            }
            return EntityLayout(entity, index: index, root: rootIndex, table, in: model)
        }
        var plans: [MappingPlan] = []
        for (index, entity) in model.entities.enumerated() {
            plans.append(MappingPlan(of: entity, index, entities[index], in: model, indexes: indexes))
        }
        for (index, entity) in model.entities.enumerated() {
            for source in entity.sources {
                plans.append(MappingPlan(of: source, entity, index: plans.count, entities[index], in: model))
            }
        }
        self.plans = plans
    }

    /// The index of the entity with this name.
    public func index(of entity: String) -> Int? { indexes[entity] }

    /// The fields that several sources of an entity bring, of which `precedence` tells who wins.
    public func contestedFields(of entity: Int) -> Set<Int> {
        Set(plans.filter { $0.entity == entity }.flatMap(\.fallbacks))
    }

    /// The index of the plan of an entity's further source, or of its own bridge.
    public func plan(of entity: Int, source: String?) -> Int? {
        guard let source else { return entity }
        return plans.firstIndex { $0.entity == entity && $0.source == source }
    }

    /// The indexes of the entities whose objects lie in one table with those of `entity`, itself among them.
    public func family(of entity: Int) -> [Int] {
        entities.indices.filter { entities[$0].root == entities[entity].root }
    }
}

/// A model that cannot be compiled.
public struct MappingError: Error, CustomStringConvertible {
    /// What is wrong.
    public let description: String
}
