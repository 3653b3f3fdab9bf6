public import StoreContract

/// Objects of a list that belong together, such as those of one day.
public struct ObjectSection<ID: Hashable & Sendable, Object: BackedObject>: Sendable, Hashable, Identifiable {
    /// What its objects have in common.
    public let id: ID
    /// The objects, in the list's order.
    public var objects: [Object]

    /// Creates a section.
    public init(id: ID, objects: [Object]) {
        self.id = id
        self.objects = objects
    }

    /// Returns the sections of a list, in the order in which their first objects come.
    public static func sections(of objects: [Object], by id: (Object) -> ID) -> [ObjectSection] {
        var sections: [ObjectSection] = []
        var places: [ID: Int] = [:]
        for object in objects {
            let id = id(object)
            if let place = places[id] {
                sections[place].objects.append(object)
            } else {
                places[id] = sections.count
                sections.append(ObjectSection(id: id, objects: [object]))
            }
        }
        return sections
    }
}

extension Array {
    /// Applies a difference, so that the list equals `new`.
    ///
    /// - Parameter new: The list after the change, which provides the inserted and updated elements.
    public mutating func apply(_ difference: RowDifference, from new: [Element]) {
        let gone = Set(difference.deletions + difference.moves.map(\.from))
        for index in gone.sorted(by: >) where indices.contains(index) { remove(at: index) }
        for index in (difference.insertions + difference.moves.map(\.to)).sorted() {
            insert(new[index], at: Swift.min(index, count))
        }
        for update in difference.updates where indices.contains(update.to) { self[update.to] = new[update.to] }
    }

    /// Applies a difference of sections, so that the list equals `new`.
    ///
    /// - Parameter new: The sections after the change, which provide the inserted and updated objects.
    public mutating func apply<ID, Object>(
        _ difference: SectionDifference, from new: [Element]
    ) where Element == ObjectSection<ID, Object> {
        for place in (difference.deletions + difference.moves.map(\.from)).sorted(by: >) {
            self[place.section].objects.remove(at: place.index)
        }
        var kept: [ID: Element] = [:]
        for move in difference.movedSections { kept[self[move.from].id] = self[move.from] }
        let gone = Set(difference.deletedSections + difference.movedSections.map(\.from))
        for index in gone.sorted(by: >) { remove(at: index) }
        for index in (difference.insertedSections + difference.movedSections.map(\.to)).sorted() {
            insert(kept[new[index].id] ?? new[index], at: index)
        }
        for place in (difference.insertions + difference.moves.map(\.to)).sorted() {
            self[place.section].objects.insert(new[place.section].objects[place.index], at: place.index)
        }
        for place in difference.updates.map(\.to) {
            self[place.section].objects[place.index] = new[place.section].objects[place.index]
        }
    }
}
