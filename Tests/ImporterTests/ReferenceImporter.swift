import ImportTestSupport
import Mapping
import Model
import RecordBatch
import StoreTestSupport
import TestSupport
import TextFormats

/// What an import should do, in the plainest words: dictionaries of values, no cells, no plan, no store.
///
/// It knows the models and values that ``RandomWorld`` makes. Both stores must come to the same rows, links and stubs.
struct ReferenceImporter {
    typealias Key = [StoredValue]
    typealias Fields = [String: StoredValue]

    private struct Misfit: Error {}

    /// An object of a page: the fields that it mentions.
    private struct Row {
        let entity: String
        var fields: Fields
        let isReference: Bool
        /// Whether the entity is only the one that is expected where the object occurs.
        var isExpected = false
    }

    private struct Links {
        let entity: String
        let relationship: EntityLayout.ToMany
        let owner: Key
        let targets: [Key]
    }

    private struct State {
        var rows: [String: [Key: Fields]] = [:]
        var stubs: [String: Set<Key>] = [:]
        var links: [String: [Key: [Key]]] = [:]
        /// The records in quarantine as text, with their entity and key.
        var quarantine: [String: (entity: String, key: Key?)] = [:]
    }

    let model: CompiledModel
    private var state = State()
    private var extent = RecordExtent.part
    /// The members that the records of the listing at hand had, by the records' entity.
    private var brought: [String: Set<String>] = [:]

    init(_ model: CompiledModel) { self.model = model }

    /// - Parameter extent: How much of its object each record has.
    mutating func add(
        _ batches: [[Literal]], of entity: String, extent: RecordExtent = .part, end: PageEnd
    ) throws {
        let before = state
        brought = [:]
        self.extent = extent
        for batch in batches { try add(batch, of: entity) }
        removeAbandonedStubs()
        if end == .rollback { state = before }
    }

    private mutating func add(_ records: [Literal], of entity: String) throws {
        var rows: [Row] = []
        var links: [Links] = []
        var kept: [Key: Bool] = [:]
        for record in records {
            let mark = (rows.count, links.count)
            do {
                let key = try read(record, as: entity, parent: [:], isNested: false, &rows, &links)
                kept[key] = false
                settleAbsence(of: record, row: mark.0, &rows, &links)
            } catch is Misfit {
                rows.removeSubrange(mark.0...)
                links.removeSubrange(mark.1...)
                let key = try self.key(of: record, as: entity)
                state.quarantine[entity + (try Literal.batch([record]).json(0))] = (entity, key)
                if let key { kept[key] = true }
            }
        }
        // What the remote has listed since is out of date, unless it listed only changes.
        state.quarantine = state.quarantine.filter { _, record in
            guard extent != .changes, record.entity == entity, let key = record.key else { return true }
            return kept[key] != false
        }
        for row in rows { merge(row) }
        for row in rows {
            for toOne in layout(row.entity).toOne {
                let key = fields(toOne, row.entity).map { row.fields[$0] ?? .null }
                let target = model.entities[toOne.target]
                if key.contains(.null) || state.rows[target.table]?[key] != nil { continue }
                merge(reference(to: target.name, key))
            }
        }
        for link in links { merge(link) }
    }

    /// The key of a record in quarantine, if it has one that can be read.
    private func key(of record: Literal, as entity: String) throws -> Key? {
        guard let index = model.index(of: entity) else { return nil }
        let batch = try Literal.batch([record])
        return Mapper(model).key(of: batch[0], as: index)
    }

    // MARK: reading

