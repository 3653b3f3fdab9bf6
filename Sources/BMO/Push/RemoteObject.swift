internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// An object that the remote returned for an edit: a record that is mapped once, and what it says of the edit.
struct RemoteObject: Sendable {
    /// The record, alone in its batch.
    let record: RecordBatch
    /// The record in the store's form; it keeps the record alive.
    let mapped: MappedBatch
    /// The object's key; nil if the record lacks it.
    let key: [StoredValue]?

    private let model: CompiledModel
    private let plan: Int

    /// Maps a record.
    ///
    /// - Parameters:
    ///   - record: A batch of at most one record.
    ///   - plan: The index of the mapping plan.
    ///   - parent: The parent's key, in a scan per parent.
    init(_ record: RecordBatch, _ plan: Int, parent: [StoredValue]?, in model: CompiledModel) {
        self.record = record
        self.model = model
        self.plan = plan
        let mapper = Mapper(model)
        key =
            record.count > 0
            ? withExtendedLifetime(record) { mapper.key(of: record[0], as: plan, parent: parent) } : nil
        mapped = MappedBatch(record, by: mapper, as: plan, parent: parent)
    }

    private var layout: EntityLayout { model.entities[plan] }
    private var page: MixedPage { mapped.page }

    /// Why the object cannot be imported; nil if it can.
    var rejection: String? { page.rejections.first?.reason }

    /// Returns whether the object has the edit's values.
    func has(_ edit: OutboxEntry) -> Bool {
        guard page.rejections.isEmpty, let row = page.rows.first else { return false }
        let fits = edit.changes.allSatisfy { change in
            guard let new = change.new, let field = layout.fields.firstIndex(where: { $0.name == change.name }) else {
                return true
            }
            return value(field, of: row)?.isSame(as: new, layout.fields[field].type) ?? false
        }
        return fits && edit.links.allSatisfy { isSame($0) == true }
    }

    /// Returns whether the object can be the one that a create made, under another key: all the values it shows are the
    /// sent ones.
    func isCreated(by edit: OutboxEntry) -> Bool {
        let shown = comparison(with: edit)
        return !shown.isEmpty && shown.allSatisfy(\.isSame)
    }

    /// Returns the names of the attributes and relationships that an edit sent and that the object has with other values.
    func otherValues(than edit: OutboxEntry) -> [String] {
        comparison(with: edit).filter { !$0.isSame }.map(\.name)
    }

    /// Returns the columns that an update sets, where the record shows only the object's key and version.
    ///
    /// Such a record has another shape than the listing's records.
    func unseen(of edit: OutboxEntry) -> [String] {
        guard let row = page.rows.first else { return [] }
        let lineage = model.model.lineage(of: model.model.entities[plan])
        let given = Set(
            lineage.flatMap(\.attributes).filter { $0.write.permission == .never }.map(\.name)
                + layout.key.map { layout.fields[$0].name })
        let isShown = layout.fields.indices.contains { field in
            !given.contains(layout.fields[field].name) && field != layout.discriminator
                && value(field, of: row) != nil
        }
        return isShown ? [] : edit.changes.filter { $0.new != nil }.map(\.name)
    }

    /// Compares the values and lists that an edit sets, besides the key, with those that the record shows.
    private func comparison(with edit: OutboxEntry) -> [(name: String, isSame: Bool)] {
        guard let row = page.rows.first else { return [] }
        var comparison: [(name: String, isSame: Bool)] = []
        for change in edit.changes {
            guard let new = change.new, let field = layout.fields.firstIndex(where: { $0.name == change.name }),
                !layout.key.contains(field), let value = value(field, of: row)
            else { continue }
            comparison.append((change.name, value.isSame(as: new, layout.fields[field].type)))
        }
        for link in edit.links {
            if let isSame = isSame(link) { comparison.append((link.relationship, isSame)) }
        }
        return comparison
    }

    /// Returns whether the record shows the list that an edit sets; nil if it does not show the list.
    private func isSame(_ link: OutboxEntry.LinkEdit) -> Bool? {
        guard let toMany = layout.toMany.first(where: { $0.name == link.relationship }),
            let targets = targets(of: link.relationship)
        else { return nil }
        return toMany.isSame(targets, link.new)
    }

    /// Returns the value of a field; nil if the record does not show it.
    private func value(_ field: Int, of row: MixedPage.Row) -> StoredValue? {
        page.cells[row.firstCell + field].value
    }

    /// Returns the keys of the targets of a to-many relationship; nil if the record does not show them.
    private func targets(of relationship: String) -> [[StoredValue]]? {
        guard let link = page.links.first(where: { $0.row == 0 && layout.toMany[$0.relationship].name == relationship })
        else { return nil }
        let width = model.entities[layout.toMany[link.relationship].target].key.count
        return (0..<link.count).map { index in
            (0..<width).map { page.linkCells[link.firstCell + index * width + $0].value ?? .null }
        }
    }
}
