package import Mapping
internal import Model
internal import RecordBatch
package import StoreContract

/// The new values of an outbox entry, or those before, as a JSON object by the names of columns and relationships.
///
/// A list of links is an array of keys.
package struct EditContent {
    private var columns: [(name: String, value: StoredValue)] = []
    private var links: [(name: String, keys: [[StoredValue]])] = []

    private init() {}

    /// Reads the output of ``json``, with the values as they are in JSON.
    private init(json: String) throws {
        let batch = try JSONParser.batch(json)
        withExtendedLifetime(batch) {
            for (name, value) in batch[0].members {
                if value.tag == .array {
                    links.append((name, value.elements.map { $0.elements.map(StoredValue.init(stored:)) }))
                } else {
                    columns.append((name, StoredValue(stored: value)))
                }
            }
        }
    }

    fileprivate init(json: String, _ layout: EntityLayout?, _ model: CompiledModel) throws {
        try self.init(json: json)
        columns = columns.map { ($0.name, $0.value.typed(as: layout?.type(of: $0.name) ?? .text)) }
        links = links.map { name, keys in
            let toMany = layout?.toMany.first { $0.name == name }
            let target = toMany.map { model.entities[model.entities[$0.target].root] }
            return (name, keys.map { target?.key($0) ?? $0 })
        }
    }

    /// Returns content with another name for a column or list, as JSON; nil if it does not have the old name.
    ///
    /// A value that has the new name already is of a column or list that was dropped, and is left out.
    package static func renaming(
        _ old: String, to new: String, isList: Bool, in json: String
    ) throws -> String? {
        var content = try EditContent(json: json)
        if isList {
            guard content.links.contains(where: { $0.name == old }) else { return nil }
            content.links = content.links.filter { $0.name != new }.map { ($0.name == old ? new : $0.name, $0.keys) }
        } else {
            guard content.columns.contains(where: { $0.name == old }) else { return nil }
            content.columns = content.columns.filter { $0.name != new }
                .map { ($0.name == old ? new : $0.name, $0.value) }
        }
        return content.json
    }

    package var json: String {
        var text = JSONText()
        text.append("{")
        for (name, value) in columns {
            text.beginMember(name)
            text.append(value)
        }
        for (name, keys) in links {
            text.beginMember(name)
            text.append(.keys(keys))
        }
        text.append("}")
        return text.string
    }

    /// Returns the new values of an entry, and those before; a create has none before, and is stored without them.
    package static func of(_ entry: OutboxEntry) -> (new: EditContent, base: EditContent?) {
        var new = EditContent()
        var base = EditContent()
        for change in entry.changes {
            if let value = change.new { new.columns.append((change.name, value)) }
            if let value = change.old { base.columns.append((change.name, value)) }
        }
        for link in entry.links {
            if entry.operation != .delete { new.links.append((link.relationship, link.new)) }
            if entry.operation != .create { base.links.append((link.relationship, link.old)) }
        }
        return (new, entry.operation == .create ? nil : base)
    }

    fileprivate func addEdits(since base: EditContent?, to entry: inout OutboxEntry) {
        for (name, value) in columns {
            let old = base?.columns.first { $0.name == name }?.value
            entry.changes.append(OutboxEntry.FieldEdit(name: name, old: old, new: value))
        }
        for (name, value) in base?.columns ?? [] where !columns.contains(where: { $0.name == name }) {
            entry.changes.append(OutboxEntry.FieldEdit(name: name, old: value, new: nil))
        }
        for (name, keys) in links {
            let old = base?.links.first { $0.name == name }?.keys ?? []
            entry.links.append(OutboxEntry.LinkEdit(relationship: name, old: old, new: keys))
        }
        for (name, keys) in base?.links ?? [] where !links.contains(where: { $0.name == name }) {
            entry.links.append(OutboxEntry.LinkEdit(relationship: name, old: keys, new: []))
        }
    }
}

extension OutboxEntry {
    /// Adds the edits that ``EditContent`` wrote as JSON.
    ///
    /// - Parameter layout: The layout of the entry's entity; nil if it is not configured any more.
    package mutating func addEdits(
        new: String, base: String?, _ layout: EntityLayout?, _ model: CompiledModel
    ) throws {
        let base = try base.map { try EditContent(json: $0, layout, model) }
        try EditContent(json: new, layout, model).addEdits(since: base, to: &self)
    }
}

extension OutboxFailure {
    /// Reads the output of ``json``.
    package init(json: String) throws {
        let batch = try JSONParser.batch(json)
        self = withExtendedLifetime(batch) {
            OutboxFailure(
                code: batch[0]["code"]?.text ?? "", message: batch[0]["message"]?.text ?? "",
                remedy: batch[0]["remedy"]?.text, remote: batch[0]["remote"]?.text,
                mayHaveArrived: batch[0][Self.arrival]?.integer == 1)
        }
    }

    /// The failure as a JSON object.
    package var json: String {
        let texts = [("code", code), ("message", message), ("remedy", remedy), ("remote", remote)]
        var members = texts.compactMap { name, text in text.map { (name: name, value: StoredValue.text($0)) } }
        if mayHaveArrived { members.append((name: Self.arrival, value: .integer(1))) }
        return JSONText.object(members).string
    }

    /// The member that is 1 if the remote may have carried out the edit.
    private static let arrival = "may_have_arrived"
}