    /// What a record of a listing leaves out is null, where that is declared or the listing has brought it before.
    private mutating func settleAbsence(
        of record: Literal, row: Int, _ rows: inout [Row], _ links: inout [Links]
    ) {
        guard extent != .part, case .object(let members) = record,
            let entity = model.model.entity(named: rows[row].entity)
        else { return }
        let known = brought[entity.name, default: []]
        let declared = model.model.lineage(of: entity).reversed().compactMap(\.absent).first
        func isNull(_ path: String, _ own: AbsentRule?) -> Bool {
            if members.contains(where: { $0.key == path }) {
                brought[entity.name, default: []].insert(path)
                return false
            }
            switch own ?? declared ?? .auto {
            case .null: return true
            case .keep: return false
            case .auto: return extent == .whole && known.contains(path)
            }
        }
        let key = model.model.key(of: entity).map(\.name)
        for attribute in model.model.attributes(of: entity) where !key.contains(attribute.name) {
            guard case .path(let path) = attribute.source, isNull(path.description, attribute.absent) else { continue }
            rows[row].fields[attribute.name] = .null
        }
        let owner = model.model.key(of: entity).map { rows[row].fields[$0.name] ?? .null }
        for relationship in model.model.relationships(of: entity) {
            var own = relationship.absent
            // What lists its own objects says itself where they belong.
            if own ?? declared ?? .auto == .auto, isKeptElsewhere(relationship, of: entity.name) { own = .keep }
            guard isNull(relationship.name, own) else { continue }
            if let toOne = layout(entity.name).toOne.first(where: { $0.name == relationship.name }) {
                for field in fields(toOne, entity.name) { rows[row].fields[field] = .null }
            } else if let toMany = layout(entity.name).toMany.first(where: { $0.name == relationship.name }) {
                links.append(Links(entity: entity.name, relationship: toMany, owner: owner, targets: []))
            }
        }
    }

    private func isKeptElsewhere(_ relationship: Relationship, of entity: String) -> Bool {
        guard let toMany = layout(entity).toMany.first(where: { $0.name == relationship.name }) else { return false }
        if case .links = toMany.storage { return false }
        return model.model.entity(named: relationship.target)?.isScanned == true
    }

    /// - Parameter parent: the relationship to the parent, where the object says nothing else.
    private func read(
        _ value: Literal, as entity: String, parent: Fields, isNested: Bool = true, _ rows: inout [Row],
        _ links: inout [Links]
    ) throws -> Key {
        guard case .object(let members) = value, let expected = model.model.entity(named: entity) else {
            throw Misfit()
        }
        // Of members with one name the last counts, in the place of the first.
        var names: [String] = []
        var last: [String: Literal] = [:]
        for member in members {
            if last.updateValue(member.value, forKey: member.key) == nil { names.append(member.key) }
        }
        let (declared, isTold) = recognise(expected, last)
        let index = rows.count
        rows.append(
            Row(
                entity: declared.name, fields: kind(of: declared.name), isReference: false,
                isExpected: isNested && !isTold))
        for attribute in model.model.attributes(of: declared) {
            guard case .path(let path) = attribute.source else {
                rows[index].fields[attribute.name] = .text("constant")
                continue
            }
            if let value = last[path.components[0]] {
                rows[index].fields[attribute.name] = try local(value, attribute.type)
            }
        }
        let key = model.model.key(of: declared).map { rows[index].fields[$0.name] ?? .null }
        if key.contains(.null) { throw Misfit() }
        let relationships = model.model.relationships(of: declared)
        for name in names {
            guard let relationship = relationships.first(where: { $0.name == name }), let value = last[name] else {
                continue
            }
            if relationship.kind == .toOne {
                try readOne(relationship, value, from: index, &rows, &links)
            } else {
                try readMany(relationship, value, from: index, key, &rows, &links)
            }
        }
        if parent.keys.allSatisfy({ rows[index].fields[$0] ?? .null == .null }) {
            rows[index].fields.merge(parent) { $1 }
        }
        return key
    }

    /// The entity that a record's `kind` names, and whether it names one of the family; else the expected one.
    private func recognise(_ expected: Entity, _ members: [String: Literal]) -> (Entity, isTold: Bool) {
        guard case .text(let kind) = members["kind"],
            let named = model.model.family(of: expected).first(where: { $0.name == kind }), named.matcher != nil
        else { return (expected, false) }
        // What is expected without a matcher stays so where the record names what it extends.
        let isAbove = model.model.lineage(of: expected).contains { $0.name == kind }
        if expected.matcher == nil, isAbove { return (expected, false) }
        return (named, true)
    }

