package import Mapping
package import StoreContract

/// The objects of an open transaction, as local edits, their merge with imports, and undo read and change them.
///
/// Unless said otherwise, changes are recorded in the history as part of the open run. `root` is the index of the entity
/// that has the table, and `relationship` the index of a to-many relationship in its layout.
package protocol ObjectWriter: AnyObject {
    /// The model, whose tables the store has.
    var model: CompiledModel { get }

    // MARK: Rows

    /// Returns a row, with one value per field of the table; nil if there is none with this key.
    func row(_ root: Int, _ key: RowKey) throws -> [StoredValue]?

    /// Returns whether a key is that of a stub.
    func isStub(_ root: Int, _ key: RowKey) throws -> Bool

    /// Returns the least value of a column; null without rows.
    func leastValue(of field: Int, in root: Int) throws -> StoredValue

    /// Returns whether a row or a link refers to an object.
    func isReferred(_ root: Int, _ key: RowKey) throws -> Bool

    /// Inserts a row; fields without a value are null.
    func insert(_ root: Int, _ key: RowKey, _ columns: [NamedValue], isStub: Bool) throws

    /// Updates columns of an existing row; `change` says whether it becomes a stub or ceases to be one.
    func update(
        _ root: Int, _ key: RowKey, from row: [StoredValue], to columns: [NamedValue], as change: RowChange.Kind) throws

    /// Deletes an existing row, but no links.
    func delete(_ root: Int, _ key: RowKey, _ row: [StoredValue]) throws

    /// Deletes an object with its dependents, if it exists, as its entity's configuration specifies; returns the number
    /// of deleted objects, by entity.
    @discardableResult
    func remove(entity: Int, key: RowKey) throws -> [Int: Int]

    /// Deletes one object that was deleted locally, but not its children, which the remote deletes itself.
    ///
    /// - Parameter isFinal: Whether to delete it even if its entity only marks deleted objects.
    /// - Returns: Whether it existed.
    @discardableResult
    func removeAlone(_ root: Int, _ key: RowKey, isFinal: Bool) throws -> Bool

    // MARK: Lists

    /// Returns the keys of the objects in an object's list.
    func list(_ root: Int, _ relationship: Int, of owner: RowKey) throws -> [RowKey]

    /// Replaces the list of an object.
    func setList(_ root: Int, _ relationship: Int, of owner: RowKey, to wanted: [RowKey]) throws

    /// Reverts a change of an object's list; returns whether the list was still as the change left it.
    func takeBackList(_ root: Int, _ relationship: Int, of owner: RowKey, from new: LinkSpan, to old: LinkSpan) throws
        -> Bool

    // MARK: Keys

    /// Changes the key of a row, and nothing else; the caller records it.
    func changeKey(_ root: Int, from old: RowKey, to new: RowKey) throws

    /// Replaces a key in all references and lists, and in the bookkeeping of the object; nothing is recorded.
    func redirect(_ root: Int, from old: RowKey, to new: RowKey) throws

    // MARK: History

    /// Records a change of a row; does nothing outside a run.
    func record(
        _ root: Int, key: RowKey?, _ change: RowChange.Kind, old: ChangeRecord.Content?, new: ChangeRecord.Content?)
        throws

    /// Returns the ID of the open run, if there is one.
    func runIDIfAny() throws -> Int64?

    /// Whether the run inserted the first rows of a table; these rows are not recorded one by one.
    func isLoading(_ root: Int) -> Bool

    /// Notes in the run's summary that a local edit was undone, or dropped in favour of the remote, before it was
    /// pushed.
    func noteDropped(_ entry: Int64) throws

    /// Notes that an object created locally is now on the remote; a listing that began earlier may lack it.
    func noteCreated(_ root: Int, _ key: RowKey) throws
}

extension ObjectWriter {
    /// Updates columns of an existing row.
    package func update(_ root: Int, _ key: RowKey, from row: [StoredValue], to columns: [NamedValue]) throws {
        try update(root, key, from: row, to: columns, as: .updated)
    }

    /// Adds a stub for an object unless it has a row; returns whether it did.
    @discardableResult
    package func ensure(_ key: RowKey, of entity: Int) throws -> Bool {
        let layout = model.entities[model.entities[entity].root]
        guard try row(layout.index, key) == nil else { return false }
        let kind = layout.discriminator.map { field in
            (name: layout.fields[field].name, value: StoredValue.text(model.entities[entity].name))
        }
        try insert(layout.index, key, kind.map { [$0] } ?? [], isStub: true)
        return true
    }

    /// Adds stubs for the missing targets of a row.
    func ensureTargets(of row: [StoredValue], _ layout: EntityLayout) throws {
        for toOne in layout.toOne {
            let target = Array(row[toOne.firstField..<toOne.firstField + toOne.fieldCount])
            if !target.contains(.null) { try ensure(target, of: toOne.target) }
        }
    }

    /// Removes the links whose source is an object.
    package func removeLinks(of key: RowKey, in root: Int) throws {
        try removeLinks(of: key, in: root, Array(model.entities[root].toMany.indices))
    }

    /// Removes the links of some relationships whose source is an object.
    package func removeLinks(of key: RowKey, in root: Int, _ relationships: [Int]) throws {
        for index in relationships {
            if case .links = model.entities[root].toMany[index].storage { try setList(root, index, of: key, to: []) }
        }
    }
}
