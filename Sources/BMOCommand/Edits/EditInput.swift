// Edits: the commands that change the local database and push the changes to the remote.

internal import BMO
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Parses an object's values from the user: `NAME=VALUE` on a command line, or JSON objects by local names.
struct EditInput {
    private let layout: EntityLayout
    private let model: CompiledModel

    /// The parsed values: columns by name, and the target keys of each to-many relationship.
    struct Values {
        var columns: [String: StoredValue] = [:]
        var links: [String: [[StoredValue]]] = [:]
    }

    init(_ entity: Int, in workspace: Workspace) {
        model = workspace.model
        layout = workspace.model.entities[entity]
    }

    /// The names that may be given.
    private var names: [String] {
        var names = layout.columns.filter { $0.relationship == nil }.map(\.name)
        names += layout.toOne.map(\.name)
        return names + layout.toMany.map(\.name)
    }

    // MARK: Key

    /// Parses a key from the words of a command line.
    func key(_ words: [String]) throws -> [StoredValue] {
        let fields = layout.key.map { layout.fields[$0] }
        try layout.checkKey(words)
        return try zip(fields, words).map { field, word in
            try fail("\(layout.name).\(field.name)") { () throws(StoredValueConverter.Misfit) in
                try LocalValueReader(field.type).read(word)
            }
        }
    }

    // MARK: Command line

    /// Parses the values of `--set` and `--set-null`.
    func values(set: [String], setNull: [String]) throws -> Values {
        var values = Values()
        var given: Set<String> = []
        func note(_ name: String) throws {
            guard given.insert(name).inserted else {
                throw CommandFailure("\(name) is set twice", exitCode: CommandFailure.usage)
            }
        }
        for text in set {
            guard let (name, value) = text.parts(at: "=") else {
                throw CommandFailure(
                    "--set takes NAME=VALUE, not \"\(text)\"; `--set-null NAME` clears a value",
                    exitCode: CommandFailure.usage)
            }
            try note(name)
            try add(name, text: value, to: &values)
        }
        for name in setNull {
            try note(name)
            try clear(name, in: &values)
        }
        return values
    }

    private func add(_ name: String, text: String, to values: inout Values) throws {
        if let many = layout.toMany.first(where: { $0.name == name }) {
            let batch = try json(text, "a JSON list of keys, such as [1,2]", of: name)
            try withExtendedLifetime(batch) { values.links[name] = try keys(batch[0], of: many) }
        } else if let toOne = layout.toOne.first(where: { $0.name == name }), toOne.fieldCount > 1 {
            let batch = try json(text, "the target's key as a JSON list, such as [1,\"b\"]", of: name)
            let key = try withExtendedLifetime(batch) { try self.key(batch[0], of: toOne.target, name) }
            add(key, of: toOne, to: &values)
        } else {
            let field = try field(name)
            values.columns[field.name] = try fail("\(layout.name).\(name)") {
                () throws(StoredValueConverter.Misfit) in try LocalValueReader(field.type).read(text)
            }
        }
    }

    private func clear(_ name: String, in values: inout Values) throws {
        if layout.toMany.contains(where: { $0.name == name }) {
            values.links[name] = []
        } else if let toOne = layout.toOne.first(where: { $0.name == name }) {
            add(Array(repeating: .null, count: toOne.fieldCount), of: toOne, to: &values)
        } else {
            values.columns[try field(name).name] = .null
        }
    }

    private func json(_ text: String, _ wanted: String, of name: String) throws -> RecordBatch {
        do {
            return try JSONParser.batch(text)
        } catch {
            throw CommandFailure(
                "\(layout.name).\(name): \"\(text)\" is not \(wanted): \(error)", exitCode: CommandFailure.usage)
        }
    }

    // MARK: JSON

