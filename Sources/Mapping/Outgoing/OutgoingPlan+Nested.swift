package import Model
internal import RecordBatch

extension OutgoingPlan {
    /// The nested objects that an update changes in part.
    ///
    /// Many remotes treat the sent object as complete.
    package struct Nested: Sendable {
        /// These objects with their other parts from the row, in the remote's form.
        ///
        /// Parts that are null locally are omitted: a remote that keeps unsent members has them anyway.
        package let known: OutgoingValue
        /// The columns of the other parts that have a value, each with its path in the records.
        package let others: [(column: String, path: RemotePath)]
    }

    /// The destination of one value of an update.
    package struct Change: Sendable {
        /// The path to the value.
        package let path: RemotePath
        /// For a value of type json, the value that it replaces; otherwise null.
        package let before: OutgoingValue
    }

    /// Returns the paths of the values that are keys of other objects.
    package func references(setting columns: Set<String>, links: Set<String>) -> [RemotePath] {
        let toOne = layout.toOne.filter { toOne in
            layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].contains { columns.contains($0.name) }
                && (toOne.name != parent || relationships[toOne.name]?.write.isExplicit == true)
        }
        return (toOne.map(\.name) + links.sorted()).compactMap { relationships[$0] }.map { $0.write.path ?? $0.source }
    }

    /// Returns the destinations of an update's values.
    ///
    /// Each is written as a whole, even if it is an object.
    ///
    /// - Parameter old: The earlier values, by column.
    package func changes(
        setting columns: Set<String>, links: Set<String>, old: [String: StoredValue]
    ) -> [Change] {
        var changes: [Change] = []
        for field in layout.fields where field.relationship == nil && columns.contains(field.name) {
            guard let attribute = attributes[field.name], case .path(let path) = attribute.source,
                !isOfParent(attribute)
            else { continue }
            let before = attribute.type == .json ? old[field.name].flatMap { try? remote($0, of: attribute) } : nil
            changes.append(Change(path: attribute.write.path ?? path, before: before ?? .null))
        }
        return changes + references(setting: columns, links: links).map { Change(path: $0, before: .null) }
    }

    /// Returns the nested objects that an update changes in part; nil if there are none.
    ///
    /// - Parameters:
    ///   - columns: The columns that the update sets.
    ///   - links: The to-many relationships that the update sets.
    ///   - row: The object's values by column.
    package func nested(
        setting columns: Set<String>, links: Set<String>, in row: [String: StoredValue]
    ) -> Nested? {
        let homes = homes(setting: columns, links: links)
        guard !homes.isEmpty else { return nil }
        var known = OutgoingValue.object(homes.sorted().map { ($0, .object([])) })
        var others: [(column: String, path: RemotePath)] = []
        for part in parts(below: homes, in: row).sorted(by: { $0.to.components.count < $1.to.components.count })
        where !part.columns.contains(where: columns.contains) {
            // A column that holds the whole object is not one of its parts.
            if part.from.components.count > 1 { others.append((part.columns[0], part.from)) }
            if let value = part.value { known.set(value, at: part.to.components[...]) }
        }
        return Nested(known: known, others: others)
    }

    /// The names of the columns and relationships that an update may set inside a nested object.
    package var nestedNames: [String] {
        let names = layout.columns.map(\.name) + layout.toMany.map(\.name)
        return names.filter { name in
            refusal(of: name, isNew: false) == nil && !homes(setting: [name], links: [name]).isEmpty
        }
    }

    /// Returns the members of a record whose nested objects are changed in part.
    private func homes(setting columns: Set<String>, links: Set<String>) -> Set<String> {
        var paths = attributes.values.compactMap { attribute -> RemotePath? in
            guard columns.contains(attribute.name), case .path(let path) = attribute.source else { return nil }
            return attribute.write.path ?? path
        }
        for toOne in layout.toOne where toOne.name != parent {
            let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
            guard names.contains(where: columns.contains), let relationship = relationships[toOne.name] else {
                continue
            }
            let path = relationship.write.path ?? relationship.source
            // A key path such as `author.id` replaces the reference as a whole.
            if !isKey(path, of: toOne.target) { paths.append(path) }
        }
        paths += links.compactMap { relationships[$0] }.map { $0.write.path ?? $0.source }
        return Set(paths.filter { $0.components.count > 1 }.map { $0.components[0] })
    }

    /// Returns whether a path leads to the key inside an object that represents another one.
    private func isKey(_ path: RemotePath, of target: Int) -> Bool {
        let definition = model.model.entities[target]
        let own = model.model.attributes(of: definition)
        return model.model.key(of: definition).contains { key in
            guard case .path(let place)? = own.first(where: { $0.name == key.name })?.source else { return false }
            return place.components.last == path.components.last
        }
    }

    /// A value of the row that is inside a nested object, or is the object itself.
    private struct Part {
        let columns: [String]
        let from: RemotePath
        let to: RemotePath
        /// Nil if the value has no remote form.
        let value: OutgoingValue?
    }

    private func parts(below homes: Set<String>, in row: [String: StoredValue]) -> [Part] {
        var parts: [Part] = []
        for field in layout.fields where field.relationship == nil {
            guard let attribute = attributes[field.name], case .path(let path) = attribute.source,
                homes.contains(path.components[0]), !path.mayLeadToElement, sources[field.name] == nil,
                let value = row[field.name], value != .null
            else { continue }
            if attribute.type == .json, path.components.count == 1 {
                guard case .text(let text) = value.form, let object = OutgoingValue(jsonObject: text) else { continue }
                parts.append(Part(columns: [field.name], from: path, to: path, value: object))
                continue
            }
            let remote = try? OutgoingConverter(attribute, model.code).convert(value)
            parts.append(
                Part(columns: [field.name], from: path, to: attribute.write.path ?? path, value: remote))
        }
        for toOne in layout.toOne {
            guard let relationship = relationships[toOne.name], relationship.source.components.count > 1,
                homes.contains(relationship.source.components[0]), sources[toOne.name] == nil
            else { continue }
            let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
            let key = names.map { row[$0] ?? .null }
            guard !key.contains(.null) else { continue }
            parts.append(
                Part(
                    columns: names, from: relationship.source, to: relationship.write.path ?? relationship.source,
                    value: try? reference(to: toOne.target, key, relationship)))
        }
        return parts
    }
}

extension OutgoingValue {
    /// Creates an object from a JSON text, with separate members; nil if the text is not a JSON object.
    fileprivate init?(jsonObject text: String) {
        guard let batch = try? JSONParser.batch(text) else { return nil }
        let value = withExtendedLifetime(batch) {
            batch.count == 1 && batch[0].tag == .object ? OutgoingValue(batch[0]) : nil
        }
        guard let value else { return nil }
        self = value
    }

    private init(_ value: BatchValue) {
        guard value.tag == .object else {
            self = .json(value.json)
            return
        }
        self = .object(value.members.map { ($0.key, OutgoingValue($0.value)) })
    }

    /// Sets a value at a path, replacing any value along it that is not an object.
    fileprivate mutating func set(_ value: OutgoingValue, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self = value
            return
        }
        var members: [(key: String, value: OutgoingValue)] = []
        if case .object(let own) = self { members = own }
        if let index = members.firstIndex(where: { ExactText($0.key) == ExactText(name) }) {
            members[index].value.set(value, at: path.dropFirst())
        } else {
            var inner = OutgoingValue.null
            inner.set(value, at: path.dropFirst())
            members.append((name, inner))
        }
        self = .object(members)
    }
}