    /// What tells an entity from others in their table.
    private func kind(of entity: String) -> Fields {
        layout(entity).discriminator == nil ? [:] : [Entity.discriminatorColumn: .text(entity)]
    }

    private func readOne(
        _ relationship: Relationship, _ value: Literal, from index: Int, _ rows: inout [Row],
        _ links: inout [Links]
    ) throws {
        let entity = rows[index].entity
        guard let toOne = layout(entity).toOne.first(where: { $0.name == relationship.name }) else { return }
        var key = Array(repeating: StoredValue.null, count: toOne.fieldCount)
        switch value {
        case .null: break
        case .array(let elements) where elements.isEmpty: break
        case .object: key = try read(value, as: relationship.target, parent: [:], &rows, &links)
        default: key = try bare(value, relationship.target)
        }
        for (field, value) in zip(fields(toOne, entity), key) { rows[index].fields[field] = value }
    }

    private func readMany(
        _ relationship: Relationship, _ value: Literal, from index: Int, _ owner: Key, _ rows: inout [Row],
        _ links: inout [Links]
    ) throws {
        let entity = rows[index].entity
        guard let toMany = layout(entity).toMany.first(where: { $0.name == relationship.name }) else { return }
        var parent: Fields = [:]
        if case .inverse(let toOne) = toMany.storage {
            let names = fields(layout(relationship.target).toOne[toOne], relationship.target)
            parent = Dictionary(uniqueKeysWithValues: zip(names, owner))
        }
        var targets: [Key] = []
        let elements = if case .array(let elements) = value { elements } else { [value] }
        for element in elements {
            switch element {
            case .null: continue
            case .object: targets.append(try read(element, as: relationship.target, parent: parent, &rows, &links))
            default:
                let key = try bare(element, relationship.target)
                rows.append(reference(to: relationship.target, key, parent))
                targets.append(key)
            }
        }
        links.append(Links(entity: entity, relationship: toMany, owner: owner, targets: targets))
    }

    private func bare(_ value: Literal, _ entity: String) throws -> Key {
        guard layout(entity).key.count == 1 else { throw Misfit() }
        let key = try local(value, layout(entity).fields[layout(entity).key[0]].type)
        if key == .null { throw Misfit() }
        return [key]
    }

    private func local(_ value: Literal, _ type: AttributeType) throws -> StoredValue {
        switch (type, value) {
        case (_, .null): return .null
        case (.json, _): return .text(try Literal.batch([value]).json(0))
        case (.text, .text(let text)), (.decimal, .decimal(let text)): return .text(text)
        case (.decimal, .text(let text)) where Double(text) != nil: return .text(text)
        case (.text, .integer(let number)), (.decimal, .integer(let number)): return .text(String(number))
        case (.integer, .integer(let number)): return .integer(number)
        case (.integer, .text(let text)): if let number = Int64(text) { return .integer(number) }
        case (.real, .integer(let number)): return .real(Double(number))
        case (.real, .double(let number)) where number.isFinite: return .real(number)
        case (.real, .text(let text)): if let number = Double(text) { return .real(number) }
        case (.boolean, .bool(let truth)): return .integer(truth ? 1 : 0)
        case (.boolean, .integer(let number)) where number < 2: return .integer(number)
        case (.boolean, .text("TRUE")): return .integer(1)
        case (.data, .bytes(let bytes)): return .bytes(bytes)
        case (.data, .text("AP8=")): return .bytes([0, 255])
        case (.data, .text("")): return .bytes([])
        case (.date, .text(let text)) where text.hasPrefix("2024-02-29"): return .text("2024-02-29")
        default: break
        }
        throw Misfit()
    }