    /// Parses a JSON object.
    ///
    /// - Parameter place: The object's location, for messages.
    func values(_ object: BatchValue, _ place: String) throws -> Values {
        guard object.tag == .object else {
            throw CommandFailure("\(place) is not a JSON object", exitCode: CommandFailure.usage)
        }
        var values = Values()
        var given: Set<String> = []
        do {
            for (name, value) in object.members {
                guard given.insert(name).inserted else {
                    throw CommandFailure("\(name) is given twice", exitCode: CommandFailure.usage)
                }
                if let many = layout.toMany.first(where: { $0.name == name }) {
                    values.links[name] = value.tag == .null ? [] : try keys(value, of: many)
                } else if let toOne = layout.toOne.first(where: { $0.name == name }) {
                    let key =
                        value.tag == .null
                        ? Array(repeating: .null, count: toOne.fieldCount) : try key(value, of: toOne.target, name)
                    add(key, of: toOne, to: &values)
                } else {
                    let field = try field(name)
                    values.columns[field.name] = try fail("\(layout.name).\(name)") {
                        () throws(StoredValueConverter.Misfit) in try LocalValueReader(field.type).read(value)
                    }
                }
            }
        } catch let failure as CommandFailure {
            throw CommandFailure("\(place): \(failure.message)", exitCode: failure.exitCode)
        }
        return values
    }

    /// Returns the key among an object's values; nil if a part is missing.
    func key(in values: Values) -> [StoredValue]? {
        let key = layout.key.compactMap { values.columns[layout.fields[$0].name] }
        return key.count == layout.key.count && !key.isEmpty ? key : nil
    }

    /// Removes the key from the values of an update, which states it separately.
    func removeKey(from values: inout Values) {
        for field in layout.key { values.columns[layout.fields[field].name] = nil }
    }

    private func add(_ key: [StoredValue], of toOne: EntityLayout.ToOne, to values: inout Values) {
        for (offset, value) in key.enumerated() {
            values.columns[layout.fields[toOne.firstField + offset].name] = value
        }
    }

    private func keys(_ value: BatchValue, of many: EntityLayout.ToMany) throws -> [[StoredValue]] {
        guard value.tag == .array else {
            throw CommandFailure(
                "\(layout.name).\(many.name) takes a JSON list of keys, such as [1,2]", exitCode: CommandFailure.usage)
        }
        return try value.elements.map { try key($0, of: many.target, many.name) }
    }

    /// Parses a key from a bare value, a list of its parts, or an object with them.
    private func key(_ value: BatchValue, of target: Int, _ name: String) throws -> [StoredValue] {
        let other = model.entities[target]
        let fields = other.key.map { other.fields[$0] }
        var parts: [BatchValue]
        switch value.tag {
        case .array: parts = value.elements
        case .object: parts = fields.compactMap { value[$0.name] }
        default: parts = [value]
        }
        guard parts.count == fields.count else {
            throw CommandFailure(
                "\(layout.name).\(name): \(value.json) is not a key of \(other.name), which is "
                    + fields.map(\.name).joined(separator: ", "), exitCode: CommandFailure.usage)
        }
        return try zip(fields, parts).map { field, part in
            let stored = try fail("\(layout.name).\(name)") { () throws(StoredValueConverter.Misfit) in
                try LocalValueReader(field.type).read(part)
            }
            guard stored != .null else {
                throw CommandFailure(
                    "\(layout.name).\(name): null is not a key of \(other.name)", exitCode: CommandFailure.usage)
            }
            return stored
        }
    }

    // MARK: Names

    private func field(_ name: String) throws -> EntityLayout.Field {
        if let field = layout.columns.first(where: { $0.name == name }) { return field }
        let hint = suggestion(for: name, among: names, what: "names").map { "; \($0)" } ?? ""
        throw CommandFailure(
            "\(layout.name) has no attribute or relationship \"\(name)\"\(hint)", exitCode: CommandFailure.usage)
    }

    private func fail<Result>(
        _ what: String, _ body: () throws(StoredValueConverter.Misfit) -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            throw CommandFailure("\(what): \(error.description)", exitCode: CommandFailure.usage)
        }
    }
}
