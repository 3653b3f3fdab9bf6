internal import Mapping
internal import Model
internal import StoreContract

/// Converts values by name, including nested objects, to row edits.
///
/// Used on the reader's thread.
struct EditBuilder {
    private let reader: ObjectReader
    private(set) var edits: [PlannedEdit] = []

    init(_ reader: ObjectReader) { self.reader = reader }

    /// Adds the row edits of an object's edit.
    ///
    /// - Throws: ``RequestError`` for names and values that do not fit.
    mutating func add(_ edit: ObjectEdit) throws {
        let schema = try reader.schema(of: edit.entity)
        let key = try edit.id.map { try reader.storedKey($0) } ?? []
        switch edit.operation {
        case .delete: edits.append(PlannedEdit(LocalEdit(.delete, entity: edit.entity, key: key)))
        case .create: try write(edit.content, schema, .create, key: [])
        case .update: try write(edit.content, schema, .update, key: key)
        }
    }

    private mutating func write(
        _ node: ObjectNode, _ schema: ObjectSchema, _ operation: OutboxEntry.Operation, key: [StoredValue]
    ) throws {
        var planned = PlannedEdit(LocalEdit(operation, entity: schema.layout.name, key: key))
        let keyNames = schema.layout.key.map { schema.layout.fields[$0].name }
        let row = operation == .update ? try reader.row(schema.layout.index, key: key) : nil
        if operation == .update, row == nil {
            throw misfit("there is no \(schema.id(of: key, in: schema.layout)) to update", schema)
        }
        for name in node.memberNames {
            guard let member = node.member(name) else { continue }
            // The remote assigns a new object's null key.
            if operation == .create, member.isNull, keyNames.contains(name) { continue }
            if let one = schema.toOne(name) {
                let target = try self.key(of: member, in: reader.model.entities[one.target].name, name, schema)
                let fields = schema.layout.fields[one.firstField..<one.firstField + one.fieldCount].map(\.name)
                planned.refer(fields, to: target)
            } else if let many = schema.toMany(name) {
                let target = reader.model.entities[schema.layout.toMany[many].target].name
                guard let elements = member.elements else {
                    throw misfit("\(schema.layout.name).\(name) leads to many objects: give a list", schema)
                }
                planned.link(name, to: try elements.compactMap { try self.key(of: $0, in: target, name, schema) })
            } else if !isUnchanged(member, name, schema, row) {
                planned.edit.values[name] = try value(member, name, schema)
            }
        }
        if let row {
            // An update without changes is dropped.
            planned.edit.values = planned.edit.values.filter { name, value in
                guard let old = row[name], let type = schema.type(of: name) else { return true }
                return !value.isSame(as: old, type)
            }
            if planned.isEmpty { return }
        }
        edits.append(planned)
    }

    /// Returns whether a row has a value already, or one that a Swift type shows as this value.
    private func isUnchanged(
        _ node: ObjectNode, _ name: String, _ schema: ObjectSchema, _ row: [String: StoredValue]?
    ) -> Bool {
        guard case .value(let value) = node, let old = row?[name], let type = schema.type(of: name) else {
            return false
        }
        return value.isForm(of: LocalValue(old, as: type))
    }

    private func value(_ node: ObjectNode, _ name: String, _ schema: ObjectSchema) throws -> StoredValue {
        guard let type = schema.type(of: name) else {
            throw misfit(
                "\(schema.layout.name) has no value \"\(name)\"", schema,
                remedy: "it has: \(schema.names.joined(separator: ", "))")
        }
        do {
            if case .value(let value) = node { return try value.stored(as: type) }
            guard type == .json else { throw LocalValue.Misfit(reason: "\(node.kind) is not of type \(type.rawValue)") }
            guard node.isFinite else {
                throw LocalValue.Misfit(reason: "JSON has no number that is infinite, or not a number")
            }
            return try LocalValue.json(node.jsonText).stored(as: .json)
        } catch let error as LocalValue.Misfit {
            throw misfit("\(schema.layout.name).\(name): \(error.reason)", schema)
        }
    }

    /// Returns the key of a referenced object; one with more than its key is created or updated first.
    private mutating func key(
        of node: ObjectNode, in entity: String, _ relationship: String, _ owner: ObjectSchema
    ) throws -> PlannedEdit.Reference? {
        if node.isNull { return nil }
        let schema = try reader.schema(of: entity)
        if case .value(let value) = node { return .key(try reader.storedKey(ObjectID(entity: entity, key: [value]))) }
        let names = schema.layout.key.map { schema.layout.fields[$0].name }
        let parts = names.compactMap { name -> LocalValue? in
            if case .value(let value)? = node.member(name), !value.isNull { value } else { nil }
        }
        if parts.isEmpty, node.memberNames.contains(where: { !names.contains($0) }) {
            try write(node, schema, .create, key: [])
            return .new(edits.count - 1)
        }
        guard parts.count == names.count else {
            throw misfit(
                "the object of \(owner.layout.name).\(relationship) has no key (\(names.joined(separator: ", ")))",
                owner, remedy: "give its key, or the values of a new object without its key")
        }
        let key = try reader.storedKey(ObjectID(entity: entity, key: parts))
        if Set(node.memberNames).isSubset(of: names) { return .key(key) }
        let isThere = try reader.row(schema.layout.index, key: key) != nil
        let isPlanned = edits.map(\.edit).contains {
            $0.entity == entity && ($0.key == key || Self.key($0, names) == key)
        }
        if !isPlanned { try write(node, schema, isThere ? .update : .create, key: isThere ? key : []) }
        return .key(key)
    }

    private static func key(_ edit: LocalEdit, _ names: [String]) -> [StoredValue] {
        names.compactMap { edit.values[$0] }
    }

    private func misfit(_ words: String, _ schema: ObjectSchema, remedy: String? = nil) -> RequestError {
        RequestError(.requested, entity: schema.layout.name, code: "request", words, remedy: remedy)
    }
}
