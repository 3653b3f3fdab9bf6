internal import StoreContract
internal import GRDB
internal import Mapping
internal import Model

/// The reconstruction of whole to-many lists before and after a change, as the history stores only differences.
///
/// An earlier list is the current links with each later change reverted. If that is inconsistent, as after another
/// program has changed the database, only the changed part is known.
struct WholeLists {
    private let model: CompiledModel
    private let db: Database
    /// The number of lists that may still be completed: a run may change millions, and a person reads few.
    private var left = 1000

    init(_ model: CompiledModel, _ db: Database) {
        self.model = model
        self.db = db
    }

    /// Completes the lists of a row's change.
    ///
    /// - Parameter last: The run's last record about the row.
    mutating func complete(_ change: inout RowChange, after last: ChangeRecord) throws {
        guard let layout = model.index(of: change.entity).map({ model.entities[$0] }) else { return }
        for name in Set(change.links.map(\.relationship)) where left > 0 {
            left -= 1
            guard let relationship = layout.toMany.first(where: { $0.name == name }),
                case .links(let table) = relationship.storage,
                try !isChangedFromOtherEnd(relationship, table, after: last),
                var list = try now(relationship, in: table, of: layout, change.key)
            else { continue }
            let target = model.entities[model.entities[relationship.target].root]
            guard try takeBackLater(than: last, name, target, &list) else { continue }
            for index in change.links.indices.reversed() where change.links[index].relationship == name {
                let after = list
                let link = change.links[index]
                guard Self.takeBack(start: link.at, link.new, link.old, &list) else { break }
                change.links[index].whole = RowChange.WholeList(old: list, new: after)
            }
        }
    }

    private func now(
        _ relationship: EntityLayout.ToMany, in table: String, of owner: EntityLayout, _ key: [StoredValue]
    ) throws -> [[StoredValue]]? {
        let target = model.entities[model.entities[relationship.target].root]
        let columns = SchemaBuilder.linkColumns(.target, target, of: table, in: model).map(SchemaBuilder.quoted)
        let isOwner = SchemaBuilder.linkColumns(.source, owner, of: table, in: model)
            .map { "\(SchemaBuilder.quoted($0)) = ?" }
        guard isOwner.count == key.count else { return nil }
        let select = try RawStatement(
            "SELECT position, \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(table)) "
                + "WHERE \(isOwner.joined(separator: " AND ")) ORDER BY position", on: db.sqliteConnection)
        for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
        var list: [[StoredValue]] = []
        while try select.step() {
            // A gap is left by a link removed from the other end, which this object's history does not record.
            guard select.int64(0) == Int64(list.count) else { return nil }
            list.append(select.values(of: target.keyFields, at: 1))
        }
        return list
    }

    /// Returns whether later changes of the objects at the other end may have changed the list through the same links.
    private func isChangedFromOtherEnd(
        _ relationship: EntityLayout.ToMany, _ table: String, after last: ChangeRecord
    ) throws -> Bool {
        let target = model.entities[relationship.target]
        guard target.toMany.contains(where: { $0.storage == .reversedLinks(table: table) }) else { return false }
        let select = try RawStatement(
            "SELECT EXISTS (SELECT 1 FROM bmo_changes WHERE entity = ?1 AND id > ?2 AND change = 'relinked')",
            on: db.sqliteConnection)
        select.bind(model.entities[target.root].name, at: 1)
        select.bind(last.id, at: 2)
        return try select.step() && select.int64(0) != 0
    }

    /// Reverts later runs' changes to a list; returns false if they do not fit the list.
    private func takeBackLater(
        than last: ChangeRecord, _ name: String, _ target: EntityLayout, _ list: inout [[StoredValue]]
    ) throws -> Bool {
        let select = try RawStatement(
            """
            SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE entity = ?1 AND key = ?2 AND id > ?3
            ORDER BY id DESC
            """, on: db.sqliteConnection)
        select.bind(last.entity, at: 1)
        select.bind(last.key, at: 2)
        select.bind(last.id, at: 3)
        while try select.step() {
            let record = try ChangeRecord(select)
            guard case .links(let other, let new)? = record.new, case .links(_, let old)? = record.old, other == name
            else { continue }
            guard Self.takeBack(start: new.start, target.keys(new).keys, target.keys(old).keys, &list) else {
                return false
            }
        }
        return true
    }

    private static func takeBack(
        start: Int?, _ new: [[StoredValue]], _ old: [[StoredValue]], _ list: inout [[StoredValue]]
    ) -> Bool {
        guard let start, start >= 0, start + new.count <= list.count, Array(list[start..<start + new.count]) == new
        else {
            return false
        }
        list.replaceSubrange(start..<start + new.count, with: old)
        return true
    }
}