    // MARK: merging

    private mutating func merge(_ row: Row) {
        let layout = layout(row.entity)
        let key = layout.key.map { row.fields[layout.fields[$0].name] ?? .null }
        if let old = state.rows[layout.table]?[key] {
            var new = old.merging(row.fields) { $1 }
            let kind = Entity.discriminatorColumn
            if case .text(let before) = old[kind], before != row.entity {
                let isStub = state.stubs[layout.table]?.contains(key) == true
                if becomes(row.entity, from: before, row.isReference || row.isExpected && !isStub) {
                    drop(from: &new, key, what: before, hasBut: row.entity)
                } else {
                    new[kind] = .text(before)
                    let refused = row.isExpected ? columns(of: row.entity, butNotOf: before) : []
                    for field in refused { new[field] = old[field] }
                }
            }
            state.rows[layout.table]?[key] = new
            if !row.isReference { state.stubs[layout.table]?.remove(key) }
        } else {
            state.rows[layout.table, default: [:]][key] = row.fields
            if row.isReference { state.stubs[layout.table, default: []].insert(key) }
        }
    }

    /// An object that becomes a sibling has nothing that only the old entity has.
    private mutating func drop(from fields: inout Fields, _ key: Key, what old: String, hasBut new: String) {
        func names(_ entity: String) -> Set<String> {
            let lineage = model.model.entity(named: entity).map { model.model.lineage(of: $0) } ?? []
            return Set(lineage.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        }
        let lost = names(old).subtracting(names(new))
        let layout = layout(new)
        for name in lost {
            if layout.fields.contains(where: { $0.name == name && $0.relationship == nil }) { fields[name] = .null }
            if let toOne = layout.toOne.first(where: { $0.name == name }) {
                for field in self.fields(toOne, new) { fields[field] = .null }
            }
            if let toMany = layout.toMany.first(where: { $0.name == name }), case .links(let table) = toMany.storage {
                state.links[table]?[key] = nil
            }
        }
    }

    /// The columns that objects of one entity have, and those of another do not.
    private func columns(of entity: String, butNotOf other: String) -> [String] {
        func names(_ entity: String) -> Set<String> {
            let lineage = model.model.entity(named: entity).map { model.model.lineage(of: $0) } ?? []
            return Set(lineage.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        }
        let layout = layout(entity)
        return names(entity).subtracting(names(other)).flatMap { name in
            layout.toOne.first { $0.name == name }.map { fields($0, entity) } ?? [name]
        }
    }

    /// An object becomes a more special one, or by a description its sibling; never a super-entity again.
    private func becomes(_ new: String, from old: String, _ isReference: Bool) -> Bool {
        func line(_ name: String) -> [String] {
            model.model.entity(named: name).map { model.model.lineage(of: $0).map(\.name) } ?? []
        }
        if line(new).contains(old) { return true }
        return !line(old).contains(new) && !isReference
    }

    private func reference(to entity: String, _ key: Key, _ others: Fields = [:]) -> Row {
        let target = layout(entity)
        let named = Dictionary(uniqueKeysWithValues: zip(target.key.map { target.fields[$0].name }, key))
        return Row(
            entity: entity, fields: others.merging(named) { $1 }.merging(kind(of: entity)) { $1 }, isReference: true)
    }

    private mutating func merge(_ link: Links) {
        var wanted: [Key] = []
        for target in link.targets where !wanted.contains(target) { wanted.append(target) }
        let replaces = link.relationship.merge == .replace
        switch link.relationship.storage {
        case .links(let table):
            let old = state.links[table]?[link.owner] ?? []
            let first = link.relationship.merge == .append ? old : wanted
            let second = replaces ? [] : link.relationship.merge == .append ? wanted : old
            let merged = first + second.filter { !first.contains($0) }
            // Where order says nothing, what is there stays where it is.
            state.links[table, default: [:]][link.owner] =
                link.relationship.isOrdered
                ? merged : old.filter(merged.contains) + merged.filter { !old.contains($0) }
        case .reversedLinks(let table):
            for (source, targets) in state.links[table] ?? [:] where replaces && !wanted.contains(source) {
                state.links[table]?[source] = targets.filter { $0 != link.owner }
            }
            for source in wanted where state.links[table]?[source]?.contains(link.owner) != true {
                state.links[table, default: [:]][source, default: []].append(link.owner)
            }
        case .inverse(let toOne):
            let target = model.entities[link.relationship.target]
            let names = fields(target.toOne[toOne], target.name)
            for (key, row) in state.rows[target.table] ?? [:]
            where replaces && !wanted.contains(key) && names.map({ row[$0] ?? .null }) == link.owner {
                for name in names { state.rows[target.table]?[key]?[name] = .null }
            }
        }
    }

    /// What nothing points to, and points to nothing and says nothing, is not worth a row.
    private mutating func removeAbandonedStubs() {
        for (table, stubs) in state.stubs {
            for key in stubs {
                let own = Set(layout(table).key.map { layout(table).fields[$0].name } + [Entity.discriminatorColumn])
                let fields = state.rows[table]?[key] ?? [:]
                if fields.contains(where: { !own.contains($0.key) && $0.value != .null }) { continue }
                if isMentioned(key, of: table) { continue }
                state.rows[table]?[key] = nil
                state.stubs[table]?.remove(key)
            }
        }
    }

    /// Whether an object has a list, is in one, or is what a relationship to one leads to.
    private func isMentioned(_ key: Key, of table: String) -> Bool {
        for other in model.entities where other.root == other.index {
            for toOne in other.toOne where model.entities[toOne.target].table == table {
                let names = fields(toOne, other.name)
                let rows = state.rows[other.table] ?? [:]
                if rows.values.contains(where: { row in names.map { row[$0] ?? .null } == key }) { return true }
            }
            for toMany in other.toMany {
                guard case .links(let links) = toMany.storage else { continue }
                let lists = state.links[links] ?? [:]
                if other.table == table, lists[key]?.isEmpty == false { return true }
                guard model.entities[toMany.target].table == table else { continue }
                if lists.values.contains(where: { $0.contains(key) }) { return true }
            }
        }
        return false
    }

    private func layout(_ entity: String) -> EntityLayout { model.entities[model.index(of: entity) ?? 0] }

    private func fields(_ toOne: EntityLayout.ToOne, _ entity: String) -> [String] {
        layout(entity).fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
    }

    // MARK: showing

    /// How many different records are in quarantine.
    var quarantined: Int { state.quarantine.count }

    /// Every table, and the stubs, as lines; as ``StoreFixture/text(of:)`` has them.
    var tables: [String: String] {
        var tables: [String: [String]] = [:]
        for layout in model.entities where layout.root == layout.index {
            tables[layout.name] = (state.rows[layout.name] ?? [:]).values.map { row in
                layout.fields.map { field -> String in
                    let value = row[field.name] ?? .null
                    return value == .real(0) ? "0.0" : value.literal
                }.joined(separator: " ").escaped
            }
            for case .links(let table) in layout.toMany.map(\.storage) {
                tables[table] = (state.links[table] ?? [:]).filter { !$0.value.isEmpty }.map { source, targets in
                    ([Self.text(source) + ":"] + targets.map(Self.text)).joined(separator: " ").escaped
                }
            }
        }
        tables["stubs"] = state.stubs.flatMap { entity, keys in
            keys.map { key in
                let parts = key.map { value -> String in
                    guard case .text(let text) = value else { return value.literal }
                    var out = ""
                    out.appendJSONString(text)
                    return out
                }
                return "\(entity) [\(parts.joined(separator: ","))]".escaped
            }
        }
        return tables.mapValues { $0.sorted().joined(separator: "\n") }
    }

    private static func text(_ key: Key) -> String { key.map(\.literal).joined(separator: "/") }
}
