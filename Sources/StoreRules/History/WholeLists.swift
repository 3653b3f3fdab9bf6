package import Mapping
package import StoreContract

/// The reconstruction of whole to-many lists before and after a change, as the history stores only differences.
///
/// An earlier list is the current links with each later change reverted. If that is inconsistent, as after another
/// program has changed the database, only the changed part is known.
package struct WholeLists {
    private let model: CompiledModel
    private let links: (_ relationship: EntityLayout.ToMany, _ table: String, _ owner: RowReference) throws -> [Link]?
    private let later: (_ record: ChangeRecord) throws -> [ChangeRecord]
    private let hasLaterLinks: (_ entity: String, _ id: Int64) throws -> Bool
    /// The number of lists that may still be completed: a run may change millions, and a person reads few.
    private var left = 1000

    /// Prepares the reconstruction.
    ///
    /// - Parameters:
    ///   - links: Returns the links of an object's relationship now, by position; nil if its key does not fit.
    ///   - later: Returns the changes of a record's row after it, newest first.
    ///   - hasLaterLinks: Returns whether links of any object of an entity changed after a change.
    package init(
        _ model: CompiledModel,
        links:
            @escaping (_ relationship: EntityLayout.ToMany, _ table: String, _ owner: RowReference) throws -> [Link]?,
        later: @escaping (_ record: ChangeRecord) throws -> [ChangeRecord],
        hasLaterLinks: @escaping (_ entity: String, _ id: Int64) throws -> Bool
    ) {
        self.model = model
        self.links = links
        self.later = later
        self.hasLaterLinks = hasLaterLinks
    }

    /// Completes the lists of a row's change.
    ///
    /// - Parameter last: The run's last record about the row.
    package mutating func complete(_ change: inout RowChange, after last: ChangeRecord) throws {
        guard let layout = model.index(of: change.entity).map({ model.entities[$0] }) else { return }
        for name in Set(change.links.map(\.relationship)) where left > 0 {
            left -= 1
            guard let relationship = layout.toMany.first(where: { $0.name == name }),
                case .links(let table) = relationship.storage,
                try !isChangedFromOtherEnd(relationship, table, after: last),
                var list = try now(relationship, table, RowReference(root: layout.root, key: change.key))
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

    /// Returns the present list; nil if it has a gap, which a link removed from the other end leaves.
    private func now(
        _ relationship: EntityLayout.ToMany, _ table: String, _ owner: RowReference
    ) throws -> [RowKey]? {
        guard let links = try links(relationship, table, owner) else { return nil }
        return links.enumerated().allSatisfy { $1.position == Int64($0) } ? links.map(\.key) : nil
    }

    /// Returns whether later changes of the objects at the other end may have changed the list through the same links.
    private func isChangedFromOtherEnd(
        _ relationship: EntityLayout.ToMany, _ table: String, after last: ChangeRecord
    ) throws -> Bool {
        let target = model.entities[relationship.target]
        guard target.toMany.contains(where: { $0.storage == .reversedLinks(table: table) }) else { return false }
        return try hasLaterLinks(model.entities[target.root].name, last.id)
    }

    /// Reverts later runs' changes to a list; returns false if they do not fit the list.
    private func takeBackLater(
        than last: ChangeRecord, _ name: String, _ target: EntityLayout, _ list: inout [RowKey]
    ) throws -> Bool {
        for record in try later(last) {
            guard case .links(let other, let new)? = record.new, case .links(_, let old)? = record.old, other == name
            else { continue }
            guard Self.takeBack(start: new.start, target.keys(new).keys, target.keys(old).keys, &list) else {
                return false
            }
        }
        return true
    }

    private static func takeBack(start: Int?, _ new: [RowKey], _ old: [RowKey], _ list: inout [RowKey]) -> Bool {
        guard let start, start >= 0, start + new.count <= list.count, Array(list[start..<start + new.count]) == new
        else {
            return false
        }
        list.replaceSubrange(start..<start + new.count, with: old)
        return true
    }
}
